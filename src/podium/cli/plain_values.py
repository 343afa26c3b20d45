"""Arguments that need no validator: text, listed text, short integers, and choices as they are spelled.

Typer converts every argument, absent ones too, with a Pydantic adapter, and importing Pydantic takes longer than all
the rest of reading a command line. What is unambiguous is converted here; anything else is left to Typer, with its
errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

__all__ = ["UNDECIDED", "convert_plainly", "plain_value"]

UNDECIDED: Final = object()
"""Stands for a value that Typer must convert."""
_MAX_DIGITS = 9


def convert_plainly(parameters: Iterable[Any]) -> None:
    """Convert plain arguments of a command without Pydantic. Call it before the command line is parsed."""
    for parameter in parameters:
        # This is where Typer caches its adapter. Should a later version cache it elsewhere, it converts as before.
        if getattr(parameter, "_runtime_param", UNDECIDED) is None:
            parameter._runtime_param = _PlainConversion()


def plain_value(annotation: object, value: object) -> object:
    """The value as Typer would convert it to a type without constraints, or UNDECIDED."""
    if annotation is str:
        return value if type(value) is str else UNDECIDED
    if annotation == list[str]:
        texts = isinstance(value, (list, tuple)) and all(type(text) is str for text in value)
        return list(value) if texts else UNDECIDED  # type: ignore[call-overload]
    if annotation is int:
        if type(value) is str and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS:
            return int(value)
        return value if type(value) is int else UNDECIDED
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next((one for one in annotation if value is one or value == one.value), UNDECIDED)
    return UNDECIDED


class _PlainConversion:
    """Stands where Typer would cache an adapter, and gives way to one if a value is not plain."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        about = param.type_descriptor.parameter_info
        constraints = (about.parser, about.min, about.max)
        converted = UNDECIDED
        if all(one is None for one in constraints) and many == isinstance(value, (list, tuple)):
            converted = plain_value(param.type_descriptor.annotation, value)
        if converted is not UNDECIDED:
            return converted
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)

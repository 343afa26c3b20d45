"""Reading plans that a service sent: what is none is refused, whatever it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podium.errors import InvalidArgument
from podium.privacy import Cost

__all__ = ["Kinds", "read_cost", "read_fields", "read_texts"]

Kinds = Mapping[str, tuple[type, ...]]
"""The fields of a document, and of which types each may be."""


def read_fields(document: object, kinds: Kinds, what: str, since: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields of a document, each of one of its types; others are passed over.

    ``since`` has the values of those that services of an earlier version do not send.
    """
    allowed = f"what {what}.to_dict wrote"
    if not isinstance(document, Mapping):
        raise InvalidArgument("document", type(document).__name__, allowed=allowed)
    found = {}
    for name, types in kinds.items():
        value = document.get(name, (since or {}).get(name))
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise InvalidArgument(name, value, allowed=allowed)
        found[name] = value
    return found


def read_texts(values: list[Any], name: str) -> tuple[str, ...]:
    """A list of texts."""
    if not all(isinstance(value, str) for value in values):
        raise InvalidArgument(name, values, allowed="a list of texts")
    return tuple(values)


def read_cost(document: object, what: str) -> Cost:
    """The cost that the field ``at_most`` of a plan has."""
    fields = read_fields(document, {"epsilon": (str, type(None)), "rho": (str,), "delta": (str,)}, what)
    return Cost(**fields)

"""Texts that a database stores: refused if they could not be stored exactly."""

from __future__ import annotations

from fractions import Fraction

from podium.errors import InvalidArgument

__all__ = ["exact_text", "label", "long_text", "private_text"]

_MAX_LABEL_LENGTH = 200


def label(value: object, name: str) -> str:
    """A short printable name, for people and for indexes."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_LABEL_LENGTH or not value.isprintable():
        raise InvalidArgument(name, value, allowed=f"a printable text of 1 to {_MAX_LABEL_LENGTH} characters")
    return value


def long_text(value: object, name: str) -> str:
    """A text of any length that a database can store."""
    if not isinstance(value, str) or not value or not _storable(value):
        raise InvalidArgument(name, value, allowed="a text that is not empty, in Unicode, without the character 0")
    return value


def private_text(value: object, name: str) -> str:
    """Like ``long_text``, for a text that is private until it is stored: the error does not quote it."""
    if not isinstance(value, str) or not value or not _storable(value):
        raise InvalidArgument(
            name, "(withheld)", allowed="a text that is not empty, in Unicode, without the character 0"
        )
    return value


def exact_text(number: Fraction | None) -> str | None:
    """An exact number as text; None if there is none."""
    return None if number is None else str(number)


def _storable(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value

"""What a caller sees of an outcome, and nothing less: equality is not enough, because 1 == True and sets have an order.

An outcome becomes a key, equal for two outcomes only if nobody can tell them apart, and the real numbers in it, which
are binned. Of a release that is every field with its types, the order of its items and of its parameters, its JSON and
its ``repr``; of an error its type and its text. The values of a release are numbers; its entry in a ledger is a hash
that is new each time, so only the first few are told apart.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from podium.release import GroupedRelease, ItemSet, Release
from podium.release.decimals import value_decimals

__all__ = ["REAL", "Entries", "Look", "Raised", "SeenRelease", "look"]

_ENTRIES = 16
_SHOWN_FIELDS = ("outcome", "values")
_MAX_LENGTH = 120
_MANY_FACES = (float, Decimal, dt.datetime, dt.time, np.generic)
"""Types with equal values that look different: 0.0 and -0.0, Decimal('1.0') and Decimal('1.00'), times of two zones."""


class _Real:
    """Stands for a number in the discrete part of an outcome."""

    def __repr__(self) -> str:
        return "#"


REAL = _Real()


@dataclass(frozen=True, slots=True)
class Raised:
    """An error as an outcome: to whoever asked, its type and its text are an answer too."""

    kind: str
    text: str

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """The error, and those that it came from as far as a traceback would show them."""
        kind, text = _describe_error(error)
        while (cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
            text += "; from {}: {}".format(*_describe_error(cause))
            error = cause
        return cls(kind, text)

    @property
    def named(self) -> str:
        """Type and text."""
        return f"{self.kind}: {self.text}"

    def __repr__(self) -> str:
        return f"raised {self.named}"


def _describe_error(error: BaseException) -> tuple[str, str]:
    kind = type(error)
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return (
        kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}",
        f"{error}{notes}",
    )


class SeenRelease:
    """A release in a report: its outcome and values, and those other fields that are not always the same."""

    __slots__ = ("fields",)

    def __init__(self, parts: dict[str, Any]) -> None:
        self.fields: dict[str, Any] = parts

    def describe(self, varying: Iterable[str]) -> str:
        """The outcome alone where nothing else tells draws apart."""
        others = {name: self.fields[name] for name in varying if name in self.fields and name not in _SHOWN_FIELDS}
        if self.fields["values"] is not None:
            others = {"values": self.fields["values"], **others}
        texts = [f"{name}={_short(repr(value))}" for name, value in others.items()]
        return " ".join([_short(repr(self.fields["outcome"])), *texts])

    def __repr__(self) -> str:
        return self.describe(())


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 3]}..."


@dataclass(frozen=True, slots=True)
class Look:
    """One outcome: what it is known by, what a report shows of it, and its numbers."""

    key: Hashable
    shown: Any
    numbers: tuple[float, ...]


class Entries:
    """Entries of a ledger in the order of their appearance; from some number on they are all one.

    Hashes that never repeat would make every draw an outcome of its own. What repeats is told apart.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def place(self, entry: Hashable) -> int:
        """Which one it is; which entries are known is settled by the draws before, so a test has no part in it."""
        if entry not in self._known and len(self._known) < _ENTRIES:
            self._known[entry] = len(self._known)
        return self._known.get(entry, _ENTRIES)


def look(outcome: Any, entries: Entries, *, orders: bool = True) -> Look:
    """What is seen of one outcome.

    ``orders=False`` leaves out the order of plain sets: what came from another process, whose hashes are its own, is no
    longer in the order of the sampler. A released set has one order everywhere.
    """
    eye = _Eye(entries, orders=orders)
    key, shown = eye.part(outcome, outermost=True)
    return Look(key, shown, tuple(eye.numbers))


class _Eye:
    def __init__(self, entries: Entries, *, orders: bool) -> None:
        self.numbers: list[float] = []
        self._entries = entries
        self._orders = orders

    def part(self, value: Any, *, outermost: bool = False) -> tuple[Hashable, Any]:
        # What most samplers return comes first: there may be a million draws.
        if type(value) is str:
            return value, value
        if type(value) is float:
            return self._number(value)
        if isinstance(value, Release):
            return self._release(value)
        if isinstance(value, tuple):
            parts = [self.part(one) for one in value]
            return (type(value), *(key for key, _ in parts)), tuple(shown for _, shown in parts)
        if isinstance(value, frozenset):
            return self._name(value), value
        if _is_real(value, outermost=outermost):
            return self._number(value)
        return self._name(value), value

    def _number(self, value: Any) -> tuple[Hashable, Any]:
        number = _as_float(value)
        if math.isnan(number):
            return (type(value), "nan"), "nan"
        self.numbers.append(number)
        rest = None if type(value) is float else _rest(value, number)
        if rest:
            self.numbers.append(_as_float(rest))
        below_zero = number == 0 and math.copysign(1.0, number) < 0
        return (REAL, type(value), bool(rest), below_zero), REAL

    def _name(self, value: Any) -> Hashable:
        """A value that is a name: its type, and how it looks where that is more than its value."""
        if isinstance(value, (tuple, frozenset)):
            names = [self._name(one) for one in value]
            if isinstance(value, frozenset) and not self._orders and type(value) is not ItemSet:
                return (type(value), frozenset(names))
            return (type(value), *names)
        return (type(value), repr(value)) if isinstance(value, _MANY_FACES) else (type(value), value)

    def _release(self, release: Release) -> tuple[Hashable, Any]:
        shown = {field.name: getattr(release, field.name) for field in fields(release)}
        types = tuple(type(value) for value in (release, release.paid, *shown.values()))
        lists = _values_of(release)
        values = [self._number(value) for found in lists for value in found]
        entry = None if release.paid.entry is None else self._entries.place(release.paid.entry)
        shown |= {"paid": release.paid.events, "entry": entry}
        outcome = _outcome_of(release)
        shown |= {"outcome": outcome, "values": tuple(stands for _, stands in values) if lists else None}
        key = (
            types,
            tuple(key for key, _ in values),
            entry,
            self._name(outcome),
            tuple((self._name(name), self._name(value)) for name, value in release.parameters.items()),
            repr(getattr(release, "__dict__", None)),
            _without(release, repr),
            _without(release, _json),
        )
        return key, SeenRelease(shown)


def _outcome_of(release: Release) -> Any:
    """What came out; of a release with groups that of each group that is shown, in the order in which it lists them."""
    if isinstance(release, GroupedRelease):
        return tuple((group, found.outcome) for group, found in release.lists.items())
    return release.outcome


def _values_of(release: Release) -> list[tuple[Fraction, ...]]:
    found = release.lists.values() if isinstance(release, GroupedRelease) else (release,)
    return [one.values for one in found if one.values is not None]


def _without(release: Release, write: Callable[[Release], str]) -> str:
    """How a release is written, but for its values and its entry, which are looked at by themselves."""
    try:
        text = write(release)
    except Exception as error:  # noqa: BLE001 - to a caller it is an answer
        return repr(Raised.of(error))
    if release.asked is not None:
        # The caller's own words, and where and when they were said, before any row was read: each draw has its own.
        text = text.replace(json.dumps(release.asked.to_dict(), ensure_ascii=False), "#")
    for hidden in (*_values_of(release), release.paid.entry):
        if hidden is not None:
            text = text.replace(repr(hidden), "#").replace(_render(hidden), "#")
        if isinstance(hidden, tuple):
            text = text.replace(json.dumps(value_decimals(hidden)), "#")
    return text


def _render(hidden: Any) -> str:
    return json.dumps([str(value) for value in hidden] if isinstance(hidden, tuple) else hidden, ensure_ascii=False)


def _json(release: Release) -> str:
    return release.to_json()


def _is_real(value: Any, *, outermost: bool) -> bool:
    """Fractions and floats; an integer only where it is the whole outcome: elsewhere it may be a name."""
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, (float, np.floating, Fraction, Decimal)):
        return True
    return outermost and isinstance(value, (int, np.integer))


def _rest(value: Any, number: float) -> Fraction | None:
    """What a float cannot hold of an exact number."""
    if not math.isfinite(number) or not isinstance(value, (int, np.integer, Fraction, Decimal)):
        return None
    # NumPy compares integers with floats as floats.
    exact = int(value) if isinstance(value, np.integer) else value
    return None if exact == number else Fraction(exact) - Fraction(number)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

"""What the numbers of a release measure, in words: users, events or an amount, and at most how much of each user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.exact import exact_fraction
from podium.present.text.names import printable
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.release import GroupedRelease, Release

__all__ = ["ShownMeasure", "release_title", "shown_measure", "shown_value"]

_TOGETHER = "for all items together (the root of the sum of squares)"
_SUM = re.compile(r'sum\((?:(\w+)|"(.*)")\)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShownMeasure:
    """The noun of the values, and the name of their column in frames and files.

    ``clip`` says how much of each user counts, in a sentence; it is empty where users are counted, and before anything
    is known; ``least`` says likewise what is left out. ``unit`` is the amount that noise scales and margins are
    multiples of; ``signed`` values may be negative.
    """

    noun: str = "users"
    column: str = "count"
    clip: str = ""
    unit: Fraction = Fraction(1)
    signed: bool = False
    least: str = ""

    @property
    def remarks(self) -> list[str]:
        """What must be said next to the list."""
        return [sentence for sentence in (self.clip, self.least) if sentence]


def shown_measure(release: Release) -> ShownMeasure:
    """The measure of a release, as its parameters say it."""
    parameters = release.parameters
    by = parameters.get("by")
    if release.value_kind == "scores":
        return ShownMeasure("score", "score")
    if by is None:
        return ShownMeasure(least=_least_sentence(parameters.get("at_least"), "users"))
    found = _SUM.fullmatch(by)
    column = None if found is None else found[1] or found[2].replace('""', '"')
    noun = "events" if column is None else printable(column)
    try:
        unit = exact_fraction(parameters.get("unit", "1"), "unit")
        low, high, length, measured = (
            _units(parameters.get(name)) for name in ("floor", "clip", "length", "value_clip")
        )
    except InvalidArgument:
        # Parameters that podium did not write.
        return ShownMeasure(noun, "count" if column is None else "sum")
    return ShownMeasure(
        noun,
        "count" if column is None else "sum",
        "" if high is length is None else _clip_sentence(release, noun, unit, low or 0, (high, length, measured)),
        unit,
        bool(low),
        _least_sentence(parameters.get("at_least"), noun, unit),
    )


def shown_value(release: Release, value: Fraction) -> Fraction:
    """A value as people read it: noise may take numbers of users and scores below 0, where they are shown as 0.

    Files, frames and JSON have what was drawn, and so do amounts, whose lines add up.
    """
    users = release.value_kind == "counts" and "by" not in release.parameters
    return max(Fraction(0), value) if users or release.value_kind == "scores" else value


def release_title(release: Release) -> str:
    """What was ranked and by what, with the names of the columns; without them where the release came from no table."""
    each = f" for each {printable(' and '.join(release.per))}" if isinstance(release, GroupedRelease) else ""
    of = by = ""
    if release.columns:
        measure = release.parameters.get("by", "users")
        of = f" of {printable(' and '.join(release.columns))}"
        by = f", by {f'number of {measure}' if measure in ('users', 'events') else printable(measure)}"
    if release.ordered:
        return f"Private top {release.k:,}{of}{each}{by}"
    return f"A private set of {release.k:,}{of}{each}{by}" if release.k > 1 or each else f"A private choice{of}{by}"


def _least_sentence(least: str | None, noun: str, unit: Fraction = Fraction(1)) -> str:
    try:
        amount = _units(least)
    except InvalidArgument:
        return ""
    if amount is None:
        return ""
    fewer = "less than" if noun not in ("users", "events") else "fewer than"
    shown = display(amount * unit)
    return f"Items with {fewer} {shown} {noun} are left out: near, not exact, because noise decides close to {shown}."


def _units(text: str | None) -> int | None:
    return None if text in (None, "None") else int(exact_fraction(text, "clip"))


def _amount(amount: Fraction, noun: str) -> str:
    return "1 event" if amount == 1 and noun == "events" else f"{display(amount)} {noun}"


def _clip_sentence(
    release: Release, noun: str, unit: Fraction, low: int, most: tuple[int | None, int | None, int | None]
) -> str:
    high, length, measured = most
    user, items = unit_name(release.user), printable(", ".join(release.columns or ("item",)))
    least = f"at least {display(low * unit)} and " if low else ""
    if high is None:
        counting = f"at most {_amount((length or 0) * unit, noun)} per {user} {_TOGETHER}"
    else:
        also = "" if length is None else f", and as much per {user} {_TOGETHER}"
        counting = f"{least}at most {_amount(high * unit, noun)} per {user} and {items}{also}"
    # What is cut off is positive, so a low end holds without the clip too; a signed sum has no such end.
    # A share has a total that is cut as well, and may be larger than the share of everything.
    but = ", but for those of shares" if _has_shares(release) else ""
    held = "" if low else f" The lower ends of the intervals also hold for all {noun}{but}."
    if measured is None or not _has_values(release):
        return f"The ranking counts {counting}."
    if measured == high and length is None:
        return f"The ranking and the values count {counting}.{held}"
    whom = "" if length is None else f" per {user} and {items}"
    return f"The ranking counts {counting}; the values count at most {display(measured * unit)}{whom}.{held}"


def _has_shares(release: Release) -> bool:
    """Whether there are shares of a total of amounts."""
    if isinstance(release, GroupedRelease):
        return any(one.beside is not None and one.beside.ceiling is not None for one in release.lists.values())
    return release.beside is not None and release.beside.ceiling is not None


def _has_values(release: Release) -> bool:
    if isinstance(release, GroupedRelease):
        return any(found.values for found in release.lists.values())
    return bool(release.values)

"""The users beside a list, and the shares of its items among all users, with intervals that hold together with them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import positive_fraction, probability
from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure
from podium.release import Beside, Release

__all__ = ["Line", "Share", "beside_lines", "list_remarks", "share_interval", "shares"]

_LARGEST_SCALE = Fraction(1 << 50)


@dataclass(frozen=True, slots=True)
class Line:
    """A number beside the list with its interval; ``name`` is that of its row in frames."""

    name: str
    value: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Share:
    """A share of all users, with both ends of its interval."""

    value: Fraction
    low: Fraction
    high: Fraction


def beside_lines(release: Release) -> tuple[Line, ...]:
    """The users with none of the items, and all users; nothing where that was not asked for."""
    if release.beside is None:
        return ()
    width = _width(release.beside, Fraction(CONFIDENCE))
    named = (("others", release.beside.others), ("total", release.beside.total))
    return tuple(Line(name, value, max(0, value - width), max(0, value + width)) for name, value in named)


def shares(release: Release) -> tuple[Share, ...] | None:
    """The share of each item that has a value; None if there are none, or if luck decided which items are shown."""
    if release.beside is None or release.values is None:
        return None
    # Two intervals of half the doubt each hold together with the confidence, however they depend on each other.
    level = (1 + Fraction(CONFIDENCE)) / 2
    margin = margin_of(release, confidence=level)
    if margin is None or not margin.fresh:
        return None
    total, width = Fraction(release.beside.total), Fraction(_width(release.beside, level))
    return tuple(share_interval(value, margin.width, total, width) for value in release.values)


def share_interval(part: Fraction, part_width: Fraction, total: Fraction, total_width: Fraction) -> Share:
    """The share of a part in a total, from an interval for each: ends divided crosswise, clamped to [0, 1]."""
    least, most = max(part - part_width, Fraction(0)), max(part + part_width, Fraction(0))
    value = min(max(part / total, Fraction(0)), Fraction(1)) if total > 0 else Fraction(0)
    if total <= total_width:
        return Share(value, Fraction(0), Fraction(1))
    low = min(least / (total + total_width), Fraction(1))
    return Share(value, low, min(most / (total - total_width), Fraction(1)))


def _width(beside: Beside, level: Fraction) -> int:
    scale = positive_fraction(beside.scale, "scale")
    if scale > _LARGEST_SCALE:
        raise InvalidArgument("scale", beside.scale, allowed=f"at most {_LARGEST_SCALE}")
    step = MeasureCounts(sigma=scale) if beside.noise == "gaussian" else MeasureCounts(epsilon_per_item=1 / scale)
    return step.margin(probability(level, "confidence"))


def list_remarks(release: Release) -> list[str]:
    """What must be said next to the list, and what was measured beside it."""
    remarks = shown_measure(release).remarks
    lines = beside_lines(release)
    if lines:
        others, total = (f"{line.value:,} users ({line.low:,} to {line.high:,})" for line in lines)
        remarks.append(f"Others: {others} have none of these items. In all, {total} have an item.")
        remarks.append("A user with several items counts in each, so lines and shares do not add up to the total.")
    return remarks

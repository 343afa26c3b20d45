"""What is beside a list, and the shares of its items, with intervals that hold together with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import positive_fraction, probability
from podium.present.amount_shares import AmountNoise, additive_share
from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure
from podium.privacy.rounding import display
from podium.release import Beside, Release

__all__ = ["Line", "Share", "beside_lines", "list_remarks", "share_interval", "shares", "shares_of"]

_LARGEST_SCALE = Fraction(1 << 50)


@dataclass(frozen=True, slots=True)
class Line:
    """A number beside the list with its interval; ``name`` is that of its row in frames."""

    name: str
    value: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Share:
    """A share of all users, or of the total of what ranks, with both ends of its interval."""

    value: Fraction
    low: Fraction
    high: Fraction


def beside_lines(release: Release) -> tuple[Line, ...]:
    """The others and the total; nothing where that was not asked for, or where their noise is not known."""
    beside = release.beside
    if beside is None:
        return ()
    try:
        others, total = _widths(release, beside)
    except (InvalidArgument, KeyError):
        return ()  # parameters or scales that no mechanism of ours writes
    return _line("others", beside.others, others), _line("total", beside.total, total)


def _widths(release: Release, beside: Beside) -> tuple[Fraction, Fraction]:
    """How far the others and the total may be from what is released."""
    level = Fraction(CONFIDENCE)
    if beside.ceiling is None:
        width = Fraction(_width(beside, level))
        return width, width
    unit = shown_measure(release).unit
    noise = AmountNoise.of(release, beside, unit)
    return noise.others_width(level) * unit, noise.total_width(level) * unit


def _line(name: str, value: Fraction, width: Fraction) -> Line:
    return Line(name, value, max(Fraction(0), value - width), max(Fraction(0), value + width))


def shares_of(release: Release) -> str:
    """What the shares of a release are shares of."""
    return "users" if release.beside is None or release.beside.ceiling is None else "total"


def shares(release: Release) -> tuple[Share, ...] | None:
    """The share of each item that has a value; None if there are none, or if luck decided which items are shown."""
    if release.beside is None or release.values is None:
        return None
    # Two intervals of half the doubt each hold together with the confidence, however they depend on each other.
    level = (1 + Fraction(CONFIDENCE)) / 2
    margin = margin_of(release, confidence=level)
    if margin is None or not margin.fresh or not beside_lines(release):
        return None
    if release.beside.ceiling is not None:
        return _amount_shares(release, release.beside, release.values)
    total, width = Fraction(release.beside.total), Fraction(_width(release.beside, level))
    return tuple(share_interval(value, margin.width, total, width) for value in release.values)


def _amount_shares(release: Release, beside: Beside, values: tuple[Fraction, ...]) -> tuple[Share, ...]:
    unit, total = shown_measure(release).unit, Fraction(beside.total)
    noise = AmountNoise.of(release, beside, unit)
    found = []
    for value in values:
        low, high = additive_share(value / unit, (total - value) / unit, noise, Fraction(CONFIDENCE))
        part = min(max(value / total, Fraction(0)), Fraction(1)) if total > 0 else Fraction(0)
        found.append(Share(part, low, high))
    return tuple(found)


def share_interval(part: Fraction, part_width: Fraction, total: Fraction, total_width: Fraction) -> Share:
    """The share of a part in a total, from an interval for each: ends divided crosswise, clamped to [0, 1]."""
    least, most = max(part - part_width, Fraction(0)), max(part + part_width, Fraction(0))
    value = min(max(part / total, Fraction(0)), Fraction(1)) if total > 0 else Fraction(0)
    if total <= total_width:
        return Share(value, Fraction(0), Fraction(1))
    low = min(least / (total + total_width), Fraction(1))
    return Share(value, low, min(most / (total - total_width), Fraction(1)))


def _width(beside: Beside, level: Fraction) -> int:
    return _noise_width(beside.noise, beside.scale, level)


@lru_cache(maxsize=64)
def _noise_width(noise: str, text: str, level: Fraction) -> int:
    """The same for all groups, of which there may be many."""
    scale = positive_fraction(text, "scale")
    if scale > _LARGEST_SCALE:
        raise InvalidArgument("scale", text, allowed=f"at most {_LARGEST_SCALE}")
    step = MeasureCounts(sigma=scale) if noise == "gaussian" else MeasureCounts(epsilon_per_item=1 / scale)
    return step.margin(probability(level, "confidence"))


def list_remarks(release: Release) -> list[str]:
    """What must be said next to the list, and what was measured beside it."""
    remarks = shown_measure(release).remarks
    lines = beside_lines(release)
    if not lines or release.beside is None:
        return remarks
    noun = shown_measure(release).noun
    if release.beside.ceiling is None:
        # Numbers of people, so none is shown below 0. Those of amounts add up as they are.
        lines = tuple(replace(line, value=max(Fraction(0), line.value)) for line in lines)
    others, total = (f"{_told(line.value)} {noun} ({_told(line.low)} to {_told(line.high)})" for line in lines)
    if release.beside.ceiling is None:
        remarks.append(f"Others: {others} have none of these items. In all, {total} have an item.")
        remarks.append("A user with several items counts in each, so lines and shares do not add up to the total.")
    else:
        each = display(release.beside.ceiling)
        remarks.append(f"Others: {others} in all other items together, of which each user adds at most {each} {noun}.")
        remarks.append(f"The lines add up to the total: {total}. Shares are of this total, not of all {noun}.")
    return remarks


def _told(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else display(number)

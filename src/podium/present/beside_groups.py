"""What is beside the list of each group, and the shares of its items: each list as one of its own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from podium.present.all_lists import one_list
from podium.present.measures import shown_measure
from podium.present.text.names import printable
from podium.present.user_shares import Line, Share, beside_lines, shares
from podium.privacy.rounding import display
from podium.release import Beside, Group, GroupedRelease, Release

__all__ = ["GroupLines", "beside_groups", "beside_remarks", "has_others", "list_shares", "one_of", "told_line"]


class GroupLines(NamedTuple):
    """The numbers beside the list of a group, with the numbers of items that it has."""

    group: Group
    items: int
    beside: Beside
    others: Line
    total: Line


def has_others(release: GroupedRelease) -> bool:
    """Whether something was measured beside the lists."""
    return any(found.beside is not None for found in release.lists.values())


def one_of(release: GroupedRelease) -> Release | None:
    """A list that has numbers beside it, as a release of its own; None if there is none."""
    return next((one_list(release, found) for found in release.lists.values() if found.beside is not None), None)


def beside_groups(release: GroupedRelease) -> Iterator[GroupLines]:
    """The others and the total of every group that has them, in the order of the groups."""
    for group, found in release.lists.items():
        if found.beside is not None:
            lines = beside_lines(one_list(release, found))
            if lines:
                yield GroupLines(group, len(found.items), found.beside, *lines)


def list_shares(release: GroupedRelease) -> list[Share | None] | None:
    """The share of each item of all lists in its own group; None if there are none."""
    found: list[Share | None] = []
    for one in release.lists.values():
        some = shares(one_list(release, one)) if one.items else ()
        if some is None:
            return None
        found += [*some, *[None] * (len(one.items) - len(some))]
    return found if has_others(release) else None


def told_line(line: Line, beside: Beside) -> str:
    """A number and its interval. Numbers of users are not shown below 0; those of amounts add up as they are."""
    value = max(Fraction(0), line.value) if beside.ceiling is None else line.value
    return f"{display(value)} ({display(line.low)} to {display(line.high)})"


def beside_remarks(release: GroupedRelease) -> list[str]:
    """What the numbers beside the lists mean, and those of groups that have no item."""
    one = one_of(release)
    if one is None or one.beside is None:
        return []
    noun = shown_measure(release).noun
    if one.beside.ceiling is None:
        meaning = (
            "Others have none of the items of their list; the total has at least one item of the group. "
            "A user with several items counts in each, so lines and shares do not add up to the total."
        )
    else:
        meaning = (
            f"Others: {noun} in all other items of the group together, of which each user adds no more than is stated. "
            f"The lines of a group add up to its total; shares are of this total, not of all {noun}."
        )
    empty = [lines for lines in beside_groups(release) if not lines.items]
    return [
        meaning,
        *(f"In all of {printable(lines.group)}: {told_line(lines.total, lines.beside)} {noun}." for lines in empty),
    ]

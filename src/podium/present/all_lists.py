"""Releases with a list for each group, for presenting: rows of all lists, and what is said about them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

from podium.present.text.names import printable
from podium.privacy.guarantee import unit_name
from podium.release import Group, GroupedRelease, RankedList, Release

__all__ = ["all_items", "all_values", "counting_sentence", "group_columns", "group_parts", "one_list", "without_items"]


def one_list(release: GroupedRelease, found: RankedList) -> Release:
    """The list of one group as a release: what it cost and promises is that of all groups together."""
    return Release(**_shared(release), outcome=found.outcome, values=found.values, beside=found.beside)


def all_items(release: GroupedRelease) -> Release:
    """All lists as one release, in the order of the groups; its values are those that there are."""
    outcome = tuple(item for found in release.lists.values() for item in found.items)
    values = tuple(value for found in release.lists.values() for value in found.values or ())
    kept = None if release.value_kind is None else values
    return Release(**_shared(release), outcome=outcome, values=kept)


def _shared(release: GroupedRelease) -> dict[str, Any]:
    own = {each.name for each in fields(Release)} - {"outcome", "values", "beside"}
    return {name: getattr(release, name) for name in own}


def all_values(release: GroupedRelease) -> list[Fraction | None]:
    """A value for each item of all lists; None where a list has fewer values than items."""
    values: list[Fraction | None] = []
    for found in release.lists.values():
        listed = found.values or ()
        values += [*listed, *[None] * (len(found.items) - len(listed))]
    return values


def group_parts(release: GroupedRelease, group: Group) -> tuple[Any, ...]:
    """The value of each group column."""
    return group if len(release.per) > 1 and isinstance(group, tuple) else (group,)


def group_columns(release: GroupedRelease) -> Iterator[tuple[str, list[Any]]]:
    """Each group column with its value for every item of all lists."""
    for place, name in enumerate(release.per):
        yield name, [group_parts(release, group)[place] for group, found in release.lists.items() for _ in found.items]


def without_items(release: GroupedRelease) -> str:
    """Which of the groups that are shown have no item, in a sentence; empty if none."""
    empty = [printable(group) for group, found in release.lists.items() if not found.items]
    return f"Nothing stood out enough in: {'; '.join(empty)}." if empty else ""


def counting_sentence(release: GroupedRelease) -> str:
    """In how many groups a user counts, where the release says it."""
    most = release.parameters.get("groups_per_user", "")
    groups = printable(" and ".join(release.per))
    if most == "all":
        return f"Each {unit_name(release.user)} counts in all of their values of {groups}."
    if not most.isdecimal():
        return ""
    return (
        f"Each {unit_name(release.user)} counts in at most {most} {'value' if most == '1' else 'values'} of {groups}."
    )

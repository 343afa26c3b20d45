"""Lists over time as text: one line per period (and group), or one row per place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from podium.present.all_lists import group_parts, one_list
from podium.present.text.names import item_texts, printable, spreadsheet_text
from podium.release import GroupedRelease, Release

__all__ = ["lists_csv", "lists_text"]


def lists_text(lists: Mapping[str, Release]) -> str:
    """One line per list: the items in their order, and how many are missing."""
    if not lists:
        return "No period is over yet."
    named = [(period, *line) for period, release in lists.items() for line in _lines(release)]
    width = max(len(period) for period, *_ in named)
    wide = max(len(group) for _, group, _ in named)
    return "\n".join(
        f"{period:<{width}}  {group:<{wide}}{'  ' * bool(wide)}{text}".rstrip() for period, group, text in named
    )


def _lines(release: Release) -> Iterator[tuple[str, str]]:
    """For each list the name of its group, if it has one, and its items."""
    if not isinstance(release, GroupedRelease):
        yield "", _items(release)
        return
    if not release.lists:
        yield "", "(no group with enough users)"
    for group, found in release.lists.items():
        name = ", ".join(printable(part) for part in group_parts(release, group))
        yield name, _items(one_list(release, found))


def _items(release: Release) -> str:
    missing = release.k - len(release.items)
    return ", ".join([*item_texts(release), *([f"({missing} fewer than {release.k})"] if missing > 0 else [])])


def lists_csv(lists: Mapping[str, Release]) -> str:
    """Columns period, group, rank, item; texts that a spreadsheet would compute begin with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    per = next((release.per for release in lists.values() if isinstance(release, GroupedRelease)), ())
    writer.writerow(("period", *map(spreadsheet_text, per), "rank", "item"))
    for period, release in lists.items():
        for group, items in _columns(release):
            writer.writerows((period, *group, rank, item) for rank, item in enumerate(items, 1))
    return text.getvalue()


def _columns(release: Release) -> Iterator[tuple[list[str], list[str]]]:
    """For each list the values of its group, and its items."""
    if not isinstance(release, GroupedRelease):
        yield [], [spreadsheet_text(item) for item in item_texts(release)]
        return
    for group, found in release.lists.items():
        parts = [spreadsheet_text(printable(part)) for part in group_parts(release, group)]
        yield parts, [spreadsheet_text(item) for item in item_texts(one_list(release, found))]

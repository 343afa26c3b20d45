"""The lists of all groups as one table of text: the group columns first, each group named once."""

from __future__ import annotations

from podium.present.all_lists import all_items, all_values, counting_sentence, group_parts, without_items
from podium.present.measures import shown_measure
from podium.present.text.columns import value_columns
from podium.present.text.names import NO_ORDER, item_columns, printable, why_fewer
from podium.release import GroupedRelease

__all__ = ["group_remarks", "grouped_ranking", "grouped_ranking_lines"]

_NARROWEST = 4


def grouped_ranking(release: GroupedRelease, heading: str | None = None) -> list[tuple[str, list[str]]]:
    """Headings with the texts below them, group by group; only the first row of a group names it."""
    groups = [(group_parts(release, group), len(found.items)) for group, found in release.lists.items()]
    columns = [
        (
            printable(name),
            [printable(parts[place]) if row == 0 else "" for parts, rows in groups for row in range(rows)],
        )
        for place, name in enumerate(release.per)
    ]
    ranks = [str(row) if release.ordered else "-" for _, rows in groups for row in range(1, rows + 1)]
    listed = all_items(release)
    return [*columns, ("rank", ranks), *item_columns(listed, heading), *value_columns(listed, all_values(release))]


def grouped_ranking_lines(release: GroupedRelease, heading: str | None = None) -> list[str]:
    """The same as lines; only the places are aligned to the right."""
    columns = grouped_ranking(release, heading)
    widths = [max(_NARROWEST, len(name), *map(len, cells)) for name, cells in columns]
    rows = [tuple(name for name, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]
    place = len(release.per)
    return ["  ".join(_padded(row, widths, place)).rstrip() for row in rows] if len(rows) > 1 else []


def _padded(row: tuple[str, ...], widths: list[int], place: int) -> list[str]:
    padded = list(map(str.ljust, row, widths))
    padded[place] = row[place].rjust(widths[place])
    return padded


def group_remarks(release: GroupedRelease) -> list[str]:
    """What is said below the lists: what their order means, why they are short, and how much of a user counts."""
    remarks = [NO_ORDER] if not release.ordered and release.k > 1 else []
    if not release.complete:
        remarks.append(why_fewer(release))
    remarks += [without_items(release), counting_sentence(release), *shown_measure(release).remarks]
    return [remark for remark in remarks if remark]

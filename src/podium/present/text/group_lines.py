"""The lists of all groups as one table of text: the group columns first, each group named once."""

from __future__ import annotations

from podium.present.all_lists import all_items, all_values, counting_sentence, group_parts, without_items
from podium.present.beside_groups import beside_groups, beside_remarks, list_shares, one_of, told_line
from podium.present.measures import shown_measure
from podium.present.text.columns import Column, align_columns, share_column, value_columns
from podium.present.text.names import NO_ORDER, item_columns, printable, why_fewer
from podium.privacy.rounding import display
from podium.release import GroupedRelease

__all__ = ["group_remarks", "grouped_ranking", "grouped_ranking_lines"]


def grouped_ranking(release: GroupedRelease, heading: str | None = None) -> list[Column]:
    """Headings with the texts below them, group by group; only the first row of a group names it."""
    groups = [(group_parts(release, group), len(found.items)) for group, found in release.lists.items()]
    columns = [
        Column(
            printable(name),
            [printable(parts[place]) if row == 0 else "" for parts, rows in groups for row in range(rows)],
        )
        for place, name in enumerate(release.per)
    ]
    ranks = [str(row) if release.ordered else "-" for _, rows in groups for row in range(1, rows + 1)]
    listed = all_items(release)
    items = [Column(*named) for named in item_columns(listed, heading)]
    columns = [*columns, Column("rank", ranks, right=True), *items, *value_columns(listed, all_values(release))]
    one, part = one_of(release), list_shares(release)
    if one is not None and part is not None:
        columns.append(share_column(one, part))
    return [*columns, *(_beside_columns(release) if one is not None else ())]


def _beside_columns(release: GroupedRelease) -> list[Column]:
    """What is beside the list of each group, in the row that names it."""
    told = {
        found.group: (
            told_line(found.others, found.beside),
            "" if found.beside.ceiling is None else display(found.beside.ceiling),
            told_line(found.total, found.beside),
        )
        for found in beside_groups(release)
    }
    lists = [(told.get(group, ("", "", "")), len(found.items)) for group, found in release.lists.items() if found.items]
    columns = [
        Column(name, [text for texts, rows in lists for text in (texts[place], *[""] * (rows - 1))], right=True)
        for place, name in enumerate(("others", "each at most", "total"))
    ]
    return [column for column in columns if any(column.cells)]


def grouped_ranking_lines(release: GroupedRelease, heading: str | None = None) -> list[str]:
    """The same as lines; none if no group has an item."""
    lines = align_columns(grouped_ranking(release, heading))
    return lines if len(lines) > 1 else []


def group_remarks(release: GroupedRelease) -> list[str]:
    """What is said below the lists: what their order means, why they are short, and how much of a user counts."""
    remarks = [NO_ORDER] if not release.ordered and release.k > 1 else []
    if not release.complete:
        remarks.append(why_fewer(release))
    remarks += [without_items(release), counting_sentence(release), *shown_measure(release).remarks]
    remarks += beside_remarks(release)
    return [remark for remark in remarks if remark]

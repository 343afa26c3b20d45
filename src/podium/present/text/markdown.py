"""A release as a table in Markdown, to put into a page or a message."""

from __future__ import annotations

from podium.present.text.closing import closing_line
from podium.present.text.columns import Column, ranking
from podium.present.text.group_lines import group_remarks, grouped_ranking
from podium.present.text.names import NO_ORDER, markdown_text, why_fewer
from podium.present.user_shares import list_remarks
from podium.release import GroupedRelease, Release

__all__ = ["answer_markdown"]


def answer_markdown(release: Release, *, heading: str | None = None) -> str:
    """The ranked items as a table, what is said about it, and one line in plain words."""
    if isinstance(release, GroupedRelease):
        columns, remarks = grouped_ranking(release, heading), group_remarks(release)
    else:
        columns = ranking(release, heading)
        remarks = [NO_ORDER] * (not release.ordered and release.k > 1)
        remarks += [] if release.complete else [why_fewer(release)]
        remarks += list_remarks(release)
    lines = [*remarks, closing_line(release)]
    return "\n\n".join([_table(columns), *(markdown_text(line) for line in lines)])


def _table(columns: list[Column]) -> str:
    rows = zip(*(column.cells for column in columns), strict=True)
    head = " | ".join(markdown_text(column.name) for column in columns)
    rule = " | ".join("---:" if column.right else "---" for column in columns)
    return "\n".join(f"| {line} |" for line in [head, rule, *(" | ".join(map(markdown_text, row)) for row in rows)])

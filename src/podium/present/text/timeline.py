"""Lists over time as text: one line per period, or one row per place."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from podium.present.text.names import item_texts, spreadsheet_text
from podium.release import Release

__all__ = ["lists_csv", "lists_text"]


def lists_text(lists: Mapping[str, Release]) -> str:
    """One line per period: the items in their order, and how many are missing."""
    if not lists:
        return "No period is over yet."
    width = max(map(len, lists))
    lines = []
    for period, release in lists.items():
        missing = release.k - len(release.items)
        told = [*item_texts(release), *([f"({missing} fewer than {release.k})"] if missing > 0 else [])]
        lines.append(f"{period:<{width}}  {', '.join(told)}")
    return "\n".join(lines)


def lists_csv(lists: Mapping[str, Release]) -> str:
    """Columns period, rank, item; texts that a spreadsheet would compute begin with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("period", "rank", "item"))
    for period, release in lists.items():
        items = map(spreadsheet_text, item_texts(release))
        writer.writerows((period, rank, item) for rank, item in enumerate(items, 1))
    return text.getvalue()

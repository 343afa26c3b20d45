"""Items as people read them: an item is data, so its text must not be able to do anything but be read."""

from __future__ import annotations

import unicodedata
from typing import Any

from podium.estimates.measure import selected_items
from podium.release import GroupedRelease, Release

__all__ = [
    "NO_ORDER",
    "clip",
    "item_columns",
    "item_texts",
    "markdown_text",
    "printable",
    "spreadsheet_text",
    "text_width",
    "why_fewer",
]

NO_ORDER = "A set, in no particular order: which of its items has the most users is not part of the answer."
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Invisible, but Persian, Indic scripts and emoji are spelled with them."""
_FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula begins with; the wide ones too, which spreadsheets in East Asia accept."""


def printable(item: object) -> str:
    """Text that cannot move the cursor or turn the line around; several columns are separated by commas."""
    if isinstance(item, tuple):
        return ", ".join(printable(part) for part in item)
    text = str(item)
    return text if all(sign.isprintable() or sign in _JOINERS for sign in text) else repr(text)


def spreadsheet_text(text: str) -> str:
    """Text that a spreadsheet shows and does not compute: an apostrophe goes before what would begin a formula.

    What already looks so gets one more, so that different texts stay different.
    """
    shown = printable(text)
    return f"'{shown}" if shown.lstrip("'").startswith(_FORMULA_SIGNS) else shown


def markdown_text(text: str) -> str:
    """Text in a cell of a Markdown table: it cannot become a link, markup or another cell."""
    for sign in ("\\", "|", "`", "*", "_", "<", "["):
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def item_texts(release: Release) -> list[str]:
    """The items of a release in its order; a sparse vector's without the branch that found them."""
    return [printable(item) for item in selected_items(release)]


def item_columns(release: Release, heading: str | None = None) -> list[tuple[str, list[str]]]:
    """Headings with the texts below them: one column for each of the question's, or one under a heading of its own."""
    columns = release.columns or ()
    items = selected_items(release)
    if heading is None and len(columns) > 1 and all(_has_parts(item, len(columns)) for item in items):
        parts: list[Any] = list(items)
        return [(printable(name), [printable(item[place]) for item in parts]) for place, name in enumerate(columns)]
    named = ", ".join(columns) if heading is None else heading
    return [(printable(named or "item"), item_texts(release))]


def _has_parts(item: object, count: int) -> bool:
    return isinstance(item, tuple) and len(item) == count


def clip(text: str, length: int) -> str:
    """Cut the text to at most ``length`` characters, the last one an ellipsis; a letter keeps its accents."""
    if len(text) <= length:
        return text
    end = max(length - 1, 0)
    while end > 0 and _continues(text[end]):
        end -= 1
    return text[:end].rstrip() + "…"


def text_width(text: str) -> int:
    """How many columns of a terminal a text takes: none for an accent, two for a sign of East Asia or an emoji."""
    if text.isascii():
        return len(text)
    return sum(0 if _continues(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)


def _continues(sign: str) -> bool:
    return sign in _JOINERS or unicodedata.category(sign) in ("Mn", "Mc", "Me", "Sk")


def why_fewer(release: Release) -> str:
    """What a list that is shorter than k means, in a sentence that is true whatever the table holds."""
    if isinstance(release, GroupedRelease):
        return _why_fewer_in_groups(release)
    found = len(release.items)
    least = ", or is above the minimum" if "at_least" in release.parameters else ""
    other = "other " if found else ""
    return f"{found} of {release.k}: no {other}item stood out enough to be named at this budget{least}."


def _why_fewer_in_groups(release: GroupedRelease) -> str:
    if not release.lists:
        return "No group had an item that stood out enough to be named at this budget."
    short = sum(not found.complete for found in release.lists.values())
    return (
        f"{short:,} of {len(release.lists):,} lists {'has' if short == 1 else 'have'} fewer than {release.k}: "
        "no other item of those groups stood out enough to be named at this budget."
    )

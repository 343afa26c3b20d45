"""Colours and fonts of all pictures, in light and dark, and what can be written with the fonts that are there."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from matplotlib import font_manager
from matplotlib.font_manager import FontProperties

__all__ = ["DARK", "DASHES", "LIGHT", "SPELLED_OUT", "Style", "drawable", "font", "is_drawable"]

_FIRST: Final = "DejaVu Sans"
"""Comes with matplotlib; covers Latin, Greek, Cyrillic, Hebrew and Arabic."""
_OTHERS: Final = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Thai",
    "Noto Emoji",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
    "WenQuanYi Zen Hei",
)
DASHES: Final = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (1, 1)), (0, (9, 3)))
"""The lines of curves, which tell them apart without colours too."""
SPELLED_OUT: Final = "In brackets stand signs that no installed font has: by name, or by number in Unicode."
_VARIATIONS: Final = range(0xFE00, 0xFE10)
"""These, like joiners, only change how pictograms look."""


@dataclass(frozen=True, slots=True)
class Style:
    """The colours of one theme. ``series`` can be told apart by people who do not see all colours."""

    paper: str
    ink: str
    muted: str
    line: str
    bar: str
    soft: str
    warn: str
    series: tuple[str, ...]


LIGHT: Final = Style(
    paper="#ffffff",
    ink="#1f2328",
    muted="#59636e",
    line="#d1d9e0",
    bar="#4a90d9",
    soft="#dbe9f8",
    warn="#c93c20",
    series=("#0072b2", "#d55e00", "#00795a", "#9a4d8b", "#8a6d00", "#b3124e"),
)
DARK: Final = Style(
    paper="#0d1117",
    ink="#e6edf3",
    muted="#9ba5b0",
    line="#30363d",
    bar="#3f7fc4",
    soft="#16304d",
    warn="#ff7b5c",
    series=("#56b4e9", "#ff9d5c", "#2fc79a", "#d99ac9", "#e6c84f", "#ff7fa5"),
)


def font(size: float, *, bold: bool = False) -> FontProperties:
    """The font of all texts, with whatever else is installed for signs that it lacks."""
    return FontProperties(family=list(_families()), size=size, weight="bold" if bold else "normal")


def drawable(text: str) -> str:
    """The text with signs that no installed font has spelled out in brackets, so that different names stay different.

    Pictograms have names that people know; of other signs the number is shorter.
    """
    known = _code_points()
    if all(ord(sign) in known for sign in text):
        return text
    parts: list[str] = []
    missing: list[str] = []
    for sign in text:
        if ord(sign) not in known:
            missing.append(sign)
            continue
        # What joins pictograms has a sign in some fonts, and means nothing without them.
        if missing and _is_joining(sign):
            continue
        parts += [*_spelled_out(missing), sign]
        missing = []
    return "".join([*parts, *_spelled_out(missing)])


def is_drawable(texts: Iterable[str]) -> bool:
    """Whether all signs of these texts are in some installed font."""
    known = _code_points()
    return all(ord(sign) in known for text in texts for sign in text)


def _spelled_out(signs: list[str]) -> list[str]:
    told = [_name(sign) for sign in signs if not _is_joining(sign) or len(signs) == 1]
    return [f"[{' '.join(told)}]"] if told else []


def _is_joining(sign: str) -> bool:
    return unicodedata.category(sign) == "Cf" or ord(sign) in _VARIATIONS


def _name(sign: str) -> str:
    named = unicodedata.name(sign, "") if unicodedata.category(sign) == "So" else ""
    return named.lower() or f"{ord(sign):04X}"


@cache
def _families() -> tuple[str, ...]:
    installed = set(font_manager.get_font_names())
    return (_FIRST, *(name for name in _OTHERS if name in installed))


@cache
def _code_points() -> frozenset[int]:
    paths = (font_manager.findfont(FontProperties(family=family)) for family in _families())
    charmaps: list[Any] = [font_manager.get_font(path).get_charmap() for path in paths]
    return frozenset(code for charmap in charmaps for code in charmap)

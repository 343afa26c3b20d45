"""The words in pictures: titles, names in any script, and what stands for signs that no font has."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.support.pictures import HOSTILE, assert_readable, by_role, drawn_texts, made

from podium.present.drawing import style
from podium.present.plots import plot_release


def test_names_are_text_and_nothing_else() -> None:
    picture = plot_release(made(HOSTILE))
    names = by_role(picture, "name")
    assert names[:2] == list(HOSTILE[:2])
    assert names[4] in ("[65E5 672C 8A9E 306E 8A18 4E8B]", HOSTILE[4])
    assert names[6] == "$x^{2$ & \\frac"
    assert names[7].endswith("…")
    assert names[8] == r"'line\nbreak \x1b[31m'"
    assert names[9] == r"'turned \u202e around'"
    assert not any(text.get_parse_math() for text in drawn_texts(picture) if text.get_gid() in ("name", "title"))


def test_svg_has_its_text_as_text_with_signs_that_no_font_here_has(tmp_path: Path) -> None:
    names = ("日本語の記事", "שלום עולם", "🍕 & 🍕", "नमस्ते")
    for counts in (False, True):
        picture = plot_release(made(names, counts=counts, columns=("記事",)), tmp_path / "a.svg")
        drawing = ElementTree.parse(tmp_path / "a.svg")  # noqa: S314 - our own file
        texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
        assert {*names, "Private top 4 of 記事, by number of users"} <= set(texts)
        assert picture.svg() == (tmp_path / "a.svg").read_text(encoding="utf-8")
        assert_readable(picture)


def test_signs_that_no_font_has_are_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_code_points", lambda: frozenset(range(0x250)))
    picture = plot_release(made(("日本", "🍕️ pizza", "👩‍👧", "ab", "café")))
    assert by_role(picture, "name") == ["[65E5 672C]", "[slice of pizza] pizza", "[woman girl]", "ab", "café"]
    assert by_role(picture, "note")[0] == style.SPELLED_OUT
    assert by_role(plot_release(made(("ab",))), "note")[0] != style.SPELLED_OUT


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({"columns": ("article",)}, "Private top 2 of article, by number of users"),
        ({"columns": ("shop", "product"), "parameters": {"by": "events"}},
         "Private top 2 of shop and product, by number of events"),
        ({"columns": ("article",), "parameters": {"by": "sum(minutes)"}}, "Private top 2 of article, by sum(minutes)"),
        ({"columns": ("article",), "outcome": frozenset(("a", "b"))},
         "A private set of 2 of article, by number of users"),
    ],
)  # fmt: skip
def test_a_title_says_of_what(changes: dict[str, Any], title: str) -> None:
    assert by_role(plot_release(made(("a", "b"), **changes)), "title") == [title]


def test_a_long_name_of_narrow_signs_stays_off_its_rank() -> None:
    """Signs are rounded to dots: thirty of them are wider in the file than on the screen."""
    for sign in "xilW":
        assert_readable(plot_release(made((sign * 99, "b"), counts=True)))


def test_in_svg_nothing_is_spelled_out_and_nothing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_code_points", lambda: frozenset(range(0x250)))
    plot_release(made(("\u5bff\u53f8",))).save(tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "\u5bff\u53f8" in written
    assert style.SPELLED_OUT not in written

"""Notebook HTML: items are data, the table is one that screen readers understand."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.pictures import HOSTILE, made

from podium import Release
from podium.present.html import release_html

ALLOWED = {
    "div": {"class", "style"}, "style": set(), "table": set(), "caption": set(), "thead": set(), "tbody": set(),
    "tr": set(),
    "th": {"scope", "class", "style"}, "td": {"class"}, "bdi": set(), "p": set(), "dl": set(), "dt": set(), "dd": set(),
    "details": set(), "summary": set(), "pre": set(),
}  # fmt: skip


class Reader(HTMLParser):
    """Reads the fragment as a browser would, strictly: known elements and attributes, everything closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.names: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= ALLOWED[tag]
        self.open.append(tag)
        if tag == "bdi":
            self.names.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open[-1:] == ["bdi"]:
            self.names[-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("counts", [False, True])
def test_hostile_names_are_shown_and_do_nothing(counts: bool) -> None:
    html = made(HOSTILE, k=20, counts=counts)._repr_html_()
    assert "<script" not in html
    names = read(html).names
    assert names[5] == "<script>alert('x')</script>"
    assert names[8] == r"'line\nbreak \x1b[31m'"
    assert "\u202e" not in html
    assert len(names) == len(HOSTILE)


@given(st.lists(st.one_of(st.text(), st.tuples(st.text(), st.integers()), st.binary()), unique=True, max_size=4))
def test_no_name_breaks_out(names: list[Any]) -> None:
    assert len(read(made(tuple(names), k=4)._repr_html_()).names) == len(names)


@pytest.mark.parametrize("field", ["mechanism", "theorem", "parameters"])
def test_what_a_stored_release_says_of_itself_is_data_too(field: str) -> None:
    value = "<img src=x onerror=alert(1)>"
    changed: dict[str, Any] = {field: {"k": value} if field == "parameters" else value}
    release = made(("a",), **changed)
    read(Release.from_json(release.to_json())._repr_html_())
    read(release_html(release, heading=value))


def test_the_table_says_what_its_cells_are() -> None:
    html = release_html(made(("a", "b"), counts=True), heading="article")
    assert html.count('scope="col"') == 4
    assert html.count('scope="row"') == 2
    texts = read(html).texts
    assert texts[1:15] == [
        "Private top 2", "rank", "article", "count", "95% interval", "1", "a", "1,000", "960 to 1,040", "2", "b", "990",
        "950 to 1,030", texts[14],
    ]  # fmt: skip
    assert "<dt>noise</dt><dd>discrete Gaussian, sigma 20</dd>" in html


def test_the_promise_and_the_price_are_below() -> None:
    release = made(("a",), k=3)
    texts = read(release._repr_html_()).texts
    assert "1 of 3: no other item stood out enough to be named at this budget." in texts
    assert texts[texts.index("promise") + 1] == release.guarantee.sentence()
    assert texts[texts.index("paid") + 1].startswith("rho 0.0")
    assert texts[texts.index("theorem") + 1] == "Durfee & Rogers 2019, Theorems 1 and 2"


def test_a_set_has_no_ranks_and_long_lists_end() -> None:
    html = made(("a", "b"), outcome=frozenset("ab"))._repr_html_()
    assert "A private set of 2, in no particular order" in html
    assert ">rank<" not in html
    long = read(made(tuple(range(1500)))._repr_html_())
    assert len(long.names) == 100
    assert "and 1,400 more: to_pandas() has all of them." in long.texts


def test_colours_are_those_of_the_notebook() -> None:
    html = made(("a",))._repr_html_()
    assert "color:inherit" in html
    assert "#" not in html

"""Tables for a terminal: an item is data, and stays data whatever it looks like."""

from __future__ import annotations

import io
import json

from rich.console import Console, RenderableType

from podium import Histogram, Release
from podium.mechanisms import LimitedDomain, NoisyTopK, OneshotLaplace
from podium.present import release_text
from podium.present.explanation import explanation
from podium.present.json import json_text, release_document
from podium.present.text.terminal import fact_lines, facts_table, plain_table, release_drawing, rich_table


def drawn(what: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    console.print(what)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_columns_are_as_wide_as_they_need_to_be() -> None:
    assert plain_table(("a", "long header"), [("value", "b"), ("c", "")]) == "a      long header\nvalue  b\nc"
    assert fact_lines([("a", "one"), ("label", "two")]) == "a      one\nlabel  two"


def test_markup_in_data_is_text() -> None:
    hostile = "[red]not red[/red] [link=x]"
    assert hostile in drawn(rich_table(("item",), [(hostile,)]))
    assert hostile in drawn(facts_table([("source", hostile)]))
    counts = Histogram.top_rows([hostile, "\x1b[2J"], [9000, 6000], next_count=1)
    text = drawn(release_drawing(LimitedDomain(2, 2, 1, "0.01").release(counts)))
    assert hostile in text
    assert "\x1b" not in text
    assert "'\\x1b[2J'" in text


def test_nothing_that_a_stored_release_says_reaches_the_terminal_as_a_command() -> None:
    honest = LimitedDomain(1, 1, 1, "0.01").release(Histogram.top_rows(["\x9b2J"], [9000], next_count=1))
    written = json.loads(honest.to_json())
    hostile = {"mechanism": "M\x1b[2J", "theorem": "T\x1b[2J; U\x9b31m", "parameters": {"a\x1b": "b\x07"}}
    release = Release.from_json(json.dumps({**written, **hostile}))
    shown = [
        drawn(release_drawing(release, heading="col\x1b[2J")),
        release_text(release, heading="col\x1b[2J"),
        *(section.text for section in explanation(release)),
        json_text(release_document(release), indent=2),
    ]
    for text in shown:
        assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert Release.from_json(shown[-1]) == release


def test_a_short_list_says_why() -> None:
    counts = Histogram.top_rows(["a", "b"], [9000, 5], next_count=5)
    text = drawn(release_drawing(LimitedDomain(2, 2, 1, "0.01").release(counts), heading="article"))
    assert " rank   article\n" in text
    assert "1 of 2: no other item stood out enough to be named at this budget." in text


def test_gaps_are_leads_and_a_set_has_no_ranks() -> None:
    counts = Histogram({"a": 9000, "b": 6000, "c": 1})
    assert " rank   item   lead" in drawn(release_drawing(NoisyTopK(2, 1).release(counts)))
    text = drawn(release_drawing(OneshotLaplace(2, 1).release(counts)))
    assert "    -   a\n" in text
    assert "A set, in no particular order: which of its items has the most users is not part of the answer." in text
    assert "paid       rho 0.5, for the set as a whole" in text
    assert "in no particular order" not in drawn(release_drawing(OneshotLaplace(1, 1).release(counts)))

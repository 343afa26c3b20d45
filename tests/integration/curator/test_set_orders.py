"""The order of a released set through the whole path: read, named, stored, told again and shown."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.collisions import COLLIDING, told
from tests.support.curator.tables import PURE

import podium
from podium import Curator, Release
from podium.curator.answer import answer
from podium.curator.one_question import OneQuestion
from podium.estimates import MeasureCounts
from podium.mechanisms import TestedTopK
from podium.query import Question
from podium.sources import open_source

LEADS = ((400, 300), (300, 400))
"""Users of two items, of which the secret is who leads; so far ahead of all others that the set is certain."""


def events(counts: Mapping[Any, int]) -> pd.DataFrame:
    rows = [(user, item) for item, count in counts.items() for user in range(count)]
    columns = [[part[place] if isinstance(part, tuple) else part for _, part in rows] for place in range(2)]
    return pd.DataFrame({"user_id": [user for user, _ in rows], "first": columns[0], "second": columns[1]})


def tables(kind: str) -> tuple[list[pd.DataFrame], tuple[Hashable, ...]]:
    one, two, last = COLLIDING[kind]
    return [events({one: a, two: b, last: 1}) for a, b in LEADS], (one, two, last)


@pytest.mark.parametrize("kind", COLLIDING)
def test_one_question_does_not_tell_who_leads(kind: str) -> None:
    made, items = tables(kind)
    column = ["first", "second"] if kind == "tuples" else "first"
    one, other = (
        podium.top(table, item=column, user="user_id", k=2, epsilon=20, domain=items, ordered=False) for table in made
    )
    assert one.outcome == other.outcome == frozenset(items[:2])
    assert told(one) == told(other)


def test_nor_where_the_items_are_numbers_up_to_a_size() -> None:
    for counts in ({0: 101, 8: 101, 1: 5}, {0: 102, 8: 101, 1: 5}):
        release = podium.top(
            events(counts), item="first", user="user_id", k=2, epsilon=20, domain_size=100, ordered=False
        )
        assert (release.outcome, repr(release.outcome)) == (frozenset({0, 8}), "frozenset({0, 8})")


@pytest.mark.parametrize("kind", ["integers", "text"])
def test_a_ranking_in_a_ledger_does_not_tell_who_leads_however_often_it_is_told(tmp_path: Path, kind: str) -> None:
    one, two, last = COLLIDING[kind]
    seen = []
    for place, (better, worse) in enumerate(((one, two), (two, one))):
        pairs = [(better, worse), (better, last), (worse, last)]
        rows = [(user, winner, loser) for winner, loser in pairs for user in range(400)]
        votes = pd.DataFrame(rows, columns=["user_id", "better", "worse"])
        with Curator(votes, dataset="votes", user="user_id", ledger=tmp_path / f"{place}.db", budget=PURE) as asked:
            question: dict[str, Any] = {"winner": "better", "loser": "worse", "comparisons_per_pair": 400, "k": 2}
            question |= {"items": [one, two, last], "ordered": False, "method": "borda", "epsilon": 1}
            first, again = asked.rank(**question), asked.rank(**question)
        assert isinstance(first, Release)
        assert isinstance(again, Release)
        assert again.paid.events == ()
        # The hash of an entry in a ledger is new each time.
        seen += [[told(replace(release, paid=replace(release.paid, entry=None))) for release in (first, again)]]
    assert seen[0] == seen[1]
    assert seen[0][0]["tuple"] == seen[0][1]["tuple"]


@pytest.mark.parametrize("kind", ["integers", "text"])
def test_counts_of_a_set_stand_beside_their_items_and_not_in_their_own_order(kind: str) -> None:
    """No plan measures a set today; whatever one will, places in a tally lie in the order of true counts."""
    made, items = tables(kind)
    for table, (a, b) in zip(made, LEADS, strict=True):
        source = open_source(table)
        curator = Curator(source, dataset="events", user="user_id", ledger=OneQuestion(20))
        planned = curator._prepare(Question.of("first", k=2, domain=items, ordered=False), None)
        assert isinstance(planned.strategy.mechanism, TestedTopK)
        measuring = replace(planned, strategy=replace(planned.strategy, measure=MeasureCounts(epsilon_per_item=20)))
        release = answer(source, measuring)
        counts = dict(zip(release.outcome, release.values or (), strict=True))
        assert counts == pytest.approx({items[0]: a, items[1]: b}, abs=5)
        source.close()

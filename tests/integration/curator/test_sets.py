"""A set from a known domain, asked for by those to whom the order does not matter: from the table to what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.curator.tables import PURE, curator, events

import podium
from podium import Plan, Release
from podium.curator.answer import _measure
from podium.curator.prepare import PlannedQuestion, fresh_salt
from podium.curator.rounds import SourceReader
from podium.estimates import MeasureCounts
from podium.mechanisms import CanonicalTopK, TestedTopK
from podium.planning.facts import Facts
from podium.planning.question_budget import question_budget
from podium.planning.strategy import strategy_for
from podium.present import release_text
from podium.query import CheckedQuestion
from podium.sources import DomainItems, open_source

DOMAIN = [f"article {place}" for place in range(40)]
COUNTS = {name: 6000 - 1000 * place for place, name in enumerate(DOMAIN[:6])}
"""So far apart that what comes out is certain, whether chosen at once or in turn (below 1e-9)."""


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events(tmp_path_factory.mktemp("sets") / "views.parquet", COUNTS)


def _asked(table: Path, delta: str) -> Release:
    return podium.top(table, item="article", user="user_id", k=3, epsilon=5, delta=delta, domain=DOMAIN, ordered=False)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_the_set_is_named_and_survives_json(table: Path, delta: str) -> None:
    release = _asked(table, delta)
    assert release.mechanism == "TestedTopK"
    assert release.outcome == frozenset(DOMAIN[:3])
    assert not release.ordered
    assert release.complete
    assert release.guarantee.epsilon(delta=delta) == 5
    assert release.theorem == TestedTopK.theorem
    assert Release.from_json(release.to_json()) == release
    assert release.to_arrow().column_names == ["article"]


def test_whoever_looks_at_it_is_told_that_there_is_no_order(table: Path) -> None:
    release = _asked(table, "1e-6")
    sentence = "A set, in no particular order: which of its items has the most users is not part of the answer."
    shown = release_text(release, heading="article").split("\n")
    assert shown[:7] == [
        "rank  article", "   -  article 0", "   -  article 1", "   -  article 2", "", sentence, "",
    ]  # fmt: skip
    assert "paid       rho 12.5 and delta 1e-6, for the set as a whole" in shown
    assert "A private set of 3 of article, by number of users, in no particular order" in release._repr_html_()
    assert sentence in release.plot().alt


def test_values_of_a_set_go_with_their_names(table: Path) -> None:
    """Until they are named, items lie in the order of their counts: the names are in the opposite one here."""
    known = Facts(k=3, domain_size=len(DOMAIN))
    strategy = strategy_for(known, question_budget(known, epsilon=5, delta=0))
    planned = PlannedQuestion(CheckedQuestion(("article",), 3), strategy, DomainItems(tuple(DOMAIN)), "user_id")
    reader = SourceReader(open_source(table), planned, fresh_salt())
    with reader.counting():
        release = CanonicalTopK(3, 5).release(reader.tally())
        named = reader.name(_measure(release, MeasureCounts(epsilon_per_item=5), reader))
    assert named.items == tuple(DOMAIN[:3])
    near = [min(COUNTS, key=lambda name: abs(COUNTS[name] - value)) for value in named.values or ()]
    assert near == DOMAIN[:3]


def test_far_below_the_cliff_the_items_come_in_turn_and_in_order(tmp_path: Path) -> None:
    """One user with one item: nearly all sets are alike, and the test says so but with probability below 1e-15."""
    sparse = events(tmp_path / "views.parquet", {0: 1})
    release = podium.top(
        sparse, item="article", user="user_id", k=100, epsilon=1, delta="1e-6", domain_size=2000, ordered=False
    )
    assert release.mechanism == "TestedTopK"
    assert isinstance(release.outcome, tuple)
    assert len(set(release.outcome)) == 100
    assert set(release.outcome) <= set(range(2000))
    assert "in no particular order" not in release_text(release)


def test_a_dry_run_says_what_the_test_is_for(table: Path) -> None:
    shown = podium.plan(table, item="article", user="user_id", k=3, epsilon=5, domain=DOMAIN, ordered=False)
    assert isinstance(shown, Plan)
    assert isinstance(shown.strategy.mechanism, TestedTopK)
    assert "to choose all 3 items at once, as a set; if not, they are chosen in turn, in order." in shown.explain()
    assert "epsilon 5, whatever comes out" in shown.explain()


def test_a_ledger_keeps_the_order_and_says_why(table: Path) -> None:
    with curator(table) as (asked, source):
        plan = asked.plan("article", k=3, domain=DOMAIN, ordered=False).strategy
        assert plan.why.endswith(
            " No order was asked for; where a ledger adds up rho a set would be hardly better, so the order is kept."
        )
        release = asked.top("article", k=3, domain=DOMAIN, ordered=False)
        assert (release.mechanism, release.outcome) == ("ExponentialTopK", tuple(DOMAIN[:3]))
        spent = asked.status.spent
        # It is the same question as one with an order, so its answer is free; and it contains the shorter list.
        again = asked.top("article", k=2, domain=DOMAIN)
        assert (again.outcome, again.paid.events) == (tuple(DOMAIN[:2]), ())
        assert (asked.status.spent, source.snapshots) == (spent, 1)


def test_a_pure_ledger_keeps_the_order_too(tmp_path: Path) -> None:
    path = events(tmp_path / "views.parquet", COUNTS)
    with curator(path, PURE) as (asked, _):
        plan = asked.plan("article", k=3, domain=DOMAIN, ordered=False).strategy
        assert plan.why.endswith(" a ledger keeps it, so that a longer list answers a shorter one too.")
        assert asked.top("article", k=3, domain=DOMAIN, ordered=False).ordered

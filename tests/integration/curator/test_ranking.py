"""Rankings from comparisons through the whole path: what counts, what is paid, what is refused, what is told again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator.tables import BUDGET, PURE, Watched

import podium
from podium import Budget, Curator, Plan, Release
from podium.errors import InvalidArgument, PodiumError, QuestionForfeited, SourceFailure, UnknownColumn
from podium.present.intervals import margin_of
from podium.privacy import GaussianNoise, LaplaceNoise, total
from podium.privacy.rounding import display
from podium.sources import open_source

ITEMS = ("a", "b", "c", "d")
ASK: dict[str, Any] = {"winner": "better", "loser": "worse", "comparisons_per_pair": 400}
SURE: dict[str, Any] = {**ASK, "user": "user_id", "epsilon": 10**6}
"""A budget at which noise is next to nothing: the true order comes out, but with probability below 1e-9."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a before b before c before d, by 300 users each; users 0 to 9 say everything ten times, and otherwise too.

    Fifty prefer a to c as well: without them b and c, with one win and one defeat each, would be level by their shares.
    """
    rows: list[tuple[int | None, str | None, str | None]] = []
    for user in range(300):
        rows += [(user, "a", "b"), (user, "b", "c"), (user, "c", "d")] * (10 if user < 10 else 1)
    rows += [(user, "a", "c") for user in range(50)]
    rows += [(None, "d", "a")] * 900 + [(user, None, "a") for user in range(900)] + [(1, "d", None)]
    rows += [(user, "d", "elsewhere") for user in range(900)] + [(user, "d", "d") for user in range(900)]
    path = tmp_path_factory.mktemp("votes") / "votes.parquet"
    names = ("user_id", "better", "worse")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


@contextmanager
def curator(path: Path, folder: Path, budget: Budget = BUDGET) -> Iterator[tuple[Curator, Watched]]:
    source = Watched(open_source(path))
    try:
        with Curator(source, dataset="votes", user="user_id", ledger=folder / "ledger.db", budget=budget) as asked:
            yield asked, source
    finally:
        source.close()


@pytest.mark.parametrize("method", ["spectral", "borda", "auto"])
@pytest.mark.parametrize("mechanism", ["auto", "exponential", None])
def test_the_true_order_of_what_counts(made: Path, method: str, mechanism: str | None) -> None:
    ordered = mechanism is not None
    release = podium.rank(made, **SURE, items=ITEMS, k=3, method=method, mechanism=mechanism or "auto", ordered=ordered)
    assert release.outcome == (("a", "b", "c") if ordered else frozenset("abc"))
    assert "docs/proofs/ranking.md" in release.theorem
    assert Release.from_json(release.to_json()) == release


def test_wins_count_users_once_and_only_public_pairs(made: Path) -> None:
    """By wins d, whom 900 users preferred to something else, has none; only a user's different comparisons count."""
    release = podium.rank(made, **SURE, items=ITEMS, k=4, method="wins")
    assert set(release.items[:3]) == set("abc")
    assert release.items[3] == "d"
    one = podium.rank(made, **SURE, items=[*ITEMS, "elsewhere"], k=1, method="wins")
    assert one.items == ("d",)


def test_a_condition_and_bounds(made: Path) -> None:
    release = podium.rank(made, **SURE, items=ITEMS, k=1, where="better <> 'a'", method="borda")
    assert release.items == ("b",)
    bounded = podium.rank(made, **SURE, items=ITEMS, k=1, max_comparisons_per_user=1, method="borda")
    assert bounded.items == ("a",)
    assert bounded.parameters["rises_by"] == "1/2400"


def test_files_say_what_can_be_compared(made: Path, tmp_path: Path) -> None:
    items, pairs = tmp_path / "items.csv", tmp_path / "pairs.csv"
    items.write_text("item\na\nb\nc\nd\n", encoding="utf-8")
    pairs.write_text("worse,better\nb,a\nc,b\nd,c\n", encoding="utf-8")
    assert podium.rank(made, **SURE, items=items, k=2).items == ("a", "b")
    by_pairs = podium.rank(made, **SURE, pairs=str(pairs), k=2, method="spectral", mixing="0.01")
    assert by_pairs.items == ("a", "b")
    assert by_pairs.parameters["pairs"] == "3"


def test_an_empty_table_is_an_ordinary_release(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    columns = {"user_id": pa.int64(), "better": pa.string(), "worse": pa.string()}
    pq.write_table(pa.table({name: pa.array([], kind) for name, kind in columns.items()}), path)
    for method in ("spectral", "borda", "wins"):
        release = podium.rank(path, **{**SURE, "epsilon": 1}, items=ITEMS, k=2, method=method)
        assert set(release.items) < set(ITEMS)
        assert release.complete


@pytest.mark.parametrize("budget", [BUDGET, PURE])
def test_a_ledger_pays_once(made: Path, tmp_path: Path, budget: Budget) -> None:
    with curator(made, tmp_path, budget) as (asked, source):
        shown = asked.plan_rank(**ASK, items=ITEMS, k=3, method="borda")
        assert isinstance(shown, Plan)
        assert source.snapshots == 0
        assert asked.status.spent.rho == 0
        first = asked.rank(**ASK, items=ITEMS, k=3, method="borda")
        assert isinstance(first, Release)
        assert first.paid.events == shown.strategy.worst_case
        spent = asked.status.spent
        assert spent.rho > 0
        again = asked.rank(**ASK, items=list(ITEMS), k=3, method="borda")
        shorter = asked.rank(**ASK, items=ITEMS, k=2, method="borda")
        assert isinstance(again, Release)
        assert isinstance(shorter, Release)
        assert (again.outcome, shorter.outcome) == (first.outcome, tuple(first.outcome)[:2])
        assert asked.status.spent == spent
        assert source.snapshots == 1
        other = asked.rank(**ASK, items=ITEMS, k=2, method="wins")
        assert isinstance(other, Release)
        assert source.snapshots == 2


def test_a_set_does_not_answer_for_a_smaller_one(made: Path, tmp_path: Path) -> None:
    with curator(made, tmp_path, PURE) as (asked, source):
        for k in (3, 2, 3):
            release = asked.rank(**ASK, items=ITEMS, k=k, method="borda", ordered=False)
            assert isinstance(release, Release)
            assert len(release.items) == k
        assert source.snapshots == 2


def test_a_failure_after_the_read_forfeits_and_says_nothing(made: Path, tmp_path: Path) -> None:
    with curator(made, tmp_path) as (asked, source):
        source.failure = SourceFailure()
        with pytest.raises(QuestionForfeited):
            asked.rank(**ASK, items=ITEMS, k=3, method="borda")
        assert asked.status.failures == 1


@pytest.mark.parametrize("budget", [BUDGET, PURE])
def test_scores_are_planned_paid_and_told_again(made: Path, tmp_path: Path, budget: Budget) -> None:
    with curator(made, tmp_path, budget) as (asked, source):
        listed = asked.plan_rank(**ASK, items=ITEMS, k=3, method="borda")
        shown = asked.plan_rank(**ASK, items=ITEMS, k=3, method="borda", scores=True)
        assert listed.counts is None
        assert shown.counts is not None
        # As much again, rounded in favour of privacy.
        assert Fraction(19, 10) < shown.at_most.rho / listed.at_most.rho if budget is BUDGET else True
        assert "noise of scale" in shown.description
        assert shown.guarantee == total(shown.strategy.worst_case)
        release = asked.rank(**ASK, items=ITEMS, k=3, method="borda", scores=True)
        assert release.paid.events == shown.strategy.worst_case
        assert isinstance(release.paid.events[-1], GaussianNoise if budget is BUDGET else LaplaceNoise)
        spent = asked.status.spent
        assert float(spent.rho) == pytest.approx(float(shown.at_most.rho), rel=1e-9)
        again = asked.rank(**ASK, items=ITEMS, k=2, method="borda", scores=True)
        assert release.values is not None
        assert (again.items, again.values) == (release.items[:2], release.values[:2])
        assert asked.status.spent == spent
        assert source.snapshots == 1
        asked.rank(**ASK, items=ITEMS, k=3, method="borda")
        assert source.snapshots == 2
        both = float(shown.at_most.rho + listed.at_most.rho)
        assert float(asked.status.spent.rho) == pytest.approx(both, rel=1e-9)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_scores_come_with_intervals(made: Path, delta: Any) -> None:
    release = podium.rank(made, **SURE, delta=delta, items=ITEMS, k=3, method="borda", scores=True)
    assert release.values is not None
    true = [Fraction(1, 2) + Fraction(won - lost, 800 * 3) for won, lost in ((350, 0), (300, 300), (300, 350))]
    assert release.items == ("a", "b", "c")
    assert all(abs(value - score) < Fraction(1, 10**4) for value, score in zip(release.values, true, strict=True))
    assert release.promise == podium.rank(made, **SURE, delta=delta, items=ITEMS, k=3, method="borda").promise
    margin = margin_of(release)
    assert margin is not None
    assert margin.fresh
    assert Release.from_json(release.to_json()) == release
    assert "docs/proofs/ranking.md, Theorem 4" in release.theorem
    table = release.to_arrow()
    assert table.column_names == ["rank", "item", "score", "score_low", "score_high"]
    lines = str(release).splitlines()
    assert lines[0].split() == ["rank", "item", "score", "95%", "interval"]
    assert lines[1].split()[:3] == ["1", "a", display(release.values[0])]
    assert display(release.values[0]) in release._repr_html_()


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"items": None}, InvalidArgument, "either items, of which all pairs count, or pairs"),
        ({"pairs": [("a", "b")]}, InvalidArgument, "either items, of which all pairs count, or pairs"),
        ({"items": None, "pairs": [("a", "b"), ("c", "d")]}, InvalidArgument, "a connected graph"),
        ({"items": {"a": 1}}, InvalidArgument, "items='dict' is not valid"),
        ({"items": [1, 2]}, InvalidArgument, "items=1 is not valid. Allowed: values of kind text"),
        ({"items": None, "pairs": ["ab"]}, InvalidArgument, "pairs=.* is not valid"),
        ({"k": 5}, InvalidArgument, "k=5 is not valid. Allowed: at most 4"),
        ({"k": 0}, InvalidArgument, "k=0 is not valid"),
        ({"winner": "best"}, UnknownColumn, "winner='best' is not a column"),
        ({"loser": "better"}, InvalidArgument, "three different columns"),
        ({"loser": "user_id"}, InvalidArgument, "three different columns"),
        ({"method": "elo"}, InvalidArgument, "method='elo' is not valid"),
        ({"mechanism": "laplace"}, InvalidArgument, "mechanism='laplace' is not valid"),
        ({"ordered": False}, InvalidArgument, "where a ledger adds up rho"),
        ({"mechanism": "set"}, InvalidArgument, "Say ordered=False if no order is needed."),
        ({"ordered": False, "mechanism": "noisy"}, InvalidArgument, "'auto' with ordered=False"),
        ({"scores": 1}, InvalidArgument, "scores=1 is not valid. Allowed: True or False"),
        ({"scores": True, "ordered": False}, InvalidArgument, "Noisy scores put the items in an order"),
        ({"mechanism": "noisy"}, InvalidArgument, "where the budget has a delta"),
        ({"method": "wins", "mixing": "0.1"}, InvalidArgument, "mixing='0.1' is not valid"),
        ({"mixing": 2}, InvalidArgument, "mixing=2 is not valid"),
        ({"normalisation": 2, "method": "spectral"}, InvalidArgument, "normalisation=2 is not valid"),
        ({"comparisons_per_pair": 0}, InvalidArgument, "comparisons_per_pair=0 is not valid"),
        ({"max_comparisons_per_user": 0}, InvalidArgument, "max_.*_per_user=0 is not valid"),
        ({"where": "nobody = 1"}, PodiumError, "nobody"),
    ],
)
def test_what_is_refused_is_not_paid_for_and_reads_nothing(
    made: Path, tmp_path: Path, options: dict[str, Any], kind: type[PodiumError], match: str
) -> None:
    with curator(made, tmp_path) as (asked, source):
        with pytest.raises(kind, match=match):
            asked.rank(**{**ASK, "items": ITEMS, "k": 2, **options})
        assert source.snapshots == 0
        assert asked.status.spent.rho == 0
        assert asked.status.failures == 0


def test_winners_and_losers_must_be_of_one_kind(tmp_path: Path) -> None:
    frame = pa.table({"user_id": [1], "better": ["a"], "worse": [2], "tags": [["a"]]})
    with pytest.raises(InvalidArgument, match=r"loser='worse' is not valid. Allowed: a column of kind text"):
        podium.rank(frame, **SURE, items=ITEMS, k=1)
    with pytest.raises(InvalidArgument, match=r"loser='tags' is not valid. Allowed: a column of single values"):
        podium.rank(frame, **{**SURE, "loser": "tags"}, items=ITEMS, k=1)


def test_numbers_of_any_kind_are_items() -> None:
    frame = pa.table({"user_id": list(range(300)) * 2, "better": [1] * 300 + [2] * 300, "worse": [2] * 300 + [3] * 300})
    release = podium.rank(frame, **SURE, items=range(1, 4), k=3, method="borda")
    assert release.items == (1, 2, 3)


def test_the_sql_is_that_of_any_question_about_two_columns(made: Path) -> None:
    preview = podium.plan_rank(made, **SURE, items=ITEMS, k=2, max_comparisons_per_user=2, method="borda")
    assert isinstance(preview, Plan)
    # Users are cut here, in the query that counts.
    (query,) = preview.queries
    assert "ROW_NUMBER() OVER (PARTITION BY" in query
    assert "LIMIT 13" in query
    assert preview.explain().startswith("mechanism  NoisyTopK(k=2, epsilon=1000000")
    assert str(preview).startswith("list       up to 2 items\nanswer     private for each user_id: epsilon 1000000\n")

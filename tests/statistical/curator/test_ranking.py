"""Comparisons from rows in a file to what comes out: the exact law, and an audit of two neighbouring tables.

These draws use the secure source of random bits, as the product does, so they cannot be replayed. A test that the
product passes fails by chance with probability below 1e-9, and lacks power with probability below 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.laws import assert_three_way
from tests.statistical.audit.cases import ALPHA

import podium
from podium.audit import Pair, statistical_audit
from podium.mechanisms import ExponentialTopK
from podium.planning.facts import Facts
from podium.planning.plan import Allowance, allowance_for
from podium.ranking import Borda, ComparisonGraph, RankingMethod, Spectral
from podium.sources import Source, open_source
from podium.sources.parquet import write_parquet

ITEMS = ("a", "b", "c", "d")
ASK: dict[str, Any] = {"winner": "better", "loser": "worse", "user": "user_id", "items": ITEMS}
VOTES = {("a", "b"): 30, ("a", "c"): 28, ("b", "c"): 25, ("c", "d"): 22, ("d", "b"): 5, ("b", "d"): 30, ("a", "d"): 9}
GRAPH = ComparisonGraph.complete(ITEMS)


def table(path: Path, votes: dict[tuple[str, str], int], more: list[tuple[int, str, str]]) -> Path:
    """Every vote by a user of its own, twice; and the rows of somebody else."""
    rows, user = [], 0
    for (better, worse), count in votes.items():
        for _ in range(count):
            rows += [(user, better, worse)] * 2
            user += 1
    names = ("user_id", "better", "worse")
    write_parquet(dict(zip(names, map(list, zip(*rows, *more, strict=True)), strict=True)), path)
    return path


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"method": "spectral", "mixing": "0.2"}, Spectral(GRAPH, 40, 1, mixing="0.2")),
        ({"method": "borda"}, Borda(GRAPH, 40, 1)),
    ],
)
def test_the_whole_path_has_the_law_of_its_mechanism(
    tmp_path: Path, options: dict[str, Any], method: RankingMethod
) -> None:
    allowance = allowance_for(Facts(k=2, domain_size=4), epsilon="0.4", delta="0.01")
    assert isinstance(allowance, Allowance)
    scores = method.scores(VOTES)

    def law(scale: Fraction) -> Any:
        return ExponentialTopK(2, scale, monotone=False).distribution(scores)

    source: Source = open_source(table(tmp_path / "votes.parquet", VOTES, []))
    try:
        outcomes = [
            podium.rank(
                source, **ASK, **options, k=2, epsilon="0.4", delta="0.01", comparisons_per_pair=40,
                max_comparisons_per_user=1,
            ).outcome
            for _ in range(400)
        ]  # fmt: skip
    finally:
        source.close()
    assert_three_way(outcomes, law, scale=allowance.epsilon_per_item)


def sampler(**options: Any) -> Callable[[Source], podium.Release]:
    return lambda source: podium.rank(
        source, **{**ASK, **options}, k=1, epsilon=2, comparisons_per_pair=3, method="spectral", mixing="0.8"
    )


def neighbours(folder: Path) -> Pair:
    """One user more, who prefers z to everything, thirty times; everybody else prefers a."""
    votes = {("a", "b"): 3, ("a", "c"): 3, ("a", "d"): 3}
    more = [(10_000, "d", other) for other in "abc"] * 30
    sides = (table(folder / f"{name}.parquet", votes, rows) for name, rows in (("left", []), ("right", more)))
    return Pair("one more user", *map(open_source, sides))


def test_the_whole_path_keeps_its_promise(tmp_path: Path) -> None:
    pair = neighbours(tmp_path)
    report = statistical_audit(sampler(), 2, pairs=[pair], samples=160, alpha=ALPHA, name="the whole path of a ranking")
    assert not report.violated, str(report)
    assert report.draws == 160


def test_a_user_column_that_names_rows_is_caught(tmp_path: Path) -> None:
    """A person's votes under many names: the sensitivity of one of them is far too small for all."""
    votes = {("a", "b"): 60, ("a", "c"): 60, ("a", "d"): 60}
    more = [(10_000 + number, "d", "abc"[number % 3]) for number in range(180)]
    sides = (table(tmp_path / f"{name}.parquet", votes, rows) for name, rows in (("left", []), ("right", more)))
    pair = Pair("one person", *map(open_source, sides))

    def ranked(source: Source) -> podium.Release:
        return podium.rank(
            source, **ASK, k=1, epsilon="0.5", comparisons_per_pair=60, max_comparisons_per_user=1, method="borda"
        )

    report = statistical_audit(ranked, "0.5", pairs=[pair], samples=400, alpha=ALPHA, name="by row")
    assert report.violated

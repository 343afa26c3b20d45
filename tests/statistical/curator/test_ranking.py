"""Comparisons from rows in a file, through SQL, scores and mechanism, as one black box: an audit of two neighbours.

These draws use the secure source of random bits, as the product does, so they cannot be replayed. That a sound path is
accused has a probability below 1e-9. The laws of the mechanisms themselves have their own tests; that the path hands
them the right scores is checked at a budget without noise, in tests/integration/curator/test_ranking.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.audit_cases import ALPHA

import podium
from podium.audit import Pair, statistical_audit
from podium.sources import Source, open_source
from podium.sources.parquet import write_parquet

ASK: dict[str, Any] = {"winner": "better", "loser": "worse", "user": "user_id", "items": ["a", "b", "c", "d"], "k": 1}
VOTES = [(user, "a", "d") for user in range(10)] * 2
"""Ten users prefer a to d, each twice in the table."""


def neighbours(folder: Path, votes: list[tuple[int, str, str]], more: list[tuple[int, str, str]]) -> Pair:
    """The votes, and the votes with those of one person more."""
    sides = []
    for name, rows in (("left", votes), ("right", votes + more)):
        path = folder / f"{name}.parquet"
        columns = map(list, zip(*rows, strict=True))
        write_parquet(dict(zip(("user_id", "better", "worse"), columns, strict=True)), path)
        sides.append(open_source(path))
    return Pair("one more person", *sides)


def test_the_whole_path_keeps_its_promise(tmp_path: Path) -> None:
    """The person has thirty rows of each comparison: they count once."""
    pair = neighbours(tmp_path, VOTES, [(99, "d", other) for other in "abc"] * 30)

    def ranked(source: Source) -> Any:
        return podium.rank(source, **ASK, epsilon=2, comparisons_per_pair=3, method="spectral", mixing="0.8")

    report = statistical_audit(ranked, 2, pairs=[pair], samples=160, alpha=ALPHA, name="the whole path of a ranking")
    assert not report.violated, str(report)
    assert report.draws == 160


def test_a_person_with_many_names_is_caught(tmp_path: Path) -> None:
    """The column declared as the user names rows: one person's 6,000 rows then count like those of 6,000 people.

    So many that each table has but one answer: the test needs no luck.
    """
    votes = [(user, "a", other) for user in range(1_000) for other in "bcd"]
    pair = neighbours(tmp_path, votes, [(1_000 + number, "d", "abc"[number % 3]) for number in range(6_000)])

    def ranked(source: Source) -> Any:
        return podium.rank(source, **ASK, epsilon="0.5", comparisons_per_pair=1, method="wins")

    report = statistical_audit(ranked, "0.5", pairs=[pair], samples=250, alpha=ALPHA, name="by row")
    assert report.violated, str(report)

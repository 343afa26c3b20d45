"""From two neighbouring Parquet files, through SQL, curator, ledger and mechanism, to a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.support.audit_cases import ALPHA

from podium.audit import CuratorSampler, Pair, neighbouring_tables, statistical_audit
from podium.errors import InvalidArgument
from podium.sources.parquet import write_parquet

COUNTS = {"a": 19, "b": 18}


def test_the_whole_path_keeps_its_promise(tmp_path: Path) -> None:
    """A busy user's thirty rows count once. These draws are of secure bits, so they cannot be replayed."""
    pair = neighbouring_tables(tmp_path / "tables", COUNTS, ["a", "b"], repeats=30)
    with CuratorSampler(tmp_path, k=1, epsilon=2) as sampler:
        promise = sampler(pair.left).guarantee
        report = statistical_audit(sampler, promise, pairs=[pair], samples=160, alpha=ALPHA, name="the whole path")
    assert not report.violated, str(report)
    assert report.draws == 160


def test_a_list_for_each_group_keeps_the_promise(tmp_path: Path) -> None:
    """One user more has items in three groups, one of which nobody else is in; orders, receipts and texts are seen."""
    counts = {("X", "a"): 19, ("X", "b"): 18, ("Y", "a"): 19}
    pair = neighbouring_tables(tmp_path / "tables", counts, [("X", "a"), ("Y", "a"), ("Z", "a")], repeats=3)
    with CuratorSampler(tmp_path, k=1, epsilon=2, per="group", groups_per_user=2) as sampler:
        promise = sampler(pair.left).guarantee
        report = statistical_audit(sampler, promise, pairs=[pair], samples=160, alpha=ALPHA, name="all groups")
    assert not report.violated, str(report)
    assert report.draws == 160


def test_a_table_whose_user_column_names_rows_is_caught(tmp_path: Path) -> None:
    """The owner declared the number of the row as the user: a person with 2,000 rows then counts 2,000 times.

    So many that each table has but one answer (another has a probability below e**-400): no draw of luck is needed.
    """
    tables = []
    for name, rows in (("left", ["a"] * 3), ("right", ["a"] * 2003)):
        path = tmp_path / f"{name}.parquet"
        write_parquet({"row": list(range(len(rows))), "item": rows}, path)
        tables.append(path)
    with CuratorSampler(tmp_path, k=1, epsilon="0.5", user="row") as sampler:
        promise = sampler(tables[0]).guarantee
        report = statistical_audit(
            sampler, promise, pairs=[Pair("one person", *tables)], samples=250, alpha=ALPHA, name="by row"
        )
    assert report.violated
    assert report.draws <= 250


def test_neighbouring_tables_differ_by_one_user(tmp_path: Path) -> None:
    pair = neighbouring_tables(tmp_path, {"a": 2, "b": 1}, ["b", "c"], repeats=2)
    left, right = (pq.read_table(path).to_pylist() for path in (pair.left, pair.right))
    assert right[: len(left)] == left
    extra: list[Any] = right[len(left) :]
    assert {row["user_id"] for row in extra}.isdisjoint({row["user_id"] for row in left})
    assert [row["item"] for row in extra] == ["b", "c", "b", "c"]
    with pytest.raises(InvalidArgument, match=r"basket=\(\) is not valid. Allowed: the items of the extra user"):
        neighbouring_tables(tmp_path, {"a": 1}, [])

"""The table of an answer: bars on one scale, intervals where the release says how noisy its counts are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.service.serving import views

import podium
from podium.release import GroupedRelease, Release
from podium.service.pages.answer_table import answer_table


def _release(tmp_path: Path, **options: Any) -> Release:
    views(tmp_path / "views.parquet", users=600)
    return podium.top(
        str(tmp_path / "views.parquet"), user="user_id", item="article", k=3, epsilon=20, delta="1e-6", **options
    )


def test_bars_are_as_long_as_their_values(tmp_path: Path) -> None:
    release = _release(tmp_path, counts=True)
    table = answer_table(release, "article")
    assert table.margin is not None
    assert table.headers[:3] == ["rank", "article", "users"]
    ((group, rows),) = table.lists
    assert group == ()
    assert [row.cells[1] for row in rows] == ["a0", "a1", "a2"]
    most = max(table.margin.around(value)[1] for value in release.values or ())
    for row, value in zip(rows, release.values or (), strict=True):
        assert row.bar is not None
        low, high = table.margin.around(value)
        assert (row.bar.start, row.bar.width) == ("0.00", f"{float(100 * value / most):.2f}")
        assert (row.bar.low, row.bar.reach) == (
            f"{float(100 * low / most):.2f}",
            f"{float(100 * (high - low) / most):.2f}",
        )


def test_signed_values_have_bars_on_both_sides_of_nothing(tmp_path: Path) -> None:
    release = replace(
        _release(tmp_path, counts=True), values=(Fraction(300), Fraction(0), Fraction(-100)), parameters={}
    )
    release = replace(release, paid=replace(release.paid, events=()))
    rows = answer_table(release, "article").lists[0][1]
    assert [(row.bar.start, row.bar.width) for row in rows if row.bar] == [
        ("25.00", "75.00"), ("25.00", "0.00"), ("0.00", "25.00")
    ]  # fmt: skip


def test_a_list_without_counts_has_no_bars_and_an_empty_one_no_rows(tmp_path: Path) -> None:
    release = _release(tmp_path)
    assert all(row.bar is None for row in answer_table(release, "article").lists[0][1])
    assert answer_table(replace(release, outcome=(), values=None), "article").lists == []


def test_groups_share_one_scale(tmp_path: Path) -> None:
    release = _release(tmp_path, counts=True, per="country")
    assert isinstance(release, GroupedRelease)
    table = answer_table(release, "article")
    assert table.per == ["country"]
    assert [group for group, _ in table.lists] == [("DE",), ("FR",)]
    ends = [float(row.bar.low) + float(row.bar.reach) for _, rows in table.lists for row in rows if row.bar]
    assert abs(max(ends) - 100) < 0.02
    assert len(ends) == sum(len(found.items) for found in release.lists.values())

"""Lists over time as text: a line for each list, and a row for each place."""

from __future__ import annotations

from tests.support.grouped_releases import grouped_release

from podium.present.text.timeline import lists_csv, lists_text
from podium.release import RankedList

ONE = {"DE": RankedList(("a", "=b"), 3), "F\x1b[R": RankedList((), 3)}


def test_a_line_for_each_group_of_each_period() -> None:
    lists = {"2026-01-01": grouped_release(ONE), "2026-01-02": grouped_release({})}
    assert lists_text(lists).splitlines() == [
        "2026-01-01  DE         a, =b, (1 fewer than 3)",
        "2026-01-01  'F\\x1b[R'  (3 fewer than 3)",
        "2026-01-02             (no group with enough users)",
    ]
    assert lists_text({}) == "No period is over yet."
    assert lists_text({"2026-01-02": grouped_release({})}) == "2026-01-02  (no group with enough users)"


def test_the_columns_of_the_group_follow_the_period() -> None:
    pairs = {("DE", 1): RankedList(("a", "=b"), 3), ("DE", 2): RankedList(("c",), 2)}
    told = lists_csv(
        {"2026-01-01": grouped_release(pairs, per=("country", "=year")), "2026-01-02": grouped_release({})}
    )
    assert told.splitlines() == [
        "period,country,'=year,rank,item",
        "2026-01-01,DE,1,1,a",
        "2026-01-01,DE,1,2,'=b",
        "2026-01-01,DE,2,1,c",
    ]

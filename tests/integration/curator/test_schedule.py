"""Answers on a schedule: what becomes of a question is settled and told a whole number of periods after it began."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command_line import ASK, TOTAL, podium, write_views
from tests.support.curator.monitoring import TWO_OVER, events, monitor
from tests.support.curator.tables import BUDGET, curator, views

from podium import Curator
from podium.curator.timing import delay_to_period, time_left
from podium.errors import InvalidArgument, QuestionForfeited
from podium.ledger import Kind, open_ledger

PERIOD = Fraction(3, 10)


def replace_sleep(monkeypatch: pytest.MonkeyPatch, sleep: Callable[[float], None]) -> None:
    """Put another sleep in place, for this thread: those that other tests left running go on as they did."""
    real, here = time.sleep, threading.get_ident()

    def either(seconds: float) -> None:
        if threading.get_ident() == here:
            sleep(seconds)
        else:
            real(seconds)

    monkeypatch.setattr(time, "sleep", either)


@given(st.floats(0, 1e6), st.fractions("0.001", 1000))
def test_the_end_is_the_next_multiple(elapsed: float, period: Fraction) -> None:
    left = time_left(elapsed, period)
    assert 0 <= left <= float(period)
    end = (Fraction(elapsed) + Fraction(left)) / period
    # Up to the rounding of one float.
    assert abs(end - max(1, round(end))) <= Fraction(left) * Fraction(2) ** -50 / period + Fraction(2) ** -60


def test_times_on_the_grid_are_kept() -> None:
    assert time_left(0.0, Fraction(1, 2)) == 0.5
    assert time_left(0.5, Fraction(1, 2)) == 0.0
    assert time_left(0.75, Fraction(1, 2)) == 0.25


def test_nothing_is_settled_or_told_before_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[tuple[float, int, int]] = []
    with curator(views(tmp_path / "views.parquet"), answer_every=PERIOD) as (made, source):

        def sleep(seconds: float) -> None:
            waited.append((seconds, made.status.open_reservations, made.status.failures))

        replace_sleep(monkeypatch, sleep)
        release = made.top("article", k=3)
        assert release.paid.entry is not None
        # The answer was there, and the ledger, which others may watch, did not say so yet.
        assert [(opened, failures) for _, opened, failures in waited] == [(1, 0)]
        source.failure = RuntimeError("a row")
        with pytest.raises(QuestionForfeited):
            made.top("article", k=4)
        assert [(opened, failures) for _, opened, failures in waited] == [(1, 0), (1, 0)]
        assert made.status.failures == 1
        assert all(0 <= seconds <= float(PERIOD) for seconds, _, _ in waited)
        # What was released before reads no rows, and is told at once; so is a question that cannot be asked.
        made.top("article", k=3)
        made.plan("article", k=3)
        with pytest.raises(InvalidArgument):
            made.top("article", k=0)
        assert len(waited) == 2


def test_an_interruption_is_not_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sleep(monkeypatch, lambda seconds: pytest.fail(f"waited {seconds}"))
    with pytest.raises(KeyboardInterrupt), delay_to_period(PERIOD):
        raise KeyboardInterrupt


@pytest.mark.parametrize("period", [0, -1, "soon", float("inf"), 86_401])
def test_periods_that_are_none(tmp_path: Path, period: object) -> None:
    with (
        pytest.raises(InvalidArgument, match="answer_every="),
        curator(views(tmp_path / "views.parquet"), answer_every=period),
    ):
        pass


def test_the_command_line_waits_too(tmp_path: Path) -> None:
    write_views(tmp_path)
    ask = ["top", str(tmp_path / "views.parquet"), *ASK, *TOTAL, "-k", "2", "--answer-every"]
    start = time.monotonic()
    assert podium(*ask, "1.5").exit_code == 0
    assert time.monotonic() - start >= 1.5
    assert podium(*ask, "never").exit_code == 2


def test_rankings_and_monitors_wait_for_each_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is counted, and that nothing was settled by then; nothing sleeps here."""
    waited: list[int] = []
    with open_ledger(tmp_path / "ledger.db") as ledger:

        def sleep(seconds: float) -> None:
            assert 0 <= seconds <= float(PERIOD)
            waited.append(sum(ledger.status(name).open_reservations for name in ledger.datasets()))

        replace_sleep(monkeypatch, sleep)
        votes = tmp_path / "votes.csv"
        votes.write_text("who,better,worse\n" + "".join(f"{user},a,b\n" for user in range(50)), encoding="utf-8")
        asking = {"winner": "better", "loser": "worse", "comparisons_per_pair": 50, "items": ["a", "b"], "k": 1}
        with Curator(votes, dataset="votes", user="who", ledger=ledger, budget=BUDGET, answer_every=PERIOD) as made:
            made.rank(**asking)  # type: ignore[arg-type]
            assert waited == [1]
        with monitor(events(tmp_path / "events.parquet"), ledger=ledger, periods=2, answer_every=PERIOD) as watching:
            lists = list(watching.run(TWO_OVER))
            # Two lists, and a round of finding at least before the first.
            asked = sum(entry.kind is Kind.RESERVED for entry in ledger.history("daily"))
            assert len(lists) == 2 < asked
            assert waited == [1] * (1 + asked)
            list(watching.run(TWO_OVER))
            assert len(waited) == 1 + asked
    with pytest.raises(InvalidArgument, match="answer_every="):
        monitor(tmp_path / "events.parquet", answer_every=0)


def test_every_command_that_reads_rows_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    replace_sleep(monkeypatch, waited.append)
    votes, items = tmp_path / "votes.csv", tmp_path / "items.csv"
    votes.write_text("who,better,worse\n" + "".join(f"{user},a,b\n" for user in range(50)), encoding="utf-8")
    items.write_text("item\na\nb\n", encoding="utf-8")
    rank = ("rank", str(votes), "--winner", "better", "--loser", "worse", "--user", "who", "-k", "1", "--epsilon", "1",
            "--comparisons-per-pair", "50", "--items", str(items), "--answer-every")  # fmt: skip
    assert podium(*rank, "1000").exit_code == 0
    watch = ("watch", str(events(tmp_path / "events.parquet")), "--item", "item", "--user", "user_id", "--time", "at",
             "--start", "2026-01-01", "--periods", "1", "-k", "2", *TOTAL, "--ledger", str(tmp_path / "ledger.db"),
             "--answer-every")  # fmt: skip
    assert podium(*watch, "1000").exit_code == 0
    assert len([seconds for seconds in waited if seconds > 500]) == 3
    assert {podium(*command, "never").exit_code for command in (rank, watch)} == {2}

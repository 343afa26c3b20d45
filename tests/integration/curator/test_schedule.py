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
from tests.command_line import ASK, TOTAL, podium, write_views
from tests.integration.curator.tables import curator, views

from podium.curator.schedule import on_schedule, time_left
from podium.errors import InvalidArgument, QuestionForfeited

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
        made.top("article", k=3, dry_run=True)
        with pytest.raises(InvalidArgument):
            made.top("article", k=0)
        assert len(waited) == 2


def test_an_interruption_is_not_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sleep(monkeypatch, lambda seconds: pytest.fail(f"waited {seconds}"))

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_schedule(PERIOD, interrupted)


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

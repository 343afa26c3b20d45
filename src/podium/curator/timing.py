"""Delayed answers: the running time is rounded up to a multiple of a public period, whatever the outcome."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction

__all__ = ["delay_to_period", "period_of", "time_left"]

_MAX_PERIOD = 86_400


def period_of(seconds: Number | None) -> Fraction | None:
    """The period that the caller stated; None for no delay."""
    if seconds is None:
        return None
    period = positive_fraction(seconds, "answer_every")
    if period > _MAX_PERIOD:
        raise InvalidArgument(
            "answer_every", seconds, allowed=f"a number of seconds up to {_MAX_PERIOD}, which is a day"
        )
    return period


@contextmanager
def delay_to_period(period: Fraction | None) -> Iterator[None]:
    """Leave the block, with a result or an error, a multiple of the period after it was entered.

    An interruption comes from the caller and is not delayed.
    """
    if period is None:
        yield
        return
    start = time.monotonic()
    try:
        yield
    except Exception:
        _wait(start, period)
        raise
    _wait(start, period)


def time_left(elapsed: float, period: Fraction) -> float:
    """Seconds until the next multiple of the period, which is at least one period."""
    exact = Fraction(elapsed)
    return float(period * max(1, math.ceil(exact / period)) - exact)


def _wait(start: float, period: Fraction) -> None:
    time.sleep(time_left(time.monotonic() - start, period))

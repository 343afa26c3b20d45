"""Answers on a schedule: how long the work took is rounded up to a public period, whatever came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction

__all__ = ["on_schedule", "period_of", "time_left"]

T = TypeVar("T")

_LONGEST = 86_400


def period_of(seconds: Number | None) -> Fraction | None:
    """The period that a caller states; None for answers as soon as there are any."""
    if seconds is None:
        return None
    period = positive_fraction(seconds, "answer_every")
    if period > _LONGEST:
        raise InvalidArgument("answer_every", seconds, allowed=f"a number of seconds up to {_LONGEST}, which is a day")
    return period


def on_schedule(period: Fraction | None, action: Callable[[], T]) -> T:
    """What the action returns or raises, told a whole number of periods after it began.

    An interruption comes from whoever asks, and is passed on at once.
    """
    if period is None:
        return action()
    start = time.monotonic()
    try:
        result = action()
    except Exception:
        _wait(start, period)
        raise
    _wait(start, period)
    return result


def time_left(elapsed: float, period: Fraction) -> float:
    """Seconds until the next whole number of periods, which is at least one."""
    exact = Fraction(elapsed)
    return float(period * max(1, math.ceil(exact / period)) - exact)


def _wait(start: float, period: Fraction) -> None:
    time.sleep(time_left(time.monotonic() - start, period))

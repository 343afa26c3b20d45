"""Rate limits: a token bucket per caller, in the memory of one worker."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from threading import Lock

from podium.wire.refusals import too_many

__all__ = ["Rate"]

_MAX_CALLERS = 10_000


class Rate:
    """At most ``per_minute`` requests of a kind, for each caller."""

    def __init__(self, what: str, per_minute: int) -> None:
        self._what, self._per_minute = what, per_minute
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def take(self, caller: str, number: int = 1) -> None:
        """Take one from the caller's bucket, or several; raises if there are too few.

        More than a full bucket holds are as many as it holds: otherwise they could never be taken.
        """
        number = min(number, self._per_minute)
        moment = time.monotonic()
        with self._lock:
            level, last = self._buckets.pop(caller, (float(self._per_minute), moment))
            level = min(float(self._per_minute), level + (moment - last) * self._per_minute / 60)
            allowed = level >= number
            self._buckets[caller] = (level - number * allowed, moment)
            while len(self._buckets) > _MAX_CALLERS:
                self._buckets.popitem(last=False)
        if not allowed:
            raise too_many(self._what, self._per_minute, math.ceil((number - level) * 60 / self._per_minute))

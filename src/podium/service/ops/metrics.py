"""Prometheus counters of one worker. None depends on rows: no durations, no sizes, no budgets.

Durations and remaining budgets depend on answers, and whoever scrapes metrics is not an analyst.
"""

from __future__ import annotations

import os
from collections import Counter
from threading import Lock

from podium.version import __version__

__all__ = ["Metrics"]


class Metrics:
    """Counts answered requests by route and status."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._lock = Lock()

    def count(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        with self._lock:
            self._requests[method, route, status] += 1

    def text(self) -> str:
        """The counters in exposition format 0.0.4."""
        with self._lock:
            counted = sorted(self._requests.items())
        worker = f'worker="{os.getpid()}"'
        return "\n".join(
            [
                "# HELP podium_build_info The version that runs.",
                "# TYPE podium_build_info gauge",
                f'podium_build_info{{version="{__version__}"}} 1',
                "# HELP podium_requests_total Requests answered by this worker.",
                "# TYPE podium_requests_total counter",
                *(
                    f'podium_requests_total{{{worker},method="{method}",route="{route}",status="{status}"}} {number}'
                    for (method, route, status), number in counted
                ),
                "",
            ]
        )

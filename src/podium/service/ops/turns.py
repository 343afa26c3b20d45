"""Whose turn it is: a few threads, and behind them a line for each analyst and data set, served in turn.

One line for all would make everybody wait for whoever asks most. Here the next to be served is one of the analyst who
has the fewest questions running; of several, who was served longest ago; and of their lines, that of the data set with
the fewest questions running. The last free thread is kept for an analyst who has none: however long somebody's
questions take, another's first one begins at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from podium.wire.refusals import Refusal, too_many_waiting

__all__ = ["Line", "Runner"]

T = TypeVar("T")

_MAX_ANALYSTS = 10_000
"""How many analysts' turns are kept; who was served before that has waited longest."""


@dataclass(frozen=True, slots=True)
class Line:
    """Who asks about what."""

    analyst: str
    dataset: str


@dataclass(frozen=True, slots=True)
class _Task:
    line: Line
    work: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class Runner:
    """The threads in which questions are answered: ``parallel`` at a time, ``queued`` behind them.

    One analyst may have ``each`` of these waiting. Who has nothing here is let in even where the lines are full.
    """

    def __init__(self, *, parallel: int, queued: int, each: int, name: str = "question") -> None:
        self._pool = ThreadPoolExecutor(parallel, thread_name_prefix=name)
        self._parallel, self._queued, self._each = parallel, queued, each
        self._lines: OrderedDict[Line, deque[_Task]] = OrderedDict()
        self._turns: OrderedDict[str, int] = OrderedDict()
        self._analysts: Counter[str] = Counter()
        self._datasets: Counter[str] = Counter()
        self._turn = 0
        self._stopping = False
        self._lock = threading.Lock()

    def submit(self, line: Line, work: Callable[[], T]) -> Future[T]:
        """Run it when its turn comes; refused if too many wait."""
        waiting = _Task(line, work)
        with self._lock:
            self._admit(line.analyst)
            self._lines.setdefault(line, deque()).append(waiting)
            self._start_next()
        return waiting.future

    async def run(self, line: Line, work: Callable[[], T]) -> T:
        """Run it and wait for it."""
        return await asyncio.wrap_future(self.submit(line, work))

    def stop(self) -> None:
        """Let what is being read end, however long that takes; what is queued is given up, free of charge."""
        with self._lock:
            self._stopping = True
            given_up = [waiting for line in self._lines.values() for waiting in line]
            self._lines.clear()
        for waiting in given_up:
            waiting.future.cancel()
            waiting.future.set_running_or_notify_cancel()
        self._pool.shutdown(wait=True)

    def _admit(self, analyst: str) -> None:
        if self._stopping:
            raise Refusal(
                503, "The service is stopping. Nothing was charged. Ask again in a moment.", error="Stopping",
                retry_after=5,
            )  # fmt: skip
        own = sum(len(waiting) for line, waiting in self._lines.items() if line.analyst == analyst)
        if own >= self._each:
            raise too_many_waiting(own, self._each)
        everybody = sum(map(len, self._lines.values()))
        if everybody >= self._queued and (own or self._analysts[analyst]):
            raise Refusal(
                503,
                f"There are {everybody} questions waiting. Allowed: {self._queued} at a time. "
                "Nothing was charged; try again in a few seconds.",
                error="Busy",
                retry_after=5,
            )

    def _start_next(self) -> None:
        """Fill the free threads; called with the lock held."""
        while (free := self._parallel - self._analysts.total()) > 0:
            line = self._next(last=free == 1 and self._parallel > 1)
            if line is None:
                return
            self._pool.submit(self._serve, self._take(line))

    def _next(self, *, last: bool) -> Line | None:
        """The line to serve; lines that were served longest ago come first, and the first of equals is taken."""
        lines = (line for line in self._lines if not (last and self._analysts[line.analyst]))
        return min(lines, key=self._urgency, default=None)

    def _urgency(self, line: Line) -> tuple[int, int, int]:
        return self._analysts[line.analyst], self._turns.get(line.analyst, 0), self._datasets[line.dataset]

    def _take(self, line: Line) -> _Task:
        waiting = self._lines[line].popleft()
        self._analysts[line.analyst] += 1
        self._datasets[line.dataset] += 1
        self._turn += 1
        self._turns.pop(line.analyst, None)
        self._turns[line.analyst] = self._turn
        while len(self._turns) > _MAX_ANALYSTS:
            self._turns.popitem(last=False)
        if self._lines[line]:
            self._lines.move_to_end(line)
        else:
            del self._lines[line]
        return waiting

    def _serve(self, waiting: _Task) -> None:
        if not waiting.future.set_running_or_notify_cancel():
            self._finish(waiting.line)
            return
        try:
            result = waiting.work()
        except BaseException as error:  # noqa: BLE001 - told to whoever waits for it
            self._finish(waiting.line)
            waiting.future.set_exception(error)
        else:
            self._finish(waiting.line)
            waiting.future.set_result(result)

    def _finish(self, line: Line) -> None:
        """Before the result is told: whoever asks next because of it has nothing running any more."""
        with self._lock:
            for counted, name in ((self._analysts, line.analyst), (self._datasets, line.dataset)):
                counted[name] -= 1
                if not counted[name]:
                    del counted[name]
            if not self._stopping:
                self._start_next()

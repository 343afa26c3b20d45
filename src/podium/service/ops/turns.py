"""Fair scheduling: a few threads, and a queue for each analyst and data set.

With a single queue everybody would wait for whoever asks most. Here the next question is one of the analyst with the
fewest running questions; among several, the one served longest ago; and among that analyst's queues, the data set with
the fewest running questions. The last free thread is reserved for an analyst who has none running: however long other
questions take, an analyst's first one starts at once.
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
"""Number of analysts whose last turn is remembered; all others count as waiting longest."""


@dataclass(frozen=True, slots=True)
class Line:
    """A queue: the questions of one analyst about one data set."""

    analyst: str
    dataset: str


@dataclass(frozen=True, slots=True)
class _Task:
    line: Line
    work: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class Runner:
    """Runs questions in threads: ``parallel`` at a time, with up to ``queued`` waiting.

    One analyst may have ``each`` of these waiting. An analyst without any question is admitted even if the queues are
    full.
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
        """Queue the work; raises if too much is waiting."""
        waiting = _Task(line, work)
        with self._lock:
            self._admit(line.analyst)
            self._lines.setdefault(line, deque()).append(waiting)
            self._start_next()
        return waiting.future

    async def run(self, line: Line, work: Callable[[], T]) -> T:
        """Queue the work and wait for its result."""
        return await asyncio.wrap_future(self.submit(line, work))

    def stop(self) -> None:
        """Finish running questions, however long they take; cancel queued ones, free of charge."""
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
        """Start work on the free threads; the caller holds the lock."""
        while (free := self._parallel - self._analysts.total()) > 0:
            line = self._next(last=free == 1 and self._parallel > 1)
            if line is None:
                return
            self._pool.submit(self._serve, self._take(line))

    def _next(self, *, last: bool) -> Line | None:
        """The queue to serve next; ties go to the queue served longest ago."""
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
        except BaseException as error:  # noqa: BLE001 - raised by the future
            self._finish(waiting.line)
            waiting.future.set_exception(error)
        else:
            self._finish(waiting.line)
            waiting.future.set_result(result)

    def _finish(self, line: Line) -> None:
        """Release the thread, before the result is set: a follow-up question must not find this one still running."""
        with self._lock:
            for counted, name in ((self._analysts, line.analyst), (self._datasets, line.dataset)):
                counted[name] -= 1
                if not counted[name]:
                    del counted[name]
            if not self._stopping:
                self._start_next()

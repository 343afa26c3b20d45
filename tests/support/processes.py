"""Other processes for the tests: started quickly, all at once, and what they return."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from typing import Any

__all__ = ["context", "together"]

# What the work of these processes would import, and its first question: a second of processor time for each of them.
_PRELOADED = (
    "tests.support.curator.monitoring",
    "tests.support.ledger.workers",
    "podium.storage.postgresql",
    "sqlglot.generators.duckdb",
    "pandas",
    "pyarrow.pandas_compat",
    "scipy.special",
)


def context() -> ForkServerContext:
    """Processes that start quickly, from a server that has imported the package once."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(list(_PRELOADED))
    return found


def together(count: int, work: Callable[..., Any], *arguments: object) -> list[Any]:
    """Run ``work(number, *arguments)`` in ``count`` processes at the same time."""
    here = context()
    barrier, results = here.Barrier(count), here.SimpleQueue()
    processes = [here.Process(target=_run, args=(barrier, results, work, number, arguments)) for number in range(count)]
    for process in processes:
        process.start()
    answers = [results.get() for _ in processes]
    for process in processes:
        process.join()
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    return answers


def _run(barrier: Any, results: Any, work: Callable[..., Any], number: int, arguments: tuple[object, ...]) -> None:
    barrier.wait()
    try:
        results.put(work(number, *arguments))
    except Exception as error:  # noqa: BLE001 - reported by the parent
        results.put(error)

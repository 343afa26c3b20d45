"""One question in a process of its own, so that its peak memory is nobody else's.

    python -m bench.scale.child '{"who": "podium", "folder": ..., ...}'

Prints the seconds, the processor seconds, the peak of resident memory (DuckDB is in this process, so it is in that
number), what DuckDB put aside on disk at most, how often the question read its kept pairs and how many rows left the
engine, and if asked the peak of what Python allocated. A question that fails prints the kind of its error.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb

import podium
from bench.measure import peak_extra_bytes
from bench.scale.questions import QUESTIONS, K
from bench.scale.reads import counted
from podium.errors import PodiumError
from podium.sources import DuckDBSource

__all__ = ["EPSILON", "main", "measured"]

EPSILON, DELTA = 1, "1e-8"
_FIRST = next(iter(QUESTIONS))
_PAUSE = 0.05


def main(argv: Sequence[str] | None = None) -> int:
    """Reads the task and prints what it took."""
    (task,) = sys.argv[1:] if argv is None else argv
    try:
        found = measured(**json.loads(task))
    except (PodiumError, duckdb.Error) as error:
        # For whoever waits: it may name a folder of this machine, so it is not kept.
        print(error, file=sys.stderr)
        found = {"failed": type(error).__name__}
    print(json.dumps(found))
    return 0


def measured(
    *,
    who: str,
    folder: str,
    memory_limit: str | None = None,
    spill: str | None = None,
    traced: bool = False,
    repetitions: int = 1,
    question: str = _FIRST,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Asks ``who`` (podium, or the plain query) about the table in the folder; ``options`` replace the question's."""
    asked = QUESTIONS[question]
    with tempfile.TemporaryDirectory(prefix="podium-bench-", dir=spill) as aside, counted() as reads:
        if who == "podium":
            opened = _podium(folder, memory_limit, aside, options or dict(asked.options))
        else:
            opened = _plain(folder, memory_limit, aside, asked.plain)
        with opened as ask:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            if traced:
                return {"python_peak_bytes": peak_extra_bytes(ask)}
            seconds, processor, before_reads = [], [], dataclasses.replace(reads)
            with _watched(Path(aside)) as most:
                for _ in range(repetitions):
                    start, busy = time.perf_counter(), time.process_time()
                    ask()
                    seconds.append(time.perf_counter() - start)
                    processor.append(time.process_time() - busy)
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "rss_before": before,
        "rss_peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "spilled_bytes": most[0],
        "kept_reads": (reads.pairs - before_reads.pairs) / repetitions,
        "leaving": (reads.rows - before_reads.rows) / repetitions,
    }


@contextmanager
def _podium(folder: str, limit: str | None, aside: str, options: dict[str, Any]) -> Iterator[Callable[[], object]]:
    question = {"item": "item", "user": "user_id", "k": K, "epsilon": EPSILON, "delta": DELTA, **options}
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as small:
        tiny = f"{small}/tiny.parquet"
        columns = "i % 100 AS user_id, i % 7 AS item, i % 3 AS region, i % 5 AS amount"
        duckdb.execute(f"COPY (SELECT {columns} FROM range(1000) AS r (i)) TO '{tiny}'")  # noqa: S608
        # The first question of a process imports, and calibrates what belongs to no table.
        podium.top(tiny, **question)
    with closing(DuckDBSource(folder, memory_limit=limit, temp_directory=aside)) as source:
        yield lambda: podium.top(source, **question)


@contextmanager
def _plain(folder: str, limit: str | None, aside: str, query: str) -> Iterator[Callable[[], object]]:
    config: dict[str, Any] = {"temp_directory": aside} | ({"memory_limit": limit} if limit else {})
    with duckdb.connect(config=config) as connection:
        connection.execute("SET enable_progress_bar = false")
        text = query.format(table=f"read_parquet('{folder}/*.parquet')")
        yield lambda: connection.execute(text).fetchall()


@contextmanager
def _watched(folder: Path) -> Iterator[list[int]]:
    """The most bytes that were in the folder at once, as far as a look now and then can tell."""
    most, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(_PAUSE):
            most[0] = max(most[0], sum(map(_size, folder.rglob("*"))))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def _size(path: Path) -> int:
    try:
        # What a file takes of the disk: DuckDB's are sparse.
        return path.stat().st_blocks * 512
    except OSError:
        return 0


def _end_with(parent: int) -> None:
    """Ends this process soon after the bench, which may have been killed: the next run needs its memory and disk."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    raise SystemExit(main())

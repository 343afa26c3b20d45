"""What a ledger takes: decisions per second, bytes per entry, and how fast it is verified."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.engines.servers import missing
from bench.postgresql import postgresql
from podium import Budget
from podium.ledger import Ledger, open_ledger
from podium.privacy import Selection

__all__ = ["ledgers"]

_BUDGETS = {
    name: Budget(epsilon=100, delta="1e-3", items=1_000_000, questions=1_000_000, filter=name)
    for name in ("zcdp", "gaussian")
}
_ITEMS = 10
_RELEASE = json.dumps({"outcome": [f"an item of ordinary length, {number}" for number in range(_ITEMS)]})


def ledgers(decisions: int, callers: int) -> list[dict[str, Any]]:
    """SQLite, and PostgreSQL where it is installed: by one caller, and by several, each on a data set of its own."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        found = [_in_file(Path(folder) / f"{name}.db", name, decisions, callers) for name in _BUDGETS]
    if missing("PostgreSQL") is None:
        with postgresql() as server:
            opened, size = partial(open_ledger, server.url), partial(_bytes, server.url)
            found += [_measured("PostgreSQL", name, opened, decisions, callers, size) for name in _BUDGETS]
    return found


def _in_file(path: Path, budget: str, decisions: int, callers: int) -> dict[str, Any]:
    return _measured("SQLite", budget, partial(open_ledger, path), decisions, callers, lambda: path.stat().st_size)


def _measured(
    engine: str, budget: str, opened: Callable[[], Ledger], decisions: int, callers: int, size: Callable[[], int]
) -> dict[str, Any]:
    with opened() as ledger:
        names = [f"{budget}-{number}" for number in range(callers)]
        for name in names:
            ledger.register(name, _BUDGETS[budget], source=name)
        empty = size()
        alone = _elapsed([partial(_decide, ledger, names[0], budget, decisions)])
        together = _elapsed([partial(_decide, ledger, name, budget, decisions // callers) for name in names])
        entries = sum(len(ledger.history(name)) for name in names)
        grown = size() - empty
        start, busy = time.perf_counter(), time.process_time()
        found = [ledger.verify(name) for name in names]
        verified, busy = time.perf_counter() - start, time.process_time() - busy
    if not all(one.sound for one in found):
        raise RuntimeError("the chain does not verify")
    return {
        "engine": engine if budget == "zcdp" else f"{engine}, Gaussian filter",
        "decisions": decisions,
        "callers": callers,
        "decisions_per_second": decisions / alone,
        "decisions_per_second_together": decisions // callers * callers / together,
        "entries": entries,
        "bytes_per_entry": grown / (entries - callers),
        "verified_entries_per_second": entries / verified,
        "verified_entries_per_processor_second": entries / busy,
    }


def _decide(ledger: Ledger, dataset: str, budget: str, decisions: int) -> None:
    """A decision is a reservation and its settlement, each of them a transaction on disk."""
    events = (Selection(_BUDGETS[budget].plan.epsilon_per_item),) * _ITEMS
    for number in range(decisions):
        reservation = ledger.reserve(dataset, events, f"question {threading.get_ident()} {number}")
        ledger.settle(reservation, _RELEASE, events)


def _elapsed(jobs: list[Callable[[], None]]) -> float:
    threads = [threading.Thread(target=job) for job in jobs]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def _bytes(url: str) -> int:
    import psycopg  # noqa: PLC0415 - not everybody has it

    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(found[0]) if found else 0

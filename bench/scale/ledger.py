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

_BUDGET = Budget(epsilon=100, delta="1e-3", items=1_000_000, questions=1_000_000)
_ITEMS = 10
_RELEASE = json.dumps({"outcome": [f"an item of ordinary length, {number}" for number in range(_ITEMS)]})


def ledgers(decisions: int, callers: int) -> list[dict[str, Any]]:
    """SQLite, and PostgreSQL where it is installed: by one caller, and by several, each on a data set of its own."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        path = Path(folder) / "ledger.db"
        found = [_measured("SQLite", lambda: open_ledger(path), decisions, callers, lambda: path.stat().st_size)]
    if missing("PostgreSQL") is None:
        with postgresql() as server:
            url = server.url
            found.append(_measured("PostgreSQL", lambda: open_ledger(url), decisions, callers, lambda: _bytes(url)))
    return found


def _measured(
    engine: str, opened: Callable[[], Ledger], decisions: int, callers: int, size: Callable[[], int]
) -> dict[str, Any]:
    with opened() as ledger:
        names = [f"clicks-{number}" for number in range(callers)]
        for name in names:
            ledger.register(name, _BUDGET, source=name)
        empty = size()
        alone = _elapsed([partial(_decide, ledger, names[0], decisions)])
        together = _elapsed([partial(_decide, ledger, name, decisions // callers) for name in names])
        entries = sum(len(ledger.history(name)) for name in names)
        grown = size() - empty
        start = time.perf_counter()
        sound = ledger.verify().sound
        verified = time.perf_counter() - start
    if not sound:
        raise RuntimeError("the chain does not verify")
    return {
        "engine": engine,
        "decisions": decisions,
        "callers": callers,
        "decisions_per_second": decisions / alone,
        "decisions_per_second_together": decisions // callers * callers / together,
        "entries": entries,
        "bytes_per_entry": grown / (entries - callers),
        "verified_entries_per_second": entries / verified,
    }


def _decide(ledger: Ledger, dataset: str, decisions: int) -> None:
    """A decision is a reservation and its settlement, each of them a transaction on disk."""
    events = (Selection(_BUDGET.plan.epsilon_per_item),) * _ITEMS
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

"""Many analysts who ask real workers at once, each question twice; and the books afterwards."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bench.serving import Running, new_token
from podium.ledger import Kind, open_ledger

__all__ = ["Seen", "ask", "check_books", "storm"]


@dataclass
class Seen:
    """What the analysts saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    entries: dict[str, set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


def ask(server: Running, token: str, body: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
    host = server.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request(
            "POST", "/v1/datasets/views/releases", json.dumps(body),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key},
        )  # fmt: skip
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def question(number: int) -> dict[str, Any]:
    """Mixed: some are asked by several analysts, some by one."""
    columns = ("article", "country", "weekday")
    return {"item": columns[number % 3], "k": 1 + number % 4, "where": f"weekday < {1 + number % 7}"}


def analyst(server: Running, token: str, name: int, seen: Seen, end: float) -> None:
    step = 0
    while time.monotonic() < end:
        key, body = f"{name}-{step}", question(5 * (name // 2) + step)
        # Every question is sent twice: an impatient caller.
        for _ in range(2):
            try:
                status, document = ask(server, token, body, key)
            except (OSError, http.client.HTTPException, ValueError):
                with seen.lock:
                    seen.lost += 1
                time.sleep(0.05)
                continue
            with seen.lock:
                seen.statuses[status] += 1
                seen.errors[document.get("error", "")] += 1
                if status == 200:
                    seen.entries.setdefault(key + str(name), set()).add(document["entry"])
        step += 1


def storm(server: Running, analysts: int, seconds: float, during: Callable[[], None] = lambda: None) -> Seen:
    tokens = [new_token(server, f"analyst-{number}") for number in range(analysts)]
    seen, end = Seen(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=analyst, args=(server, token, number, seen, end)) for number, token in enumerate(tokens)
    ]
    for thread in threads:
        thread.start()
    during()
    for thread in threads:
        thread.join()
    return seen


def check_books(ledger: str, seen: Seen) -> None:
    """The chain verifies, the total holds, and every answer that anybody saw was settled exactly once."""
    with open_ledger(ledger, create=False) as opened:
        assert opened.verify().sound
        status, history = opened.status("views"), opened.history("views")
    limits = status.totals.limits
    assert limits.rho is not None
    assert status.spent.rho + status.reserved.rho <= limits.rho
    assert status.spent.delta + status.reserved.delta <= limits.delta
    settled = Counter(entry.hash for entry in history if entry.kind is Kind.SETTLED)
    keys = Counter(entry.idempotency_key for entry in history if entry.idempotency_key is not None)
    assert max(keys.values(), default=1) == 1
    for entries in seen.entries.values():
        assert len(entries) == 1
        assert settled[next(iter(entries))] == 1
    paid = sum((entry.cost.rho for entry in history if entry.kind is Kind.SETTLED and entry.cost), Fraction(0))
    assert paid <= limits.rho

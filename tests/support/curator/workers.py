"""What other processes do in the tests of the whole path: ask until nothing is left, or die at a given step."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from podium import Curator
from podium.curator import settle
from podium.errors import BudgetExceeded
from podium.estimates import MeasureTogether
from podium.ledger import Ledger, open_ledger, reservations, single_flight
from podium.mechanisms import AdaptiveTopK, ExponentialTopK, LimitedDomain
from podium.sources import DuckDBSource
from podium.sources.sql.kept_pairs import SqlNamedPairs
from podium.sources.sql.snapshot import SqlSnapshot

__all__ = ["DOMAIN", "STEPS", "Step", "ask", "spend"]

DOMAIN = ("a", "b", "c", "nobody")
TIMEOUT = 60.0

Step = Callable[[], None]


def die() -> None:
    """As a power cut would have it."""
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str) -> Step:
    """Die when this is called."""

    def install() -> None:
        setattr(owner, name, lambda *_, **__: die())

    return install


def after(owner: Any, name: str) -> Step:
    """Die when this has done its work, before anybody hears of it."""

    def install() -> None:
        original = getattr(owner, name)

        def dying(*arguments: Any, **options: Any) -> None:
            original(*arguments, **options)
            die()

        setattr(owner, name, dying)

    return install


STEPS: dict[str, Step] = {
    "before the plan": before(Curator, "_prepare"),
    "before looking for a stored release": before(single_flight, "claim"),
    "before reserving": before(Ledger, "claim_together"),
    "while reserving, before it commits": after(reservations, "reserve"),
    "after reserving": after(Ledger, "claim_together"),
    "before the snapshot": before(DuckDBSource, "snapshot"),
    "before reading counts": before(SqlSnapshot, "counts_of_counts"),
    "before reading rows": before(SqlSnapshot, "top_rows"),
    "after reading counts": after(SqlSnapshot, "counts_of_counts"),
    "after reading rows": after(SqlSnapshot, "top_rows"),
    "after selecting in a known domain": after(ExponentialTopK, "release"),
    "after selecting in an unknown domain": after(LimitedDomain, "release"),
    "after measuring": after(MeasureTogether, "release"),
    "after measuring its sizes": after(SqlNamedPairs, "sizes"),
    "after all rounds": after(AdaptiveTopK, "release"),
    "before naming": before(SqlSnapshot, "names"),
    "after naming": after(SqlSnapshot, "names"),
    "before settling": before(Ledger, "settle"),
    "while settling, before it commits": after(reservations, "settle"),
    "after settling": after(Ledger, "settle"),
    "before the answer is returned": before(settle, "replace"),
}
"""Every place between two steps of a question."""


def ask(table: Path, step: str | None, *, known: bool, k: int = 2) -> None:
    """Ask one question and die at that step if there is one; an answer that gets out is written beside the table."""
    with Curator(table, dataset="views", user="user_id", ledger=table.with_name("ledger.db")) as curator:
        if step is not None:
            STEPS[step]()
        release = curator.top("article", k=k, counts=True, domain=DOMAIN if known else None)
        table.with_name("answer.json").write_text(release.to_json(), encoding="utf-8")


def ask_the_same(_: int, table: Path, questions: int) -> tuple[int, list[str]]:
    """Ask what all others ask: how many were paid for here, and which entries answered them."""
    paid, entries = 0, []
    ledger = open_ledger(table.with_name("ledger.db"), timeout=TIMEOUT)
    with ledger, Curator(table, dataset="views", user="user_id", ledger=ledger) as curator:
        for number in range(questions):
            release = curator.top("article", k=2, where=f"user_id <> {10_000 + number}")
            paid += release.paid.events != ()
            entries.append(str(release.paid.entry))
    return paid, entries


def spend(number: int, table: Path, options: str) -> int:
    """Ask new questions until the budget refuses; how many were answered."""
    answered = 0
    ledger = open_ledger(table.with_name("ledger.db"), timeout=TIMEOUT)
    with ledger, Curator(table, dataset="views", user="user_id", ledger=ledger) as curator:
        while True:
            where = f"user_id <> {10_000 * (number + 1) + answered}"
            try:
                release = curator.top("article", where=where, **json.loads(options))
            except BudgetExceeded:
                return answered
            assert release.paid.entry is not None
            answered += 1

"""The questions of the engines bench: ways through podium, each beside the plain query that it is compared with."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import podium
from bench.engines.goals import (
    BARE_SUMS,
    BOUNDED,
    GROUPS,
    GROUPS_IN_ROUNDS,
    ROUNDS,
    ROUNDS_10,
    ROUNDS_COUNTED,
    SUMS,
    SUMS_IN_ROUNDS,
    TALLY,
    TOP_ROWS,
    TOP_ROWS_COUNTED,
    Route,
)
from bench.engines.scans import Job
from bench.engines.servers import WHERE
from podium.ledger import open_ledger
from podium.sources import Source

__all__ = [
    "SETTINGS",
    "K",
    "Ours",
    "ask",
    "bounded",
    "few",
    "in_rounds",
    "of_groups",
    "paid_question",
    "sums",
    "sums_beside_bare",
    "text",
]

K = 10
K_BAR = 1000
EPSILON, DELTA = 1, "1e-8"
MAX_ITEMS, CLIP = 10, 64
SETTINGS = {
    "k": K,
    "k_bar": K_BAR,
    "epsilon": EPSILON,
    "delta": DELTA,
    "where": WHERE,
    "max_items": MAX_ITEMS,
    "clip": CLIP,
}
"""What every question has in common, for the file."""

_BY = "sum(seconds)"
_BUDGET = podium.Budget(epsilon=3, delta="1e-6", items=200, questions=20)


@dataclass(frozen=True, slots=True)
class Ours:
    """A way to ask through podium."""

    route: Route
    question: str
    job: Job


def ask(source: Source, *, item: str = "article_id", k: int = K, where: str | None = WHERE, **options: Any) -> Job:
    """One question, which returns its items."""
    return lambda: (
        podium.top(source, item=item, user="user_id", k=k, epsilon=EPSILON, delta=DELTA, where=where, **options).items
    )


def few(source: Source, items: int) -> list[Ours]:
    """A few items: one query, one table of counts for a known domain of that many items, or rounds."""
    return [
        Ours(TOP_ROWS, "podium.top", ask(source, k_bar=K_BAR)),
        Ours(TOP_ROWS_COUNTED, "podium.top, counts", ask(source, k_bar=K_BAR, counts=True)),
        Ours(TALLY, "podium.top, known domain", ask(source, domain_size=items)),
        Ours(ROUNDS_10, "podium.top, in rounds", ask(source)),
    ]


def text(source: Source) -> list[Ours]:
    """Items that are text."""
    return [Ours(TOP_ROWS, "podium.top, items are text", ask(source, item="article", k_bar=K_BAR))]


def bounded(source: Source) -> list[Ours]:
    """Users who keep a few of their items."""
    question = f"podium.top, {MAX_ITEMS} items per user"
    return [Ours(BOUNDED, question, ask(source, k_bar=K_BAR, max_items_per_user=MAX_ITEMS))]


def of_groups(source: Source, groups: int) -> list[Ours]:
    """A list for each group, from one count or in rounds; what comes back are pairs of a group and an item."""

    def job(**options: Any) -> Job:
        def pairs() -> Sequence[Any]:
            release = podium.top(
                source, item="article_id", user="user_id", per="region", k=K, epsilon=EPSILON, delta=DELTA, where=WHERE,
                **options,
            )  # fmt: skip
            return [(group, item) for group, found in release.lists.items() for item in found.items]

        return pairs

    question = f"podium.top, {groups} groups"
    return [
        Ours(GROUPS, question, job(k_bar=K_BAR)),
        Ours(GROUPS_IN_ROUNDS, f"{question}, in rounds", job()),
    ]


def in_rounds(source: Source, k: int) -> list[Ours]:
    """Many items, which the planner finds in rounds."""
    return [
        Ours(ROUNDS[k], f"podium.top, k={k}", ask(source, k=k)),
        Ours(ROUNDS_COUNTED[k], f"podium.top, k={k}, counts", ask(source, k=k, counts=True)),
    ]


def sums(source: Source) -> list[Ours]:
    """The sums of a column: found at once, and in rounds, where the clip is chosen too."""
    return [_sums_at_once(source, SUMS), Ours(SUMS_IN_ROUNDS, "podium.top, sums", ask(source, by=_BY))]


def sums_beside_bare(source: Source) -> list[Ours]:
    """The first of them, to be compared with sums that nobody adds up by user first."""
    return [_sums_at_once(source, BARE_SUMS)]


def _sums_at_once(source: Source, route: Route) -> Ours:
    return Ours(route, "podium.top, sums, clip stated", ask(source, k_bar=K_BAR, by=_BY, clip=CLIP))


@contextmanager
def paid_question(source: Source) -> Iterator[Ours]:
    """A question that is paid from a ledger on disk."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        ledger = open_ledger(Path(folder) / "ledger.db")
        with (
            closing(ledger),
            podium.Curator(source, dataset="events", user="user_id", ledger=ledger, budget=_BUDGET) as curator,
        ):
            versions = itertools.count(1)

            def job() -> Sequence[Any]:
                # A question that was answered before is free, so the data must be said to have changed.
                ledger.set_data_version("events", f"version-{next(versions)}")
                return curator.top("article_id", k=K, k_bar=K_BAR, where=WHERE).items

            yield Ours(TOP_ROWS, "Curator.top, SQLite ledger", job)

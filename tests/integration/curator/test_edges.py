"""Questions at the edges of what is legal: answered, or refused before anything is reserved; nobody is locked out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.tables import events

import podium
from podium import Budget, Curator
from podium.errors import BudgetExceeded, InvalidArgument

COUNTS = {"a": 30, "b": 20, "c": 3}
DOMAIN = [*COUNTS, *(f"none{n}" for n in range(30))]
PURE = Budget(epsilon=100, delta=0, items=1000, questions=1000)
APPROXIMATE = Budget(epsilon=100, delta="1e-6", items=1000, questions=1000)
EPSILONS = ("1e-310", "1e-31", "1e-30", "1e-20", "1e-18", "1e-12", "1e-3", "1e20", "1e310")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return events(tmp_path / "views.parquet", COUNTS, number=7)


def asked_at_the_edge(curator: Curator, **question: Any) -> None:
    """Answered, or refused with nothing charged, reserved or failed."""
    before = curator.status
    try:
        release = curator.top("article", **question)
    except (InvalidArgument, BudgetExceeded):
        assert curator.status == before
    else:
        assert len(release.items) <= question["k"]
    assert (curator.status.failures, curator.status.open_reservations, curator.status.locked) == (0, 0, False)


@pytest.mark.parametrize("budget", [PURE, APPROXIMATE], ids=["pure", "approximate"])
def test_no_epsilon_locks_a_data_set(table: Path, tmp_path: Path, budget: Budget) -> None:
    ledger = tmp_path / "ledger.db"
    with Curator(table, dataset="views", user="user_id", ledger=ledger, budget=budget) as curator:
        for epsilon in EPSILONS:
            asked_at_the_edge(curator, k=3, epsilon=epsilon, counts=True, domain=DOMAIN)
            if not budget.pure:
                asked_at_the_edge(curator, k=12, epsilon=epsilon)
        assert len(curator.top("article", k=2, epsilon=1, domain=DOMAIN).items) == 2


def test_items_that_nobody_has_cost_no_more_for_being_many(table: Path) -> None:
    release = podium.top(
        table, item="number", user="user_id", k=200, epsilon="1e-18", domain_size=2**63 - 1, counts=True
    )
    assert len(release.items) == 200
    assert all(value.denominator == 1 for value in release.values or ())

"""Questions of every kind to an account with a Gaussian filter: what runs is what was reserved, in its order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium import Budget, Curator
from podium.curator.monitor.topk_monitor import TopKMonitor
from podium.errors import InvalidArgument
from podium.ledger import Entry, Kind, open_ledger
from podium.ledger.account import recorded_charge, terms_of
from podium.present.text.accounts import history_rows, status_facts
from podium.present.text.plain import plain_history, plain_plan, plain_status
from podium.privacy.gaussian import Chain, steps_of
from podium.privacy.rounding import above

BUDGET = Budget(epsilon=40, delta="1e-4", items=200, questions=40, filter="auto")
KNOWN: dict[str, Any] = {"domain_size": 100}
GROUPS: dict[str, Any] = {"per": "country", "groups_per_user": 2}
WAYS: list[dict[str, Any]] = [
    {"k": 5, "k_bar": 12},
    {"k": 4, "k_bar": 12, "counts": True},
    {"k": 20, "counts": True},
    {**KNOWN, "k": 5, "counts": True},
    {**KNOWN, "k": 30},
    {"k": 3, "others": True},
    {"k": 2, **GROUPS, "groups": ["g0", "g1"], "counts": True},
    {"k": 3, **GROUPS, "counts": True},
    {"k": 3, **GROUPS, "by": "sum(minutes)", "clip": 3, "counts": True},
    {"k": 3, **GROUPS, "by": "sum(minutes)", "counts": True},
    {"k": 2, **GROUPS, "by": "sum(minutes)", "clip": 2, "counts": True},
    {"k": 3, "by": "sum(minutes)", "clip": (-3, 5), "counts": True},
    {"k": 3, **GROUPS, "by": "sum(minutes)", "clip": (-3, 5), "counts": True},
    {"k": 3, **GROUPS, "by": "sum(minutes)", "clip": (-3, 5), "counts": True, "epsilon": 2},
    {"k": 3, "by": "events", "clip": 3, "others": True},
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [((7 * item + user) % 500, item, f"g{user % 3}", 1 + user % 7)
            for item in range(40) for user in range(410 - 8 * item)]  # fmt: skip
    names = ("user_id", "article", "country", "minutes")
    path = tmp_path_factory.mktemp("gaussian") / "views.parquet"
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


@pytest.fixture
def curator(table: Path, tmp_path: Path) -> Iterator[Curator]:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "l.db", budget=BUDGET) as made:
        yield made


def history(tmp_path: Path) -> tuple[Entry, ...]:
    with open_ledger(tmp_path / "l.db") as ledger:
        assert ledger.verify().sound
        return ledger.history("views")


def test_what_runs_is_found_in_the_chain_that_was_reserved(curator: Curator, tmp_path: Path) -> None:
    assert curator.status.totals.budget.filter == "gaussian"
    for options in WAYS:
        curator.top("article", **options)
    entries = history(tmp_path)
    settled = [entry for entry in entries if entry.kind is Kind.SETTLED]
    assert len(settled) == len(WAYS)
    for entry in settled:
        reserved = entries[(entry.reservation or 0) - 1]
        chain = Chain.from_json(json.dumps(terms_of(reserved)["chain"]))
        assert Fraction(terms_of(reserved)["mu_squared"]) == above(chain.total)
        ran = steps_of(recorded_charge(entry).events)
        assert above(chain.charge(ran)) == Fraction(terms_of(entry)["mu_squared"])
        # If it were not found in the chain, what is left of the noise would be charged too.
        noise = sum(step.count * step.size for step in ran if step.kind == "gaussian")
        most = sum(part.total for part in chain.parts if part.step.kind == "gaussian")
        assert chain.charge(ran) <= chain.total - (most - noise)


def test_people_are_told_the_share_of_the_budget(curator: Curator, tmp_path: Path) -> None:
    plan = curator.plan("article", k=5, k_bar=12)
    ((_, cost),) = [fact for fact in plain_plan(plan, curator.status) if fact[0] == "cost"]
    assert cost.endswith("% of the budget; so far 0 % of the budget used, 100 % left")
    curator.top("article", k=5, k_bar=12)
    status = curator.status
    facts = dict(status_facts(status))
    assert facts["filter"].startswith("gaussian, kept as mu^2 ")
    assert facts["spent"].startswith("mu^2 ")
    assert facts["left"].startswith("mu^2 ")
    assert all(word not in " ".join(dict(plain_status(status)).values()) for word in ("mu^2", "rho"))
    assert "epsilon 40, delta 0.0001 for all answers together" in dict(plain_status(status))["private"]
    headers, rows = history_rows(history(tmp_path))
    assert headers[3] == "mu^2"
    assert rows[1][3] == rows[2][3] != ""
    assert plain_history(history(tmp_path), status.totals)[1][1][3].endswith(" %")
    assert set(status.to_dict()["spent"]) == {"mu_squared", "delta"}


def test_a_schedule_needs_sums_of_rho(table: Path, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "l.db") as ledger:
        ledger.register("views", BUDGET, source=str(table))
        with pytest.raises(InvalidArgument, match="zcdp filter"):
            TopKMonitor._budget(_Asking(), ledger, "views")


class _Asking(TopKMonitor):
    """A monitor of which nothing is made but the question of its budget."""

    def __init__(self) -> None:
        self._epsilon = None

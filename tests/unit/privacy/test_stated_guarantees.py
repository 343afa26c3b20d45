"""Which guarantees may be stated: numbers that can be planned with, whichever door they come in by."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.support.command_line import podium as run_podium

from podium.errors import InvalidArgument
from podium.ledger import Budget
from podium.ledger.budget import Totals
from podium.planning.facts import Facts
from podium.planning.question_budget import question_budget
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.schedule_plan import plan_schedule
from podium.planning.strategy import strategy_for
from podium.privacy import Guarantee
from podium.privacy.theorems.comparison import compare

OUTSIDE: list[dict[str, Any]] = [
    {"epsilon": "1e400", "delta": "1e-6"},
    {"epsilon": 10**400, "delta": "1e-6"},
    {"epsilon": "1e-400", "delta": "1e-6"},
    {"epsilon": "1.1e9", "delta": "1e-6"},
    {"epsilon": "1e999999999", "delta": "1e-6"},
    {"epsilon": "1e-999999999", "delta": "1e-6"},
    # Minutes of calibration, where it was allowed.
    {"epsilon": 1, "delta": "1e-1999"},
    {"epsilon": 1, "delta": "9e-101"},
]
EDGES: list[dict[str, Any]] = [{"epsilon": e, "delta": d} for e in ("1e-30", "1e9") for d in ("1e-100", "0.5")]


def schedule(**stated: Any) -> object:
    return plan_schedule(Schedule.of(start="2026-01-01", every="day", periods=3), k=2, domain_size=10, **stated)


def question(facts: Facts) -> Callable[..., object]:
    return lambda **stated: strategy_for(facts, question_budget(facts, **stated))


DOORS: dict[str, Callable[..., object]] = {
    "guarantee": Guarantee.of,
    "unknown": question(Facts(k=10)),
    "rounds": question(Facts(k=50)),
    "counts": question(Facts(k=10, counts=True)),
    "known": question(Facts(k=10, domain_size=1_000)),
    "set": question(Facts(k=10, domain_size=50, ordered=False)),
    "schedule": schedule,
    "budget": lambda **stated: Totals.of(Budget(items=100, questions=10, **stated)),
    "comparison": lambda **stated: compare(10, stated["epsilon"], stated["delta"]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("stated", OUTSIDE, ids=str)
def test_what_cannot_be_planned_with_is_refused_at_once(door: str, stated: dict[str, Any]) -> None:
    wrong = "epsilon" if stated["delta"] == "1e-6" else "delta"
    with pytest.raises(InvalidArgument, match=f"^{wrong}=.* is not valid. Allowed: "):
        DOORS[door](**stated)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "comparison"])
@pytest.mark.parametrize("stated", EDGES, ids=str)
def test_all_in_between_is_planned_or_refused_in_words(door: str, stated: dict[str, Any]) -> None:
    with suppress(InvalidArgument):
        DOORS[door](**stated)


def test_the_command_line_says_so_too() -> None:
    for epsilon in ("1e400", "1e-400", "1e999999999"):
        refused = run_podium("plan", "-k", "10", "--epsilon", epsilon, "--delta", "1e-6")
        assert refused.exit_code == 2
        assert refused.stderr.startswith(f"InvalidArgument: epsilon='{epsilon}' is not valid.")

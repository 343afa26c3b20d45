"""Never overspent, never lost: questions from many processes, and processes that die between any two steps."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.curator import workers
from tests.support.curator.tables import BUDGET, curator
from tests.support.processes import context, together

from podium import Budget, Curator, Release
from podium.ledger import Kind, Reason, open_ledger
from podium.privacy import worst_case

NOTHING_YET = {
    "before the plan",
    "before looking for a stored release",
    "before reserving",
    "while reserving, before it commits",
}
SETTLED = {"after settling", "before the answer is returned"}
KNOWN = {
    "before reading counts",
    "after reading counts",
    "after selecting in a known domain",
    "before naming",
    "after naming",
}
ROUNDS = {"after measuring its sizes", "after all rounds"}
"""Only a long list gets there: see test_rounds.py."""


@pytest.mark.parametrize("step", [step for step in workers.STEPS if step not in ROUNDS])
def test_kill_9_between_every_two_steps(table: Path, step: str) -> None:
    known = step in KNOWN
    with curator(table) as (asked, _):
        plan = asked.plan("article", k=2, counts=True, domain=workers.DOMAIN if known else None).strategy
    killed = context().Process(target=workers.ask, args=(table, step), kwargs={"known": known})
    killed.start()
    killed.join(timeout=120)
    assert killed.exitcode == -signal.SIGKILL
    assert not table.with_name("answer.json").exists()

    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        status = ledger.status("views")
        kinds = [entry.kind for entry in ledger.history("views")]
        assert status.open_reservations == 0
        if step in NOTHING_YET:
            assert kinds == [Kind.REGISTERED]
            assert status.spent.rho == 0
        elif step in SETTLED:
            assert kinds == [Kind.REGISTERED, Kind.RESERVED, Kind.SETTLED]
            assert 0 < status.spent.rho <= worst_case(plan.worst_case).rho + Fraction(1, 2**64)
        else:
            assert kinds == [Kind.REGISTERED, Kind.RESERVED, Kind.FORFEITED]
            assert ledger.history("views")[-1].facts == {"reason": Reason.CRASHED.value}
            # All of the worst case stays charged, rounded up once.
            assert status.spent.rho >= worst_case(plan.worst_case).rho > 0
            assert status.spent.delta == worst_case(plan.worst_case).delta

    with curator(table) as (asked, source):
        again = asked.top("article", k=2, counts=True, domain=workers.DOMAIN if known else None)
        # Free after a kill past the settlement, and only then.
        assert (again.paid.events == ()) is (step in SETTLED)
        assert source.snapshots == (0 if step in SETTLED else 1)
        assert again.items == ("a", "b")


def test_what_was_handed_out_was_settled(table: Path) -> None:
    with curator(table):
        pass
    asking = context().Process(target=workers.ask, args=(table, None), kwargs={"known": False})
    asking.start()
    asking.join(timeout=120)
    assert asking.exitcode == 0
    answer = Release.from_json(table.with_name("answer.json").read_text(encoding="utf-8"))
    with open_ledger(table.with_name("ledger.db")) as ledger:
        *before, last = ledger.history("views")
    assert [entry.release for entry in before] == [None, None]
    # The receipt that was handed out names the entry; what the entry holds cannot name itself.
    assert answer.paid.entry == last.hash
    assert replace(answer, asked=None, paid=replace(answer.paid, entry=None)).to_json() == last.release
    assert answer.items == ("a", "b")


def test_equal_questions_of_many_processes_are_paid_for_once(table: Path) -> None:
    with curator(table) as (asked, _):
        done = together(6, workers.ask_the_same, table, 4)
        assert asked.status.questions_asked == 4
    assert len({tuple(entries) for _, entries in done}) == 1
    assert sum(paid for paid, _ in done) == 4
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert [entry.kind for entry in ledger.history("views")].count(Kind.SETTLED) == 4
        assert ledger.verify(receipts=done[0][1]).sound


def test_sixteen_processes_reach_a_pure_total_exactly(table: Path) -> None:
    with Curator(
        table,
        dataset="views",
        user="user_id",
        ledger=table.with_name("ledger.db"),
        budget=Budget(epsilon="1.2", items=24, questions=24),
    ) as asked:
        done = together(16, workers.spend, table, json.dumps({"k": 1, "domain": workers.DOMAIN}))
        assert sum(done) == 24
        assert asked.status.spent.epsilon == Fraction("1.2")
        assert asked.status.remaining.epsilon == 0
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound


def test_sixteen_processes_stay_within_an_approximate_total(table: Path) -> None:
    with curator(table, BUDGET) as (asked, _):
        done = together(16, workers.spend, table, json.dumps({"k": 10}))
        status = asked.status
        limits = status.totals.whole
        assert limits.rho is not None
        assert 0 < status.spent.rho <= limits.rho
        assert status.spent.delta <= limits.delta
        assert sum(done) == status.questions_asked
        # The last refusal was for want of ten more items, or of one more question.
        assert status.items_left < 10 or status.questions_left == 0
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound

"""The second rules: how many questions, their minimum price, whom failures lock out, whom a data set belongs to."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest
from tests.support.ledger.costs import pure

from podium.errors import BudgetExceeded, DatasetLocked, InvalidArgument
from podium.ledger import Budget, Ledger, Totals
from podium.privacy import Cost, Selection, bounded_range_rho, worst_case

PURE = Budget(epsilon=10, items=10, questions=2, max_questions=3)
APPROXIMATE = Budget(epsilon=1, delta="1e-6", items=10, questions=5)


def test_ten_times_the_planned_questions_are_allowed_unless_stated() -> None:
    assert APPROXIMATE.max_questions == 50
    assert PURE.max_questions == 3
    assert Budget.from_dict(PURE.to_dict()) == PURE
    with pytest.raises(InvalidArgument, match="at least questions=5, which is the plan"):
        Budget(epsilon=1, items=10, questions=5, max_questions=4)


def test_rules_of_a_later_version_are_not_guessed() -> None:
    written = Totals.of(APPROXIMATE).to_dict()
    assert Totals.from_dict(written) == Totals.of(APPROXIMATE)
    with pytest.raises(InvalidArgument, match=r"rules=4.*Install a newer podium"):
        Totals.from_dict({**written, "rules": 4})


def test_the_database_tells_the_time_in_utc(ledger: Ledger) -> None:
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    assert abs(ledger.clock() - now) < dt.timedelta(minutes=10)


def test_no_more_questions_than_allowed_are_reserved(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    for number in range(3):
        ledger.settle(ledger.reserve("clicks", pure("0.1"), f"q{number}"), "{}", pure("0.1"))
        # Free re-asks, the same key again, refusals and schedules do not count.
        assert ledger.find_release("clicks", f"q{number}") is not None
        with pytest.raises(BudgetExceeded, match="epsilon"):
            ledger.reserve("clicks", pure("11"), "too much")
        ledger.forfeit(ledger.reserve("clicks", pure("0.1"), "of a schedule", schedule="daily", analyst=f"a{number}"))
    with pytest.raises(BudgetExceeded, match=r"max_questions=3.*--max-questions") as caught:
        ledger.reserve("clicks", pure("0.1"), "one more")
    assert (caught.value.measure, caught.value.remaining) == ("questions", Fraction(0))
    assert ledger.find_release("clicks", "q0") is not None
    assert ledger.status("clicks").questions_asked == 3
    more = Budget(epsilon=10, items=10, questions=2, max_questions=4)
    ledger.raise_total("clicks", more)
    ledger.reserve("clicks", pure("0.1"), "one more")
    with pytest.raises(BudgetExceeded, match="max_questions=4"):
        ledger.reserve("clicks", pure("0.1"), "and another")
    assert ledger.verify().sound


def test_a_question_costs_at_least_the_floor(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    ledger.register("views", APPROXIMATE, source="t")
    least = ledger.status("clicks").totals.epsilon_per_item / 20
    below = least - Fraction(1, 10**9)
    with pytest.raises(InvalidArgument, match=r"epsilon 0\.05 or more for a question about 'clicks'"):
        ledger.reserve("clicks", pure(str(below)), "q")
    ledger.reserve("clicks", pure(str(least)), "q")
    # Of one item 1/400 of the planned rho: an epsilon of 1/20 of the planned one.
    totals = ledger.status("views").totals
    assert totals.minimum_price == bounded_range_rho(totals.epsilon_per_item) / 400
    single = totals.epsilon_per_item / 20
    with pytest.raises(InvalidArgument, match="or more for a question about 'views'"):
        ledger.reserve("views", Selection(single * Fraction(99, 100)), "q")
    ledger.reserve("views", Selection(single), "q")
    # What counts is the whole question, and a schedule has a plan of its own.
    cheap = [Selection(single / 4)] * 20
    assert worst_case(cheap).rho >= totals.minimum_price
    ledger.reserve("views", cheap, "q2")
    ledger.reserve("views", Cost(epsilon="1e-20", rho="1e-40"), "q3", schedule="daily")
    assert ledger.status("views").questions_asked == 2
    assert ledger.verify().sound


def test_failures_lock_out_the_analyst_who_caused_them(ledger: Ledger) -> None:
    ledger.register("clicks", Budget(epsilon=10, items=10, questions=10), source="s")
    for analyst in ("ann", None):
        for _ in range(3):
            ledger.forfeit(ledger.reserve("clicks", pure("0.05"), "q", analyst=analyst))
        with pytest.raises(DatasetLocked) as caught:
            ledger.reserve("clicks", pure("0.05"), "q", analyst=analyst)
        assert (caught.value.failures, caught.value.analyst) == (3, analyst)
        reservation = ledger.reserve("clicks", pure("0.05"), f"not {analyst}", analyst="bob")
        ledger.settle(reservation, "{}", pure("0.05"))
    status = ledger.status("clicks")
    assert (status.locked, status.locked_out, status.failures) == (False, (None, "ann"), 6)
    assert status.failures_of == {None: 3, "ann": 3}
    assert set(status.analysts) == {"ann", "bob"}
    # What was answered is still told.
    assert ledger.find_release("clicks", "not ann", analyst="ann") is not None
    ledger.unlock("clicks", analyst="ann")
    ledger.reserve("clicks", pure("0.05"), "q", analyst="ann")
    assert ledger.status("clicks").locked_out == (None,)
    with pytest.raises(InvalidArgument, match="an analyst whose questions about 'clicks' failed"):
        ledger.unlock("clicks", analyst="ann")
    ledger.unlock("clicks")
    ledger.reserve("clicks", pure("0.05"), "q")
    status = ledger.status("clicks")
    assert (status.locked_out, status.failures, status.failures_of) == ((), 0, {})
    assert ledger.verify().sound


def test_ten_times_as_many_failures_lock_everybody_out(ledger: Ledger) -> None:
    ledger.register("clicks", Budget(epsilon=10, items=10, questions=10), source="s", failures_allowed=1)
    for number in range(10):
        assert not ledger.status("clicks").locked
        ledger.forfeit(ledger.reserve("clicks", pure("0.05"), "q", analyst=f"analyst {number}"))
    assert ledger.status("clicks").locked
    ledger.unlock("clicks", analyst="analyst 3")
    with pytest.raises(DatasetLocked, match=r"^dataset='clicks' is locked after 10 failed questions"):
        ledger.reserve("clicks", pure("0.05"), "q", analyst="somebody else")
    ledger.unlock("clicks")
    ledger.reserve("clicks", pure("0.05"), "q", analyst="analyst 5")
    assert ledger.verify().sound


def test_a_data_set_of_a_schedule_answers_nobody_else(ledger: Ledger) -> None:
    ledger.register("daily@1", PURE, source="s", schedule="daily 1")
    for other in (None, "daily 2"):
        with pytest.raises(InvalidArgument, match="of the schedule and window that it was registered for"):
            ledger.reserve("daily@1", pure("1"), "q", schedule=other)
    with pytest.raises(InvalidArgument, match="of the schedule and window"):
        ledger.reserve_once("daily@1", pure("1"), "q")
    ledger.settle(ledger.reserve("daily@1", pure("1"), "q", schedule="daily 1"), "{}", pure("1"))
    assert ledger.status("daily@1").schedule == "daily 1"
    assert ledger.verify().sound

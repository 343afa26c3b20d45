"""What a ledger promises, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from tests.support.ledger.costs import pure

from podium.errors import (
    BudgetExceeded,
    BudgetMismatch,
    DatasetExists,
    DatasetLocked,
    InvalidArgument,
    ReservationClosed,
    UnknownDataset,
)
from podium.ledger import Budget, Kind, Ledger, Reason, State, open_ledger
from podium.privacy import (
    Cost,
    GaussianNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    limited_domain_events,
)

APPROXIMATE = Budget(epsilon=3, delta="1e-6", items=200, questions=20)
PURE = Budget(epsilon="0.3", items=3, questions=3)


def test_a_total_is_derived_once_from_the_budget(ledger: Ledger) -> None:
    entry = ledger.register("clicks", APPROXIMATE, source="views.parquet")
    assert entry.kind is Kind.REGISTERED
    assert ledger.datasets() == ("clicks",)
    status = ledger.status("clicks")
    assert status.totals.budget == APPROXIMATE
    assert status.totals.whole.delta == Fraction(1, 2_000_000)
    assert status.remaining.rho == status.totals.whole.rho
    assert (status.items_left, status.questions_left) == (200, 20)
    assert status.promise == (
        "everything released about 'clicks' together is (3, 1e-6)-differentially private "
        "for any one user, added or removed"
    )


def test_reserve_then_settle_gives_back_what_did_not_come_out(ledger: Ledger) -> None:
    ledger.register("clicks", APPROXIMATE, source="s")
    plan = APPROXIMATE.plan
    worst = limited_domain_events(plan.epsilon_per_item, plan.delta_per_call, items=10, bottom=False)
    actual = limited_domain_events(plan.epsilon_per_item, plan.delta_per_call, items=3, bottom=True)
    reservation = ledger.reserve("clicks", worst, "top 10 of article")
    assert (reservation.state, reservation.fresh) == (State.RESERVED, True)
    assert reservation.cost.rho == 10 * Selection(plan.epsilon_per_item).rho
    during = ledger.status("clicks")
    assert (during.reserved, during.spent) == (reservation.cost, Cost.nothing())
    assert during.items_left == 190
    entry = ledger.settle(reservation, '{"outcome": []}', actual)
    after = ledger.status("clicks")
    assert after.reserved == Cost.nothing()
    assert after.spent == entry.cost
    assert (after.items_left, after.questions_left, after.open_reservations) == (196, 19, 0)
    assert after.head == entry.hash


def test_the_whole_plan_fits_exactly_and_nothing_more(ledger: Ledger) -> None:
    small = Budget(epsilon=1, delta="1e-6", items=6, questions=2)
    ledger.register("clicks", small, source="s")
    plan = small.plan
    events = limited_domain_events(plan.epsilon_per_item, plan.delta_per_call, items=3, bottom=False)
    for _ in range(2):
        ledger.settle(ledger.reserve("clicks", events, "q"), "{}", events)
    status = ledger.status("clicks")
    assert (status.items_left, status.questions_left) == (0, 0)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("clicks", (LimitedDomainCall("1e-30"),), "q")
    with pytest.raises(BudgetExceeded):
        ledger.reserve("clicks", (Selection(plan.epsilon_per_item),), "q")
    assert ledger.verify().sound


def test_a_tenth_and_two_tenths_are_three_tenths(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    for amount in ("0.1", "0.2"):
        ledger.settle(ledger.reserve("clicks", pure(amount), "q"), "{}", pure(amount))
    assert ledger.status("clicks").remaining.epsilon == 0
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve("clicks", pure("1e-30"), "q")
    assert caught.value.remaining == 0


def test_an_overrun_says_requested_remaining_and_short_by(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    ledger.reserve("clicks", pure("0.1"), "q")
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve("clicks", (PureMechanism("0.25"),), "q")
    error = caught.value
    assert (error.measure, error.requested, error.remaining) == ("epsilon", Fraction(1, 4), Fraction(1, 5))
    assert (error.short_by, error.total) == (Fraction(1, 20), Fraction(3, 10))
    assert str(error) == (
        "This answer may cost 84 % of the budget of 'clicks', and 66 % is left. Ask for fewer items, "
        "lower epsilon, or ask the owner to raise the total; 'podium budget show clicks' lists what was spent."
    )
    assert ledger.status("clicks").reserved.epsilon == Fraction(1, 10)


def test_an_overrun_says_how_many_items_would_fit(ledger: Ledger) -> None:
    ledger.register("clicks", APPROXIMATE, source="s")
    one = APPROXIMATE.plan.epsilon_per_item
    ledger.reserve("clicks", (Selection(one),) * 194, "q")
    with pytest.raises(BudgetExceeded, match="Only 6 of the 10 items would fit"):
        ledger.reserve("clicks", (Selection(one),) * 10, "q")


def test_a_pure_total_refuses_other_kinds_of_loss(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    with pytest.raises(BudgetMismatch, match="pure"):
        ledger.reserve("clicks", limited_domain_events("0.01", "1e-9", items=1, bottom=False), "q")
    with pytest.raises(BudgetMismatch, match="pure"):
        ledger.reserve("clicks", (GaussianNoise(100),), "q")
    assert len(ledger.history("clicks")) == 1


def test_unbounded_losses_are_charged_in_rho(ledger: Ledger) -> None:
    ledger.register("clicks", APPROXIMATE, source="s")
    reservation = ledger.reserve("clicks", (GaussianNoise(10),), "q")
    assert reservation.cost.epsilon is None
    assert reservation.cost.rho * 2**64 == -(-(2**64) // 200)
    assert ledger.status("clicks").remaining.epsilon is None
    ledger.settle(reservation, "{}", (GaussianNoise(10),))
    assert ledger.verify().sound


def test_more_than_was_reserved_is_not_settled(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    reservation = ledger.reserve("clicks", pure("0.1"), "q")
    with pytest.raises(BudgetMismatch) as caught:
        ledger.settle(reservation, "{}", pure("0.2"))
    assert "0.2" not in str(caught.value)
    assert ledger.status("clicks").open_reservations == 1


def test_a_reservation_closes_once(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    reservation = ledger.reserve("clicks", pure("0.1"), "q")
    entry = ledger.settle(reservation, '{"a": 1}', pure("0.05"))
    assert ledger.settle(reservation, '{"a": 1}', pure("0.05")) == entry
    with pytest.raises(ReservationClosed, match="was settled before"):
        ledger.settle(reservation, '{"a": 2}', pure("0.05"))
    with pytest.raises(ReservationClosed):
        ledger.forfeit(reservation)
    other = ledger.reserve("clicks", pure("0.1"), "q")
    lost = ledger.forfeit(other, Reason.FAILED)
    assert ledger.forfeit(other) == lost
    with pytest.raises(ReservationClosed, match="was forfeited before"):
        ledger.settle(other, "{}", pure("0.1"))
    assert ledger.status("clicks").spent.epsilon == Fraction(15, 100)


def test_failures_lock_a_data_set_until_its_owner_acts(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    for _ in range(3):
        ledger.forfeit(ledger.reserve("clicks", pure("0.01"), "q"))
    with pytest.raises(DatasetLocked) as caught:
        ledger.reserve("clicks", pure("0.01"), "q")
    assert caught.value.failures == 3
    assert ledger.status("clicks").locked_out == (None,)
    ledger.unlock("clicks")
    ledger.reserve("clicks", pure("0.01"), "q")
    status = ledger.status("clicks")
    assert (status.failures, status.spent.epsilon) == (0, Fraction(3, 100))
    assert ledger.verify().sound


def test_success_does_not_reset_the_count_of_failures(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s", failures_allowed=2)
    ledger.forfeit(ledger.reserve("clicks", pure("0.01"), "q"))
    ledger.settle(ledger.reserve("clicks", pure("0.01"), "q"), "{}", pure("0.01"))
    ledger.forfeit(ledger.reserve("clicks", pure("0.01"), "q"))
    with pytest.raises(DatasetLocked):
        ledger.reserve("clicks", pure("0.01"), "q")


def test_asking_again_is_free_per_version_of_the_data(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    assert ledger.find_release("clicks", "q") is None
    reservation = ledger.reserve("clicks", pure("0.1"), "q")
    assert ledger.find_release("clicks", "q") is None
    entry = ledger.settle(reservation, '{"items": ["é", "\\u0000"]}', pure("0.1"))
    found = ledger.find_release("clicks", "q")
    assert found is not None
    assert (found.release, found.hash, found.charged) == ('{"items": ["é", "\\u0000"]}', entry.hash, False)
    assert ledger.find_release("clicks", "another") is None
    ledger.set_data_version("clicks", "tuesday")
    assert ledger.find_release("clicks", "q") is None
    assert ledger.find_release("clicks", "q", "1") == found
    ledger.set_data_version("clicks", "1")
    assert ledger.find_release("clicks", "q") == found


def test_a_release_may_suit_other_questions_with_the_same_key(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    for k in (3, 10):
        reservation = ledger.reserve("clicks", pure("0.1"), f"top {k}", question_key="top ? of article")
        ledger.settle(reservation, str(k), pure("0.1"))
    found = ledger.find_release("clicks", "top ? of article", answers=lambda text: int(text.split()[1]) >= 5)
    assert found is not None
    assert (found.question, found.release) == ("top 10", "10")


def test_idempotency_keys(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    first = ledger.reserve("clicks", pure("0.1"), "q", idempotency_key="k1")
    again = ledger.reserve("clicks", pure("0.1"), "q", idempotency_key="k1")
    assert (again.number, again.state, again.fresh) == (first.number, State.RESERVED, False)
    assert ledger.release_of(again) is None
    ledger.settle(first, '{"a": 1}', pure("0.1"))
    replayed = ledger.reserve("clicks", pure("0.1"), "q", idempotency_key="k1")
    assert replayed.state is State.SETTLED
    stored = ledger.release_of(replayed)
    assert stored is not None
    assert stored.release == '{"a": 1}'
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        ledger.reserve("clicks", pure("0.1"), "another question", idempotency_key="k1")
    assert ledger.status("clicks").spent.epsilon == Fraction(1, 10)


def test_a_question_sized_by_the_history_is_refused_if_somebody_wrote_meanwhile(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    seen = ledger.history("clicks")[-1].hash
    first = ledger.reserve("clicks", pure("0.1"), "q", idempotency_key="k1", after=seen)
    with pytest.raises(InvalidArgument, match="hash of the last entry of 'clicks'"):
        ledger.reserve("clicks", pure("0.1"), "another question", after=seen)
    assert ledger.status("clicks").open_reservations == 1
    # The same attempt again is no other: it is charged already.
    assert ledger.reserve("clicks", pure("0.1"), "q", idempotency_key="k1", after=seen).number == first.number
    entry = ledger.settle(first, "{}", pure("0.1"))
    assert ledger.reserve("clicks", pure("0.1"), "another question", after=entry.hash).fresh


def test_registering_again(ledger: Ledger) -> None:
    first = ledger.register("clicks", PURE, source="views.parquet")
    assert ledger.register("clicks", PURE, source="views.parquet") == first
    with pytest.raises(DatasetExists, match="another budget or source"):
        ledger.register("clicks", APPROXIMATE, source="views.parquet")
    with pytest.raises(DatasetExists, match="another budget or source"):
        ledger.register("clicks", PURE, source="other.parquet")
    with pytest.raises(DatasetExists) as caught:
        ledger.register("again", PURE, source="views.parquet")
    assert caught.value.registered_as == "clicks"
    entry = ledger.register("again", PURE, source="views.parquet", force=True)
    assert entry.facts["insisted"] is True
    assert ledger.datasets() == ("clicks", "again")
    # The owner says that the table is a copy; the budget is the one that it has.
    assert ledger.register("clicks", PURE, source="copy.parquet", force=True) == first
    assert ledger.status("clicks").source == "views.parquet"
    with pytest.raises(DatasetExists, match="another budget or source"):
        ledger.register("clicks", APPROXIMATE, source="copy.parquet", force=True)
    assert ledger.verify().sound


def test_raising_a_total_is_recorded(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    ledger.reserve("clicks", pure("0.3"), "q")
    larger = Budget(epsilon="0.5", items=5, questions=5)
    assert ledger.raise_total("clicks", larger).kind is Kind.RAISED
    status = ledger.status("clicks")
    assert (status.remaining.epsilon, status.raises) == (Fraction(1, 5), 1)
    assert "earlier totals no longer hold" in status.promise
    for wrong in (PURE, APPROXIMATE):
        with pytest.raises(InvalidArgument, match="never lowered"):
            ledger.raise_total("clicks", wrong)
    # The script that registered the data set may run again, with the budget of then or of now.
    for known in (PURE, larger):
        ledger.register("clicks", known, source="s")
    assert ledger.verify().sound


def test_unknown_data_sets(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    with pytest.raises(UnknownDataset, match="Did you mean 'clicks'"):
        ledger.status("click")
    for call in (ledger.history, ledger.verify, ledger.unlock):
        with pytest.raises(UnknownDataset):
            call("nothing like it")
    with pytest.raises(UnknownDataset):
        ledger.reserve("views", pure("0.1"), "q")


def test_a_closed_ledger_is_all_there_when_opened_again(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        entry = ledger.settle(ledger.reserve("clicks", pure("0.1"), "q"), "{}", pure("0.1"))
    with open_ledger(url, create=False) as again:
        assert again.status("clicks").spent.epsilon == Fraction(1, 10)
        report = again.verify(receipts=[entry.hash])
        assert report.sound
        assert report.heads == {"clicks": entry.hash}
        assert not again.verify(receipts=["0" * 64]).sound


def test_open_reservations_of_a_living_process_are_left_alone(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        reservation = ledger.reserve("clicks", pure("0.1"), "q")
        with open_ledger(url) as other:
            assert other.recover() == ()
            assert other.recover(force=True) == ()
        ledger.settle(reservation, "{}", pure("0.1"))


def test_status_and_history_are_json(ledger: Ledger) -> None:
    ledger.register("clicks", APPROXIMATE, source="s")
    ledger.settle(ledger.reserve("clicks", (Selection("0.1"),), "q", analyst="ann"), '{"secret": 1}', ())
    status = json.loads(json.dumps(ledger.status("clicks").to_dict()))
    assert "epsilon" not in status["spent"]
    assert status["total"]["budget"]["epsilon"] == "3"
    lines = json.dumps([entry.to_dict() for entry in ledger.history("clicks")])
    assert [line["kind"] for line in json.loads(lines)] == ["registered", "reserved", "settled"]
    for hidden in ("salt", "token", "secret"):
        assert hidden not in lines
    json.dumps(ledger.verify("clicks").to_dict())


def test_nothing_is_changed_by_a_refusal(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    head = ledger.status("clicks").head
    for analyst, question, key in ((None, "", None), ("", "q", None), (None, "q\0", None), (None, "q", "\n")):
        with pytest.raises(InvalidArgument):
            ledger.reserve("clicks", pure("0.1"), question, analyst=analyst, idempotency_key=key)
    reservation = ledger.reserve("clicks", pure("0.1"), "q")
    with pytest.raises(InvalidArgument) as caught:
        ledger.settle(reservation, "private \ud800", pure("0.1"))
    assert "private" not in str(caught.value)
    assert ledger.history("clicks")[-2].hash == head


def test_long_questions_and_keys_are_kept(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    question = "".join(chr(0x4E00 + i % 20000) for i in range(50_000))
    reservation = ledger.reserve("clicks", pure("0.1"), question, idempotency_key="k" * 200)
    ledger.settle(reservation, "{}", pure("0.1"))
    found = ledger.find_release("clicks", question)
    assert found is not None
    assert found.question == question

"""Single flight: equal questions share one reservation, and nobody waits for what nobody works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from fractions import Fraction
from typing import Any

import pytest

from podium.errors import BudgetExceeded, InvalidArgument, LedgerUnavailable, QuestionPending
from podium.ledger import Budget, Kind, Ledger, Reason, Reservation, StoredRelease, open_ledger
from podium.privacy import Cost

PURE = Budget(epsilon="0.6", items=6, questions=6)
CAPPED = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.3")
TENTH = Cost(epsilon="0.1", rho="0.005")
SHORT = 0.05
"""For those who are to give up."""


def claim(ledger: Ledger, question: str = "top 3", **options: Any) -> Reservation | StoredRelease:
    return ledger.reserve_once("clicks", TENTH, question, question_key="top", **options)


def first(ledger: Ledger, question: str = "top 3", **options: Any) -> Reservation:
    made = claim(ledger, question, **options)
    assert isinstance(made, Reservation)
    assert made.fresh
    return made


def kinds(ledger: Ledger) -> list[Kind]:
    return [entry.kind for entry in ledger.history("clicks")][1:]


@contextmanager
def in_flight(ledger: Ledger, count: int, **options: Any) -> Iterator[list[Future[Reservation | StoredRelease]]]:
    """``count`` threads that ask the same while the first one's reservation is open."""
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(claim, ledger, **options) for _ in range(count)]
        with pytest.raises(TimeoutError):
            futures[0].result(timeout=SHORT)
        assert not any(future.done() for future in futures)
        yield futures


def test_who_waits_reads_the_release_for_free(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    holder = first(ledger)
    with in_flight(ledger, 4) as futures:
        entry = ledger.settle(holder, '{"a": 1}', TENTH)
        found = [future.result(timeout=60) for future in futures]
    assert {(one.release, one.hash) for one in found if isinstance(one, StoredRelease)} == {('{"a": 1}', entry.hash)}
    assert not any(isinstance(one, Reservation) for one in found)
    assert kinds(ledger) == [Kind.RESERVED, Kind.SETTLED]
    assert ledger.verify().sound


def test_after_a_failure_one_of_those_who_wait_goes_on(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    holder = first(ledger)
    with in_flight(ledger, 3) as futures:
        ledger.forfeit(holder)
        heir = None
        while heir is None:
            heir = next((one.result() for one in futures if one.done()), None)
        assert isinstance(heir, Reservation)
        assert sum(future.done() for future in futures) == 1
        ledger.settle(heir, "{}", TENTH)
        found = [future.result(timeout=60) for future in futures]
    assert sum(isinstance(one, StoredRelease) for one in found) == 2
    assert kinds(ledger) == [Kind.RESERVED, Kind.FORFEITED, Kind.RESERVED, Kind.SETTLED]


def test_only_a_question_that_would_be_answered_waits(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    first(ledger, "top 3")

    def at_least(k: int) -> Callable[[str], bool]:
        return lambda question: int(question.split()[1]) >= k

    # A longer list is not in a shorter one, and other questions are other questions.
    assert isinstance(claim(ledger, "top 4", answers=at_least(4)), Reservation)
    assert isinstance(ledger.reserve_once("clicks", TENTH, "top 3", question_key="others"), Reservation)
    ledger.set_data_version("clicks", "tomorrow")
    assert isinstance(claim(ledger, "top 3", answers=at_least(3)), Reservation)
    ledger.set_data_version("clicks", "1")
    with pytest.raises(QuestionPending):
        claim(ledger, "top 2", answers=at_least(2), patience=SHORT)


def test_patience_ends_with_nothing_charged(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    first(ledger)
    before = ledger.history("clicks")
    with pytest.raises(QuestionPending) as caught:
        claim(ledger, patience=SHORT)
    assert str(caught.value) == (
        "the same question about dataset='clicks' is being answered, and was not done after patience=0.05 seconds; "
        "nothing was charged. An answer is paid for once, and free for whoever waits for it. Ask again in a while; if "
        "whoever asked first is gone for good, the owner can give that up with 'podium budget recover'."
    )
    assert ledger.history("clicks") == before


def test_nobody_waits_for_what_this_process_gave_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database was gone when a question failed, so its reservation could not be closed."""
    ledger.register("clicks", PURE, source="s")
    holder = first(ledger)
    with monkeypatch.context() as outage:
        outage.setattr(ledger._backend, "transaction", _unreachable)
        with pytest.raises(LedgerUnavailable):
            ledger.forfeit(holder)
    assert ledger.status("clicks").open_reservations == 1
    ledger.settle(first(ledger), "{}", TENTH)
    assert kinds(ledger) == [Kind.RESERVED, Kind.FORFEITED, Kind.RESERVED, Kind.SETTLED]
    assert ledger.history("clicks")[2].facts == {"reason": Reason.ABANDONED.value}
    assert ledger.verify().sound


def test_nobody_waits_for_a_reservation_whose_answer_was_lost(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was committed, but whoever made it heard of a failure."""
    ledger.register("clicks", PURE, source="s")
    whole = ledger._backend.transaction

    @contextmanager
    def cut(*, write: bool) -> Iterator[Any]:
        with whole(write=write) as session:
            yield session
        if write:
            raise LedgerUnavailable("the reply was lost")

    with monkeypatch.context() as outage:
        outage.setattr(ledger._backend, "transaction", cut)
        with pytest.raises(LedgerUnavailable):
            claim(ledger)
    assert kinds(ledger) == [Kind.RESERVED]
    assert first(ledger).number == 4
    assert kinds(ledger) == [Kind.RESERVED, Kind.FORFEITED, Kind.RESERVED]


def test_recovery_closes_what_this_process_gave_up_and_nothing_else(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.register("clicks", PURE, source="s")
    given_up, in_hand = first(ledger), ledger.reserve("clicks", TENTH, "another")
    with monkeypatch.context() as outage, suppress(LedgerUnavailable):
        outage.setattr(ledger._backend, "transaction", _unreachable)
        ledger.forfeit(given_up)
    with open_ledger(url) as other:
        assert kinds(other) == [Kind.RESERVED, Kind.RESERVED, Kind.FORFEITED]
        assert other.recover(force=True) == ()
        other.settle(in_hand, "{}", TENTH)
        assert other.verify().sound


def test_a_key_of_another_question_is_refused_without_waiting(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    ledger.settle(ledger.reserve("clicks", TENTH, "another", idempotency_key="monday"), "{}", TENTH)
    first(ledger)
    with pytest.raises(InvalidArgument, match="a key that was not used for another question"):
        claim(ledger, idempotency_key="monday")


def test_an_impatient_caller_waits_for_the_first_attempt(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    holder = first(ledger, idempotency_key="monday")
    with in_flight(ledger, 2, idempotency_key="monday") as futures:
        entry = ledger.settle(holder, "{}", TENTH)
        found = [future.result(timeout=60) for future in futures]
    assert {one.hash for one in found if isinstance(one, StoredRelease)} == {entry.hash}
    assert kinds(ledger) == [Kind.RESERVED, Kind.SETTLED]


def test_where_analysts_have_caps_who_waits_pays_for_the_sight(ledger: Ledger) -> None:
    ledger.register("clicks", CAPPED, source="s")
    with pytest.raises(InvalidArgument, match="analyst"):
        claim(ledger)
    holder = first(ledger, analyst="ann")
    ledger.reserve("clicks", Cost(epsilon="0.25", rho="0.03125"), "another", analyst="carol")
    with in_flight(ledger, 2, analyst="bob") as futures, in_flight(ledger, 1, analyst="carol") as refused:
        ledger.settle(holder, "{}", TENTH)
        found = [future.result(timeout=60) for future in futures]
        with pytest.raises(BudgetExceeded, match="carol"):
            refused[0].result(timeout=60)
    # Bob asked twice at once, and sees it for the first time once.
    assert sorted(isinstance(one, StoredRelease) and one.charged for one in found) == [False, True]
    assert ledger.status("clicks").analysts["bob"].epsilon == Fraction(1, 10)
    assert kinds(ledger).count(Kind.SEEN) == 1
    assert ledger.verify().sound


def _unreachable(*, write: bool) -> AbstractContextManager[Any]:
    raise LedgerUnavailable(f"there is nobody to {'write' if write else 'read'} for")

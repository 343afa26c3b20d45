"""Several questions, priced together and admitted all or none; each settles or forfeits alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from podium.curator.payment import LedgerAccount
from podium.curator.prepare import PlannedQuestion
from podium.curator.reuse import Reusable, record_of
from podium.errors import LedgerError, PodiumError
from podium.exact import Number
from podium.ledger import Reason, Reservation, Status, StoredRelease
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.planning.batch_plan import BatchPlan
from podium.planning.question_plan import Plan
from podium.privacy import Cost, total, worst_case
from podium.query import Question, QuestionRecord, RankingQuestion
from podium.query.batch_question import BatchQuestion
from podium.release import Release
from podium.release.batch_answers import BatchAnswers

__all__ = ["Batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Several questions about one data set, made by ``Curator.batch``.

    ``ask`` reserves the worst case of all of them in one transaction: all are admitted, or none. Then each is read,
    selected and settled by itself, so that what one of them fails with leaves the others as they are; only if so many
    fail that the analyst is locked out, the rest is cancelled, and its price returned. Questions that are answered by
    another one of the batch are paid with it, and repeats of earlier questions are free.
    """

    questions: tuple[BatchQuestion, ...]
    account: LedgerAccount
    prepare: Callable[[Question | RankingQuestion, Number | None], PlannedQuestion]
    show: Callable[[PlannedQuestion], Plan]
    answer: Callable[[PlannedQuestion, Reservation | StoredRelease], Release]
    analyst: str | None = None
    idempotency_key: str | None = None

    def __repr__(self) -> str:
        return (
            f"<Batch of {len(self.questions)} questions about {self.account.dataset!r}: plan() prices, ask() answers>"
        )

    def plan(self) -> BatchPlan:
        """What each question would do, and what all of them can cost together. Free: no row is read."""
        planned = self._prepare()
        records = [record_of(each) for each in planned]
        same_as = _twins(planned, records)
        paid = [each for place, each in enumerate(planned) if same_as[place] == place]
        charges = [Charged.of(each.strategy.worst_case, reserve=True) for each in paid]
        return BatchPlan(
            plans=tuple(map(self.show, planned)),
            questions=tuple(map(_sentence, records)),
            same_as=same_as,
            at_most=sum((worst_case(each.strategy.worst_case) for each in paid), Cost.nothing()),
            guarantee=total(event for each in paid for event in each.strategy.worst_case),
            fits=_fits(self.account.ledger.status(self.account.dataset), charges, self.analyst or self.account.analyst),
        )

    def ask(self) -> BatchAnswers:
        """Answer all questions. Raises if one of them is refused, or if they do not fit together: nothing is paid then.

        An error after that is the outcome of its question alone.
        """
        planned = self._prepare()
        same_as = _twins(planned, [record_of(each) for each in planned])
        places = [place for place, same in enumerate(same_as) if same == place]
        claimed = self.account.claim_together([planned[place] for place in places], self.analyst, self.idempotency_key)
        claims = dict(zip(places, claimed, strict=True))
        outcomes: dict[int, Release | PodiumError] = {}
        unread = dict(claims)
        locked: PodiumError | None = None
        try:
            for place in places:
                claim = unread.pop(place)
                if locked is not None and _is_new(claim):
                    # All were admitted before one failed, but no more may fail than one by one.
                    self._cancel([claim])
                    outcomes[place] = locked
                    continue
                outcomes[place] = self._outcome(planned[place], claim)
                if isinstance(outcomes[place], PodiumError) and locked is None:
                    locked = self._lock()
        except BaseException:
            # The question that was interrupted is given up by now; of those after it nothing was read.
            self._cancel(list(unread.values()))
            raise
        return BatchAnswers(tuple(
            outcomes[place] if same == place else self._again(planned[place], claims[same], outcomes[same])
            for place, same in enumerate(same_as)
        ))  # fmt: skip

    def _prepare(self) -> list[PlannedQuestion]:
        return [self.prepare(question, epsilon) for question, epsilon in self.questions]

    def _outcome(self, planned: PlannedQuestion, claimed: Reservation | StoredRelease) -> Release | PodiumError:
        try:
            return self.answer(planned, self.account.first_or_new(claimed, self.idempotency_key))
        except PodiumError as failed:
            return failed

    def _again(
        self, planned: PlannedQuestion, claimed: Reservation | StoredRelease, outcome: Release | PodiumError
    ) -> Release | PodiumError:
        """The answer of a question that another one of the batch paid for."""
        if isinstance(outcome, PodiumError):
            return outcome
        try:
            stored = claimed if isinstance(claimed, StoredRelease) else self.account.ledger.release_of(claimed)
            return outcome if stored is None else self.answer(planned, stored)
        except PodiumError as failed:
            return failed

    def _lock(self) -> PodiumError | None:
        """Why nothing more is read: the analyst is locked out, or nobody can say. What is paid for is not lost."""
        try:
            return self.account.lock(self.analyst)
        except PodiumError as unknown:
            return unknown

    def _cancel(self, claims: Sequence[Reservation | StoredRelease]) -> None:
        """Return what was reserved for questions that nothing was read for."""
        for claimed in claims:
            if isinstance(claimed, Reservation) and _is_new(claimed):
                with suppress(LedgerError):
                    self.account.ledger.forfeit(claimed, Reason.CANCELLED)


def _is_new(claimed: Reservation | StoredRelease) -> bool:
    return isinstance(claimed, Reservation) and claimed.fresh


def _twins(planned: Sequence[PlannedQuestion], records: Sequence[QuestionRecord]) -> tuple[int, ...]:
    """For each question the place of the longest one whose answer contains its own; of equal ones the first."""

    def contains(other: int, place: int) -> bool:
        same = records[other].key == records[place].key
        return other == place or (same and Reusable.by(planned[place])(records[other].to_text()))

    def best(place: int) -> int:
        return max(filter(lambda other: contains(other, place), range(len(records))), key=lambda o: (records[o].k, -o))

    chosen = [best(place) for place in range(len(records))]
    # Who pays for another pays for itself.
    return tuple(one if chosen[one] == one else place for place, one in enumerate(chosen))


def _sentence(record: QuestionRecord) -> str:
    table = "" if record.table is None else f" in {record.table}"
    groups = f" for each {' and '.join(record.per)}" if record.per else ""
    return f"top {record.k} of {', '.join(record.items)}{table}{groups}{' where ...' if record.where else ''}"


def _fits(status: Status, charges: Sequence[Charged], analyst: str | None) -> bool:
    """Whether all would be admitted one after the other, if none of them was answered before."""
    totals, held, own = status.totals, status.held, status.sums.get(analyst or "", Sum())
    for charge in charges:
        if totals.books.refusal(charge, held) is not None:
            return False
        held += Sum.of(charge.cost, totals.books.reserve(charge, held))
        if totals.cap is not None:
            if totals.cap.refusal(charge, own) is not None:
                return False
            own += Sum.of(charge.cost, totals.cap.reserve(charge, own))
    return totals.max_questions is None or status.questions_asked + len(charges) <= totals.max_questions

"""How a question is paid from a ledger, which remembers it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from podium.curator.prepare import PlannedQuestion
from podium.curator.pricing import AnyFacts, ledger_strategy
from podium.curator.reuse import Reusable, older_key, record_of
from podium.errors import DatasetLocked, InvalidArgument, PodiumError, ReservationClosed
from podium.exact import Number, positive_fraction
from podium.ledger import Ledger, Reason, Reservation, StoredRelease, Totals
from podium.ledger.reservation_request import Request, new_request
from podium.planning.strategy import Strategy

__all__ = ["LedgerAccount"]


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """The account of a data set in a ledger; ``schedule`` names the schedule that it pays for."""

    ledger: Ledger
    dataset: str
    analyst: str | None = None
    schedule: str | None = None

    def strategy(self, totals: Totals, facts: AnyFacts, epsilon: Number | None) -> tuple[Strategy, Mapping[str, str]]:
        """The strategy within what the ledger allows, and the budget that was requested."""
        strategy = ledger_strategy(totals, facts, epsilon)
        # No threshold hides items of a known domain, so questions about it do not differ by the delta of calls.
        delta = str(totals.delta_per_call) if strategy.facts.hides else "0"
        if epsilon is None:
            return strategy, {"epsilon_per_item": str(totals.epsilon_per_item), "delta": delta}
        return strategy, {"epsilon": str(positive_fraction(epsilon, "epsilon")), "delta": delta}

    def claim(
        self, planned: PlannedQuestion, analyst: str | None, idempotency_key: str | None
    ) -> Reservation | StoredRelease:
        """Return a stored release that answers the question, or reserve its worst case."""
        request = self._request(planned, analyst, idempotency_key)
        return self.first_or_new(self.ledger.claim_together(self.dataset, (request,))[0], idempotency_key)

    def claim_together(
        self, planned: Sequence[PlannedQuestion], analyst: str | None, idempotency_key: str | None
    ) -> tuple[Reservation | StoredRelease, ...]:
        """The same for several questions: all are admitted, or none. Each has a key of its own, made from theirs."""
        keys = [_key_of_part(idempotency_key, place) for place in range(len(planned))]
        wanted = [self._request(each, analyst, key) for each, key in zip(planned, keys, strict=True)]
        return self.ledger.claim_together(self.dataset, wanted)

    def lock(self, analyst: str | None) -> DatasetLocked | None:
        """Why this analyst may not ask now, if too many questions failed."""
        who, status = self.analyst if analyst is None else analyst, self.ledger.status(self.dataset)
        if status.locked:
            return DatasetLocked(self.dataset, status.failures)
        return DatasetLocked(self.dataset, status.failures_of[who], who) if who in status.locked_out else None

    def first_or_new(
        self, claimed: Reservation | StoredRelease, idempotency_key: str | None
    ) -> Reservation | StoredRelease:
        """What was claimed, or the release of the first attempt if the key was used before."""
        if isinstance(claimed, StoredRelease) or claimed.fresh:
            return claimed
        return self._first_attempt(claimed, idempotency_key)

    def _request(self, planned: PlannedQuestion, analyst: str | None, idempotency_key: str | None) -> Request:
        record = record_of(planned)
        return new_request(
            planned.strategy.worst_case,
            record.to_text(),
            analyst=self.analyst if analyst is None else analyst,
            question_key=record.key,
            older_key=older_key(planned),
            idempotency_key=idempotency_key,
            answers=Reusable.by(planned),
            table=planned.table,
        )

    def claim_for_schedule(
        self, planned: PlannedQuestion, *, text: str, key: str, after: str | None
    ) -> Reservation | StoredRelease:
        """The same for a question of a schedule; ``key`` is its permanent name, so it is paid for once."""
        claimed = self.ledger.reserve(
            self.dataset,
            planned.strategy.worst_case,
            text,
            analyst=self.analyst,
            question_key=key,
            idempotency_key=key,
            after=after,
            schedule=self.schedule,
            table=planned.table,
        )
        return claimed if claimed.fresh else self._first_attempt(claimed, key)

    def _first_attempt(self, reservation: Reservation, idempotency_key: str | None) -> StoredRelease:
        """The release of the first attempt with this idempotency key, or an error that states its outcome."""
        stored = self.ledger.release_of(reservation)
        if stored is not None:
            return stored
        raise InvalidArgument(
            "idempotency_key",
            idempotency_key,
            allowed="a new key for each question",
            hint=f"The first attempt with this key is {reservation.state.value}; ask again with another key.",
        )

    def give_up(self, reservation: Reservation) -> StoredRelease | None:
        """Forfeit the reservation, or return the release if it was settled and only the reply was lost."""
        with suppress(PodiumError):
            try:
                self.ledger.forfeit(reservation, Reason.FAILED)
            except ReservationClosed:
                return self.ledger.release_of(reservation)
        return None


def _key_of_part(idempotency_key: str | None, place: int) -> str | None:
    """A key for each question of a batch; a hash, so that no length is too long."""
    if idempotency_key is None:
        return None
    return hashlib.sha256(f"{place} of {idempotency_key}".encode("utf-8", "surrogatepass")).hexdigest()

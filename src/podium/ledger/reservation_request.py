"""Requests to reserve: what a question would cost at worst, and how it is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from podium.privacy import Charge, Cost, Event
from podium.storage.labels import label, long_text

__all__ = ["Request", "checked_charge", "key_of", "new_request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A validated request to reserve."""

    charge: Cost | tuple[Event, ...]
    question: str
    question_key: str
    analyst: str | None
    idempotency_key: str | None
    after: str | None = None
    schedule: str | None = None
    older_key: str | None = None
    table: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key under which a release that answers it may lie."""
        return (self.question_key,) if self.older_key is None else (self.question_key, self.older_key)


def key_of(text: str) -> str:
    """The key under which the ledger finds a question again: a hash, so its length is fixed."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def new_request(
    worst_case: Charge, question: str, question_key: str | None, analyst: str | None, idempotency_key: str | None
) -> Request:
    """Validate a request to reserve."""
    text = long_text(question, "question")
    return Request(
        checked_charge(worst_case),
        text,
        key_of(text if question_key is None else long_text(question_key, "question_key")),
        None if analyst is None else label(analyst, "analyst"),
        None if idempotency_key is None else label(idempotency_key, "idempotency_key"),
    )


def checked_charge(charge: Charge) -> Cost | tuple[Event, ...]:
    """A cost, or events as a tuple."""
    if isinstance(charge, Cost):
        return charge
    return tuple(charge) if isinstance(charge, Iterable) else (charge,)

"""Requests to reserve: what a question would cost at worst, and how it is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from podium.privacy import Charge, Cost, Event
from podium.storage.labels import label, long_text

__all__ = ["Request", "checked_charge", "key_of", "new_request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A validated request to reserve.

    ``answers`` says of the text of another question with the same key whether its release answers this one.
    """

    charge: Cost | tuple[Event, ...]
    question: str
    question_key: str
    analyst: str | None
    idempotency_key: str | None
    after: str | None = None
    schedule: str | None = None
    older_key: str | None = None
    table: str | None = None
    answers: Callable[[str], bool] | None = None
    session: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key under which a release that answers it may lie."""
        return (self.question_key,) if self.older_key is None else (self.question_key, self.older_key)


def key_of(text: str) -> str:
    """The key under which the ledger finds a question again: a hash, so its length is fixed."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def new_request(
    worst_case: Charge,
    question: str,
    *,
    question_key: str | None = None,
    older_key: str | None = None,
    analyst: str | None = None,
    idempotency_key: str | None = None,
    table: str | None = None,
    answers: Callable[[str], bool] | None = None,
) -> Request:
    """Validate a request to reserve; ``older_key`` is the key that an earlier podium stored the question under."""
    text = long_text(question, "question")
    return Request(
        checked_charge(worst_case),
        text,
        key_of(text if question_key is None else long_text(question_key, "question_key")),
        None if analyst is None else label(analyst, "analyst"),
        None if idempotency_key is None else label(idempotency_key, "idempotency_key"),
        older_key=None if older_key is None else key_of(long_text(older_key, "older_key")),
        table=table,
        answers=answers,
    )


def checked_charge(charge: Charge) -> Cost | tuple[Event, ...]:
    """A cost, or events as a tuple."""
    if isinstance(charge, Cost):
        return charge
    return tuple(charge) if isinstance(charge, Iterable) else (charge,)

"""Rows of the ledger's tables as objects, and back, strictly.

Exact numbers are stored as text in lowest terms. Anything in a row that podium would not have written is a
``Contradiction``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from podium.ledger.account import Account, Contradiction, TableAccount
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.budget import Totals
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.recorded import require_facts
from podium.privacy import Cost
from podium.storage.backend import Row, Value

__all__ = [
    "ACCOUNT_COLUMNS",
    "ENTRY_COLUMNS",
    "UNREADABLE",
    "account_from_row",
    "account_to_row",
    "analysts_from_rows",
    "entry_from_row",
    "entry_to_row",
    "mu_squared_value",
    "opened_from_rows",
    "stored_integer",
    "sum_from_row",
    "sum_to_row",
]

ENTRY_COLUMNS = (
    "sequence, kind, at, epsilon, rho, delta, reservation, analyst, question, question_key, data_version, "
    "idempotency_key, owner, details, release, state, salt, previous, hash"
)

ACCOUNT_COLUMNS = (
    "name, source, totals, data_version, failures_allowed, epsilon, unbounded, rho, delta, failures, questions, "
    "raises, sequence, head, tables, mu_squared"
)


UNREADABLE = (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError)
"""What is raised by reading a document that podium did not write."""

_AMOUNT = re.compile(r"[0-9]+(?:/[0-9]+)?")
_KEPT_AMOUNTS = 1024
_KINDS = {kind.value: kind for kind in Kind}


def entry_from_row(dataset: str, row: Row) -> Entry:
    """The entry in a row of ``ENTRY_COLUMNS``."""
    sequence, kind, at, epsilon, rho, delta, reservation, *texts, salt, previous, digest = row
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise Contradiction("a text is not a text")
    analyst, question, question_key, data_version, idempotency_key, owner, details, release, state = texts
    found = _KINDS.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise Contradiction("its kind is unknown")
    return Entry(
        _text(dataset),
        stored_integer(sequence),
        found,
        _text(at),
        _text(previous),
        _text(salt),
        cost=_cost(epsilon, rho, delta),
        reservation=None if reservation is None else stored_integer(reservation),
        analyst=analyst,
        question=question,
        question_key=question_key,
        data_version=data_version,
        idempotency_key=idempotency_key,
        owner=owner,
        details=_object(details),
        release=release,
        state=state,
        hash=_text(digest),
    )


def entry_to_row(entry: Entry) -> tuple[Value, ...]:
    """The values of ``ENTRY_COLUMNS``."""
    cost = entry.cost
    return (
        entry.sequence,
        entry.kind.value,
        entry.at,
        None if cost is None or cost.epsilon is None else str(cost.epsilon),
        None if cost is None else str(cost.rho),
        None if cost is None else str(cost.delta),
        entry.reservation,
        entry.analyst,
        entry.question,
        entry.question_key,
        entry.data_version,
        entry.idempotency_key,
        entry.owner,
        entry.details,
        entry.release,
        entry.state,
        entry.salt,
        entry.previous,
        entry.hash,
    )


def account_from_row(row: Row) -> Account:
    """The account in a row of ``ACCOUNT_COLUMNS``."""
    name, source, totals, data_version, allowed, epsilon, unbounded, rho, delta, *counts, head, tables, mu_squared = row
    failures, questions, raises, sequence = map(stored_integer, counts)
    try:
        read = Totals.from_dict(json.loads(totals))
        named = {name: TableAccount.of(*told) for name, told in json.loads(tables or "{}").items()}
    except UNREADABLE:
        raise Contradiction("its totals or tables cannot be read") from None
    return Account(
        dataset=_text(name),
        source=_text(source),
        totals=read,
        data_version=_text(data_version),
        failures_allowed=stored_integer(allowed),
        held=sum_from_row((epsilon, unbounded, rho, delta), mu_squared),
        failures=failures,
        questions=questions,
        raises=raises,
        sequence=sequence,
        head=_text(head),
        tables=named,
    )


def account_to_row(account: Account) -> tuple[Value, ...]:
    """The values of ``ACCOUNT_COLUMNS``."""
    return (
        account.dataset,
        account.source,
        account.totals.text,
        account.data_version,
        account.failures_allowed,
        *sum_to_row(account.held),
        account.failures,
        account.questions,
        account.raises,
        account.sequence,
        account.head,
        canonical_json(account.tables) if account.tables else None,
        mu_squared_value(account.held),
    )


def sum_from_row(row: Row, mu_squared: object) -> Sum:
    """The sum in four columns, and in the one that only accounts with a Gaussian filter use."""
    epsilon, unbounded, rho, delta = row
    charged = Fraction(0) if mu_squared is None else _exact(mu_squared)
    if mu_squared is not None and not charged:
        raise Contradiction("an amount is not an exact number")
    return Sum(_exact(epsilon), stored_integer(unbounded), _exact(rho), _exact(delta), charged)


def sum_to_row(value: Sum) -> tuple[Value, ...]:
    """The four columns of a sum."""
    return (str(value.epsilon), value.unbounded, str(value.rho), str(value.delta))


def mu_squared_value(value: Sum) -> str | None:
    """The fifth; empty where nothing is charged there."""
    return str(value.mu_squared) if value.mu_squared else None


def analysts_from_rows(rows: Iterable[Row]) -> dict[str, Row]:
    """The stored sums and failures of every analyst, unchecked, without what is empty at the end."""
    return {row[0]: row[1:] if row[-1] is not None else row[1:-1] if row[-2] else row[1:-2] for row in rows}


def opened_from_rows(rows: Iterable[Row]) -> dict[int, str]:
    """The numbers of the open reservations, and who holds them."""
    return {stored_integer(number): _text(owner) for number, owner in rows}


@lru_cache(maxsize=_KEPT_AMOUNTS)
def _cost(epsilon: object, rho: object, delta: object) -> Cost | None:
    if rho is None and delta is None and epsilon is None:
        return None
    return Cost(epsilon=None if epsilon is None else _exact(epsilon), rho=_exact(rho), delta=_exact(delta))


def _exact(value: object) -> Fraction:
    if not isinstance(value, str):
        raise Contradiction("an amount is not an exact number")
    return _amount(value)


@lru_cache(maxsize=_KEPT_AMOUNTS)
def _amount(value: str) -> Fraction:
    try:
        # Only what podium writes: Fraction would also read '1e999999999', for hours.
        number = Fraction(value) if _AMOUNT.fullmatch(value) else None
    except (ValueError, ZeroDivisionError):
        number = None
    if number is None or number < 0 or str(number) != value:
        raise Contradiction("an amount is not an exact number")
    return number


def _object(value: str | None) -> str | None:
    """A text of JSON that is an object."""
    try:
        if value is not None:
            require_facts(value)
    except (RecursionError, TypeError, ValueError):
        raise Contradiction("its details cannot be read") from None
    return value


def stored_integer(value: object) -> int:
    """An integer, as it was written."""
    if not isinstance(value, int):
        raise Contradiction("a count is not an integer")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Contradiction("a text is not a text")
    return value

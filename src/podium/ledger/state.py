"""The state of a data set: its account, the sums of its analysts, and what is open.

Every entry commits to the state right after it, by a digest that is part of what its hash covers. A question
compares what the tables say with the last entry: work that does not grow with the number of entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from podium.ledger.account import Account, Contradiction, change, charged_analyst, is_cancelled
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.entries import Entry, Kind, canonical_json, json_text
from podium.ledger.tables.rows import (
    ACCOUNT_COLUMNS,
    account_to_row,
    mu_squared_value,
    stored_integer,
    sum_from_row,
    sum_to_row,
)
from podium.storage.backend import Row

__all__ = ["NAMELESS", "State"]

NAMELESS: Final = ""
"""The analyst of questions that name none; real names are never empty."""

_SUMS = 4

_json_of_constant = lru_cache(maxsize=64)(json_text)
"""For texts that stay the same objects from entry to entry, and are longer than the rest together."""

_COMMITTED: Final = sorted(
    (name, place, _json_of_constant if name in ("source", "tables", "totals") else json_text)
    for place, name in enumerate(ACCOUNT_COLUMNS.split(", "))
    if name != "head"
)
"""The columns that an entry commits to, in the order of canonical JSON; their places in a row, and what writes them."""
_EMPTY: Final = (0, None)


@dataclass(frozen=True, slots=True)
class State:
    """What follows from the entries so far.

    ``analysts`` has sums and failures as they are stored, because a question reads one of them and compares all; all
    who gave no name are one analyst, NAMELESS. ``opened`` maps each open reservation to its holder.
    """

    account: Account
    analysts: Mapping[str, Row] = field(default_factory=dict)
    opened: Mapping[int, str] = field(default_factory=dict)

    def analyst(self, name: str) -> Sum:
        """What is charged to one analyst."""
        row = self.analysts.get(name)
        return Sum() if row is None else sum_from_row(row[:_SUMS], row[_SUMS + 1] if len(row) > _SUMS + 1 else None)

    def failures(self, analyst: str | None) -> int:
        """How many questions of an analyst were forfeited since the last unlock."""
        row = self.analysts.get(analyst or NAMELESS, ())
        return stored_integer(row[_SUMS]) if len(row) > _SUMS else 0

    def locked(self, analyst: str | None) -> bool:
        """Whether the analyst may not ask: too many of their questions failed, or of everybody's."""
        return self.account.locked or self.failures(analyst) >= self.account.failures_allowed

    def after(self, entry: Entry, reservation: Entry | None) -> State:
        """The state after ``entry``, which closes or reads ``reservation`` if there is one."""
        analysts, opened = dict(self.analysts), dict(self.opened)
        who = charged_analyst(entry, reservation)
        if who is not None:
            analysts[who] = _row(self.analyst(who) + change(entry, reservation, of_analyst=True), self.failures(who))
        for name, failures in self._failures_after(entry, reservation):
            analysts[name] = _row(self.analyst(name), failures)
        if entry.kind is Kind.RESERVED:
            opened[entry.sequence] = entry.owner or ""
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation is not None:
            opened.pop(entry.reservation, None)
        return State(self.account.after(entry, reservation), analysts, opened)

    def _failures_after(self, entry: Entry, reservation: Entry | None) -> list[tuple[str, int]]:
        """Whose failures an entry changes, and to what. Under the first rules there is one count for all."""
        if self.account.totals.rules == 1:
            return []
        if entry.kind is Kind.FORFEITED and reservation is not None and not is_cancelled(entry):
            return [(reservation.analyst or NAMELESS, self.failures(reservation.analyst) + 1)]
        if entry.kind is Kind.UNLOCKED:
            names = self.analysts if entry.analyst is None else [entry.analyst]
            return [(name, 0) for name in names if self.failures(name)]
        return []

    def digest(self) -> str:
        """What an entry commits to. The head is left out, because it is the hash of that entry."""
        row = account_to_row(self.account)
        # What is empty is left out, so that a later version may add sums without changing what was committed.
        account = [
            f'"{name}":{write(value) if isinstance(value, str) else value}'
            for name, place, write in _COMMITTED
            if (value := row[place]) not in _EMPTY
        ]
        try:
            analysts = canonical_json(self.analysts) if self.analysts else "{}"
        except (TypeError, ValueError):
            raise Contradiction("a sum is not a number") from None
        opened = ",".join([f"[{number},{json_text(owner)}]" for number, owner in sorted(self.opened.items())])
        # Canonical JSON of an object with these three members.
        text = f'{{"account":{{{",".join(account)}}},"analysts":{analysts},"opened":[{opened}]}}'
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def _row(held: Sum, failures: int) -> Row:
    """As it is read from the tables, without what is empty at the end."""
    charged = mu_squared_value(held)
    if charged is not None:
        return (*sum_to_row(held), failures, charged)
    return (*sum_to_row(held), failures) if failures else sum_to_row(held)

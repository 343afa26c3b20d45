"""The state of a data set: its account, the sums of its analysts, and what is open.

Every entry commits to the state right after it, by a digest that is part of what its hash covers. A question
compares what the tables say with the last entry: work that does not grow with the number of entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from podium.ledger.account import Account, Contradiction, Sum, change, charged_analyst
from podium.ledger.backend import Row
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.rows import ACCOUNT_COLUMNS, account_to_row, sum_from_row, sum_to_row

__all__ = ["State"]


@dataclass(frozen=True, slots=True)
class State:
    """What follows from the entries so far.

    ``analysts`` has sums as they are stored, because a question reads one of them and compares all. ``opened`` has who
    holds each open reservation.
    """

    account: Account
    analysts: Mapping[str, Row] = field(default_factory=dict)
    opened: Mapping[int, str] = field(default_factory=dict)

    def analyst(self, name: str) -> Sum:
        """What is charged to one analyst."""
        row = self.analysts.get(name)
        return Sum() if row is None else sum_from_row(row)

    def after(self, entry: Entry, reservation: Entry | None) -> State:
        """The state after ``entry``, which closes or reads ``reservation`` if there is one."""
        analysts, opened = dict(self.analysts), dict(self.opened)
        who = charged_analyst(entry, reservation)
        if who is not None:
            analysts[who] = sum_to_row(self.analyst(who) + change(entry, reservation))
        if entry.kind is Kind.RESERVED:
            opened[entry.sequence] = entry.owner or ""
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation is not None:
            opened.pop(entry.reservation, None)
        return State(self.account.after(entry, reservation), analysts, opened)

    def digest(self) -> str:
        """What an entry commits to. The head is left out, because it is the hash of that entry."""
        named = zip(ACCOUNT_COLUMNS.split(", "), account_to_row(self.account), strict=True)
        document = {
            # Zeros are left out, so that a later version may add sums without changing what was committed.
            "account": {name: value for name, value in named if name != "head" and value != 0},
            "analysts": self.analysts,
            "opened": sorted(self.opened.items()),
        }
        try:
            text = canonical_json(document)
        except (TypeError, ValueError):
            raise Contradiction("a sum is not a number") from None
        return hashlib.sha256(text.encode("ascii")).hexdigest()

"""Budgets that outlive the process: reserve, settle or forfeit, in SQLite or PostgreSQL, hash-chained.

``open_ledger`` opens one by its address. A ``Budget`` is fixed when a data set is registered; every question
reserves its worst case before a row is read, and is settled together with its release.
"""

from podium.ledger.addresses import open_ledger
from podium.ledger.bookkeeping.remaining import Remaining
from podium.ledger.budget import Budget, Totals
from podium.ledger.entries import Entry, Kind, Reason
from podium.ledger.ledger import Ledger
from podium.ledger.receipts import Confirmed
from podium.ledger.reservations import Reservation, State, StoredRelease
from podium.ledger.status import Status
from podium.ledger.verification import Problem, Verification

__all__ = [
    "Budget",
    "Confirmed",
    "Entry",
    "Kind",
    "Ledger",
    "Problem",
    "Reason",
    "Remaining",
    "Reservation",
    "State",
    "Status",
    "StoredRelease",
    "Totals",
    "Verification",
    "open_ledger",
]

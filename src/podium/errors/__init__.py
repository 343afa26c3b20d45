"""Every error that podium raises on purpose.

    PodiumError
    ├── AuditError             a mechanism could not be audited
    │   ├── NotRandom          a sampler repeats itself
    │   ├── SamplerFailed      a sampler raised an error
    │   └── UnusableOutcome    what a sampler returned cannot be counted
    ├── BudgetError            a budget does not cover what was asked of it
    │   ├── BudgetExceeded     the release may cost more than is left
    │   └── BudgetMismatch     this kind of loss cannot be charged to this kind of budget
    ├── InvalidArgument        a parameter is outside what is allowed (also a ValueError)
    │   └── UnknownEvent       a receipt names a kind or version of event that does not exist
    ├── EntropyFailure         the random bits look broken; nothing was released
    ├── LedgerError            the ledger of budgets could not do what was asked
    │   ├── DatasetExists      the name or the source is registered already
    │   ├── DatasetLocked      too many questions failed; the owner must look first
    │   ├── LedgerLocked       another process kept the ledger busy for too long
    │   ├── LedgerTampered     the ledger contradicts itself
    │   ├── LedgerUnavailable  the file or server cannot be opened, or is not a ledger of ours
    │   ├── QuestionPending    the same question is being answered for somebody else
    │   ├── ReservationClosed  the reservation was settled or forfeited before
    │   └── UnknownDataset     no data set of that name is registered
    ├── MissingLibrary         an optional library is not installed (also an ImportError)
    ├── OutputFailed           the answer is released, but its file could not be written (also an OSError)
    ├── QuestionForfeited      a question failed after its data was read; what was reserved stays charged
    ├── QuestionRefused        a part of a question is outside the language; no row was read
    └── SourceError            the data could not be read
        ├── SourceFailure      the engine failed while it read rows
        ├── SourceUnavailable  the file, table or server cannot be opened; no row was read
        └── UnknownColumn      the table has no such column; no row was read

A message has three sentences: what is wrong (quoting ``name=value``), what is allowed, what to do.
No message ever contains a value that depends on private rows.
"""

from __future__ import annotations

from podium.errors.arguments import InvalidArgument, MissingLibrary, OutputFailed, UnknownEvent
from podium.errors.audits import AuditError, NotRandom, SamplerFailed, UnusableOutcome
from podium.errors.budgets import BudgetError, BudgetExceeded, BudgetMismatch
from podium.errors.ledgers import (
    DatasetExists,
    DatasetLocked,
    LedgerError,
    LedgerLocked,
    LedgerTampered,
    LedgerUnavailable,
    QuestionPending,
    ReservationClosed,
    UnknownDataset,
)
from podium.errors.questions import (
    EntropyFailure,
    QuestionForfeited,
    QuestionRefused,
    interruption_note,
    settlement_note,
)
from podium.errors.root import PodiumError
from podium.errors.sources import SourceError, SourceFailure, SourceUnavailable, UnknownColumn

__all__ = [
    "AuditError",
    "BudgetError",
    "BudgetExceeded",
    "BudgetMismatch",
    "DatasetExists",
    "DatasetLocked",
    "EntropyFailure",
    "InvalidArgument",
    "LedgerError",
    "LedgerLocked",
    "LedgerTampered",
    "LedgerUnavailable",
    "MissingLibrary",
    "NotRandom",
    "OutputFailed",
    "PodiumError",
    "QuestionForfeited",
    "QuestionPending",
    "QuestionRefused",
    "ReservationClosed",
    "SamplerFailed",
    "SourceError",
    "SourceFailure",
    "SourceUnavailable",
    "UnknownColumn",
    "UnknownDataset",
    "UnknownEvent",
    "UnusableOutcome",
    "interruption_note",
    "settlement_note",
]

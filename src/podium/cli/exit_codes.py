"""The exit codes: one table, from which the code, ``podium --help`` and the documentation are made."""

from __future__ import annotations

from dataclasses import dataclass

from podium import errors

__all__ = [
    "EXIT_CODES",
    "INTERRUPTED",
    "REFUTED",
    "UNEXPECTED",
    "UNSOUND",
    "USAGE",
    "ExitCode",
    "exit_code_of",
    "exit_code_table",
]

UNEXPECTED, USAGE, UNSOUND, REFUTED, INTERRUPTED = 1, 2, 7, 8, 130


@dataclass(frozen=True, slots=True)
class ExitCode:
    """A code, what it means for whoever called, and the errors that lead to it."""

    code: int
    meaning: str
    errors: tuple[type[errors.PodiumError], ...] = ()


EXIT_CODES = (
    ExitCode(0, "answered, also with fewer than k items"),
    ExitCode(UNEXPECTED, "podium itself failed: a defect, please report it", (errors.PodiumError,)),
    ExitCode(
        USAGE,
        "the command or the question is wrong; nothing was read",
        (errors.InvalidArgument, errors.QuestionRefused, errors.UnknownColumn),
    ),
    ExitCode(3, "the budget does not allow it; nothing was read", (errors.BudgetError, errors.DatasetLocked)),
    ExitCode(
        4, "the data cannot be opened, or a library is missing; nothing was read",
        (errors.SourceError, errors.MissingLibrary),
    ),
    ExitCode(5, "the ledger cannot be opened, or does not know the data set", (errors.LedgerError,)),
    ExitCode(
        6, "it failed after rows may have been read; what was reserved is forfeited",
        (errors.QuestionForfeited, errors.SourceFailure, errors.EntropyFailure),
    ),
    ExitCode(UNSOUND, "the ledger contradicts itself", (errors.LedgerTampered,)),
    ExitCode(REFUTED, "an audit refuted a claim, or could not be made", (errors.AuditError,)),
    ExitCode(9, "the answer is on stdout, because its file could not be written", (errors.OutputFailed,)),
    ExitCode(INTERRUPTED, "interrupted (Ctrl-C); what was reserved is forfeited"),
)  # fmt: skip

_CODES = {error: entry.code for entry in EXIT_CODES for error in entry.errors}


def exit_code_of(error: errors.PodiumError) -> int:
    """The code of the closest ancestor in the table."""
    return next(_CODES[cls] for cls in type(error).__mro__ if cls in _CODES)


def exit_code_table() -> str:
    """The table as text."""
    return "\n".join(f"{entry.code:>5}  {entry.meaning}" for entry in EXIT_CODES)

"""Exit codes: one table that the code, ``podium --help`` and the documentation share."""

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
    """A code, its meaning for the caller, and the errors that map to it."""

    code: int
    meaning: str
    errors: tuple[type[errors.PodiumError], ...] = ()


EXIT_CODES = (
    ExitCode(0, "success, including an answer with fewer than k items"),
    ExitCode(UNEXPECTED, "internal error: a bug in podium, please report it", (errors.PodiumError,)),
    ExitCode(
        USAGE,
        "invalid command or question; nothing was read",
        (errors.InvalidArgument, errors.QuestionRefused, errors.UnknownColumn),
    ),
    ExitCode(3, "refused by the budget; nothing was read", (errors.BudgetError, errors.DatasetLocked)),
    ExitCode(
        4, "the data cannot be opened, or a library is missing; nothing was read",
        (errors.SourceError, errors.MissingLibrary),
    ),
    ExitCode(5, "the ledger cannot be opened, or the data set is not registered", (errors.LedgerError,)),
    ExitCode(
        6, "failed after rows may have been read; the reserved budget is forfeited",
        (errors.QuestionForfeited, errors.SourceFailure, errors.EntropyFailure),
    ),
    ExitCode(UNSOUND, "the ledger failed verification", (errors.LedgerTampered,)),
    ExitCode(REFUTED, "an audit refuted a claim or could not run, or an engine failed its check", (errors.AuditError,)),
    ExitCode(9, "the output file could not be written; the answer is on stdout", (errors.OutputFailed,)),
    ExitCode(INTERRUPTED, "interrupted (Ctrl-C); the reserved budget is forfeited"),
)  # fmt: skip

_CODES = {error: entry.code for entry in EXIT_CODES for error in entry.errors}


def exit_code_of(error: errors.PodiumError) -> int:
    """The code of an error, or of its closest ancestor in the table."""
    return next(_CODES[cls] for cls in type(error).__mro__ if cls in _CODES)


def exit_code_table() -> str:
    """The table as text."""
    return "\n".join(f"{entry.code:>5}  {entry.meaning}" for entry in EXIT_CODES)

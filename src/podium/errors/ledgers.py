"""Errors of the ledger of budgets."""

from __future__ import annotations

from podium.errors.root import PodiumError

__all__ = [
    "DatasetExists",
    "DatasetLocked",
    "LedgerError",
    "LedgerLocked",
    "LedgerTampered",
    "LedgerUnavailable",
    "QuestionPending",
    "ReservationClosed",
    "UnknownDataset",
]


class LedgerError(PodiumError):
    """The ledger of budgets could not do what was asked. What was reserved before stays charged."""


class DatasetExists(LedgerError):
    """The name is registered with other totals, or the same source is registered under another name."""

    def __init__(self, dataset: str, registered_as: str) -> None:
        self.dataset = dataset
        self.registered_as = registered_as
        if dataset == registered_as:
            text = (
                f"dataset={dataset!r} is registered already, with another budget or source. A total is fixed when a "
                "data set is registered. Ask under the budget it has, or record a larger one with "
                "'podium budget raise' (in Python: raise_total)."
            )
        else:
            text = (
                f"dataset={dataset!r} names a source that is registered already, as {registered_as!r}. Two budgets for "
                "the same users add up to a weaker promise. Use that data set, or register again with --force "
                "(in Python: force=True)."
            )
        super().__init__(text)


class DatasetLocked(LedgerError):
    """Too many questions failed after reading rows; which ones fail is not covered by the guarantee."""

    def __init__(self, dataset: str, failures: int, analyst: str | None = None) -> None:
        self.dataset = dataset
        self.failures = failures
        self.analyst = analyst
        whom = "" if analyst is None else f" for analyst={analyst!r}"
        super().__init__(
            f"dataset={dataset!r} is locked{whom} after {failures} failed questions. Stored releases can still be "
            "read; new questions are refused. Its owner should find out why they failed, then unlock it."
        )


class LedgerLocked(LedgerError):
    """Another process kept the ledger busy for longer than the timeout. Nothing was changed."""

    def __init__(self, ledger: str, timeout: float) -> None:
        self.ledger = ledger
        self.timeout = timeout
        super().__init__(
            f"ledger={ledger!r} was busy for more than timeout={timeout:g} seconds; nothing was changed. One process "
            "at a time may write. Try again, or end the process that holds it."
        )


class LedgerTampered(LedgerError):
    """The ledger contradicts itself: something other than podium changed, removed or added rows."""

    def __init__(self, dataset: str, problem: str) -> None:
        self.dataset = dataset
        self.problem = problem
        super().__init__(
            f"the ledger of dataset={dataset!r} is not sound: {problem}. Only podium may write to a ledger. Nothing "
            "was released; let verify() find the first bad entry, and compare with a backup and the hashes in receipts."
        )


class LedgerUnavailable(LedgerError):
    """The file or server cannot be opened, or what is there is not a ledger that this podium can read."""


class QuestionPending(LedgerError):
    """The same question is already being answered, and the answer did not come in time. Nothing was charged."""

    def __init__(self, dataset: str, patience: float) -> None:
        self.dataset = dataset
        self.patience = patience
        super().__init__(
            f"the same question about dataset={dataset!r} is being answered, and was not done after "
            f"patience={patience:g} seconds; nothing was charged. An answer is paid for once, and free for whoever "
            "waits for it. Ask again in a while; if whoever asked first is gone for good, the owner can give that up "
            "with 'podium budget recover'."
        )


class ReservationClosed(LedgerError):
    """The reservation is already closed, so nothing can be released on it."""

    def __init__(self, dataset: str, reservation: int, state: str) -> None:
        self.dataset = dataset
        self.reservation = reservation
        self.state = state
        super().__init__(
            f"reservation={reservation} of dataset={dataset!r} was {state} before. A reservation is settled or "
            "forfeited once, and pays for one release. Reserve again to ask again."
        )


class UnknownDataset(LedgerError):
    """No data set of that name is registered."""

    def __init__(self, dataset: str, near: str | None) -> None:
        self.dataset = dataset
        self.near = near
        hint = f"Did you mean {near!r}?" if near else "Register it first, with a budget."
        super().__init__(f"dataset={dataset!r} is not registered. Allowed: a name given at registration. {hint}")

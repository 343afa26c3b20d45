"""Errors of the auditor."""

from __future__ import annotations

from podium.errors.root import PodiumError

__all__ = ["AuditError", "NotRandom", "SamplerFailed", "UnusableOutcome"]


class AuditError(PodiumError):
    """A mechanism could not be audited. That says nothing about its privacy unless the text says so."""


class NotRandom(AuditError):
    """A sampler repeats itself, so nothing can be concluded from counting its draws.

    ``constant``: only one outcome was ever seen. Otherwise its draws depend on each other, which is a finding.
    """

    def __init__(self, text: str, constant: bool) -> None:
        self.constant = constant
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        return (NotRandom, (str(self), self.constant))


class SamplerFailed(AuditError):
    """A sampler raised an error; the cause is chained, because audited inputs are synthetic."""

    def __init__(self, kind: str, pair: str, draws: int) -> None:
        self.kind = kind
        self.pair = pair
        self.draws = draws
        super().__init__(
            f"the sampler raised {kind} on the input {pair} after {draws} draws. A sampler must answer every input: "
            "to an analyst an error is an outcome too. Catch it in the sampler and return it as an outcome, or mend it."
        )


class UnusableOutcome(AuditError):
    """What a sampler returned cannot be counted: it is not hashable, or there are too many different outcomes."""

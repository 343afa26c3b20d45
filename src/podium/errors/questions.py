"""Errors about one question: refused before a row was read, or forfeited after."""

from __future__ import annotations

from fractions import Fraction

from podium.errors.root import PodiumError, round_up

__all__ = ["EntropyFailure", "QuestionForfeited", "QuestionRefused", "interruption_note", "settlement_note"]


class QuestionForfeited(PodiumError):
    """A question failed after its data may have been read. What was reserved for it stays charged.

    The text is constant but for public facts: why it failed may depend on private rows.
    """

    def __init__(self, dataset: str, rho: Fraction, delta: Fraction) -> None:
        self.dataset = dataset
        self.rho = rho
        self.delta = delta
        super().__init__(
            f"The question on {dataset!r} failed after its data may have been read, so what was reserved for it "
            f"(rho={round_up(rho)}, delta={round_up(delta)}) is forfeited. Nothing was released. "
            "Why is withheld, because it may depend on private rows: ask the owner to look at the engine."
        )


class QuestionRefused(PodiumError):
    """A part of a question is outside the language that cannot fail on any row. No row was read.

    ``part`` quotes the question, never the data.
    """

    def __init__(self, part: str, reason: str, *, hint: str) -> None:
        self.part: str = part if len(part) <= 80 else part[:77] + "..."
        self.reason = reason
        self.hint = hint
        super().__init__(" ".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """What is wrong, what to do instead."""
        return (f"{self.part!r} is not allowed: {self.reason}.", self.hint)


class EntropyFailure(PodiumError, RuntimeError):
    """The source of random bits failed a health test, or produced a pattern that cannot be chance.

    Raised instead of releasing anything, because noise from broken bits protects nobody.
    """


def interruption_note(dataset: str, rho: Fraction, delta: Fraction) -> str:
    """What an interruption says about the question that it ended, for ``BaseException.add_note``."""
    return (
        f"The question on {dataset!r} was interrupted after its data may have been read, so what was reserved for it "
        f"(rho={round_up(rho)}, delta={round_up(delta)}) is forfeited. Nothing was released. "
        "Asking again costs again."
    )


def settlement_note(dataset: str) -> str:
    """The same for an interruption that came after the answer was paid for and stored."""
    return (
        f"The question on {dataset!r} was interrupted after its answer was paid for and stored. "
        "Asking again is free, and tells it."
    )

"""Whole sessions as outcomes: what an analyst sees who asks again and again, choosing by the answers so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from podium.errors import BudgetError
from podium.exact import positive_integer
from podium.release import Release

__all__ = ["REFUSED", "Transcripts"]

REFUSED = "refused"
"""Stands in a transcript where the budget refused: an analyst sees that too."""

Ask: TypeAlias = Callable[[Any, tuple[Any, ...]], Any]


@dataclass(frozen=True, slots=True)
class Transcripts:
    """A sampler of transcripts: one draw is one session, from its opening to its last answer.

    ``start(data)`` opens a session with a fresh budget. ``ask(session, seen)`` asks the next question, which may depend
    on the answers ``seen``, and returns the answer, or None to stop. A refusal for lack of budget ends the session and
    is part of the transcript. The claim to audit is that of the whole budget.
    """

    start: Callable[[Any], Any]
    ask: Ask
    calls: int = 10

    def __post_init__(self) -> None:
        positive_integer(self.calls, "calls")

    def __call__(self, data: Any) -> tuple[Any, ...]:
        """One session."""
        session = self.start(data)
        seen: tuple[Any, ...] = ()
        try:
            while len(seen) < self.calls:
                answer = self.ask(session, seen)
                if answer is None:
                    break
                seen = (*seen, _shown(answer))
        except BudgetError:
            return (*seen, REFUSED)
        finally:
            close = getattr(session, "close", None)
            if close is not None:
                close()
        return seen


def _shown(answer: Any) -> Any:
    """What of a release is seen, as something to compare the next question with."""
    if not isinstance(answer, Release):
        return answer
    chosen = answer.parameters.get("chosen_k_bar")
    extras = [*([answer.values] if answer.values else []), *([chosen] if chosen else [])]
    return (answer.outcome, *extras) if extras else answer.outcome

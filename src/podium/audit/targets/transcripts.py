"""Whole sessions as outcomes: what an analyst sees who asks again and again, choosing by the answers so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from podium.audit.statistical.observation import Raised
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
    on the answers ``seen`` (the outcomes of releases, with values where there are any), and returns the answer, or None
    to stop. The transcript has the whole releases. A refusal for lack of budget or any other error ends the session and
    is part of it, with its text. The claim to audit is that of the whole budget.
    """

    start: Callable[[Any], Any]
    ask: Ask
    calls: int = 10

    def __post_init__(self) -> None:
        positive_integer(self.calls, "calls")

    def __call__(self, data: Any) -> tuple[Any, ...]:
        """One session."""
        session = self.start(data)
        answers: list[Any] = []
        seen: tuple[Any, ...] = ()
        try:
            while len(seen) < self.calls:
                answer = self.ask(session, seen)
                if answer is None:
                    break
                answers.append(answer)
                seen = (*seen, _outcome(answer))
        except BudgetError as refusal:
            answers += [REFUSED, Raised.of(refusal)]
        except Exception as error:  # noqa: BLE001 - to an analyst it is an answer
            answers.append(Raised.of(error))
        finally:
            close = getattr(session, "close", None)
            if close is not None:
                close()
        return tuple(answers)


def _outcome(answer: Any) -> Any:
    """What of a release the next question is chosen by."""
    if not isinstance(answer, Release):
        return answer
    chosen = answer.parameters.get("chosen_k_bar")
    extras = [*([answer.values] if answer.values else []), *([chosen] if chosen else [])]
    return (answer.outcome, *extras) if extras else answer.outcome

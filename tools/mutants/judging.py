"""What became of a mutation, from the runs of its tests with and without it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tools.mutants.mutant import Mutant
from tools.mutants.trees import Run

__all__ = ["Fate", "Verdict", "judged", "unsound"]


class Fate(StrEnum):
    """Only the first is good."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    BY_ACCIDENT = "KILLED BY ACCIDENT"
    UNSOUND = "FAILS WITHOUT IT"
    STALE = "STALE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutation, and why."""

    mutant: Mutant
    fate: Fate
    reason: str = ""


def judged(mutant: Mutant, run: Run) -> Verdict:
    """Killed if each of its tests failed, and all that failed did so by an assertion or by the error that was named."""
    if run.trouble:
        return Verdict(mutant, Fate.BY_ACCIDENT, run.trouble)
    for node in mutant.nodes:
        failed = [seen for seen, outcome in run.of(node).items() if outcome == "failed"]
        if not failed:
            return Verdict(mutant, Fate.SURVIVED, node)
        allowed = {"assertion", *([mutant.raises] if mutant.raises else [])}
        for seen in failed:
            kind, text = run.errors[seen]
            if kind not in allowed:
                return Verdict(mutant, Fate.BY_ACCIDENT, f"{seen}: {kind}: {text}")
    return Verdict(mutant, Fate.KILLED)


def unsound(mutant: Mutant, run: Run) -> Verdict | None:
    """Why a mutation cannot be judged: its tests must exist and pass on the code as it is."""
    if run.trouble:
        return Verdict(mutant, Fate.UNSOUND, run.trouble)
    for node in mutant.nodes:
        outcomes = run.of(node)
        if not outcomes or set(outcomes.values()) != {"passed"}:
            return Verdict(mutant, Fate.UNSOUND, f"{node}: {', '.join(sorted(set(outcomes.values()))) or 'not found'}")
    return None

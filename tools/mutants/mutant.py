"""One mutation: a text that occurs once in a file, what it becomes, why that matters, and the tests that must fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Mutant", "Stale"]

ROOT = Path(__file__).resolve().parents[2]
_SOURCE = Path("src/podium")


class Stale(Exception):
    """The text of a mutation is no longer there, or is there more than once: the list must follow the code."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """``file`` is below src/podium, ``tests`` are node ids below tests: each must fail, with an assertion.

    A test may also fail because an error of its own naming got through, such as ``raises="BudgetMismatch"``: then
    what the test asserts is that no such error is raised.
    """

    file: str
    before: str
    after: str
    why: str
    tests: tuple[str, ...]
    raises: str | None = None

    @property
    def path(self) -> Path:
        """The file, relative to the root of the tree."""
        return _SOURCE / self.file

    @property
    def nodes(self) -> tuple[str, ...]:
        """The tests as pytest wants them, relative to the root of the tree."""
        return tuple(f"tests/{test}" for test in self.tests)

    @property
    def name(self) -> str:
        """What to call it: the file and the change in one line."""
        return f"{self.file}: {_shown(self.before)} -> {_shown(self.after)}"

    def applied(self, text: str) -> str:
        """The text of the file with the mutation; SyntaxError if that does not compile."""
        found = text.count(self.before)
        if found != 1:
            raise Stale(f"{self.file}: {_shown(self.before)!r} occurs {found} times, not once")
        mutated = text.replace(self.before, self.after)
        compile(mutated, self.file, "exec")
        return mutated


def _shown(text: str) -> str:
    return " ".join(text.split())

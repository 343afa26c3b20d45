"""One mutation: a text that occurs once in a file, what it becomes, why that matters, and the tests that must fail."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["ROOT", "Mutant", "Stale"]

ROOT = Path(__file__).resolve().parents[2]
_SOURCE = Path("src/podium")
_BLOCKS = (ast.Module, ast.ClassDef)


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
        """The text of the file with the mutation; it must be another program, and one that compiles."""
        found = text.count(self.before)
        if found != 1:
            raise Stale(f"{self.file}: {_shown(self.before)!r} occurs {found} times, not once")
        mutated = text.replace(self.before, self.after)
        line = text[: text.index(self.before)].count("\n") + 1
        if _statement(text, line) == _statement(mutated, line):
            raise Stale(f"{self.file}: {_shown(self.after)!r} is the same program")
        return mutated


def _statement(text: str, line: int) -> str:
    """What the innermost function or class around a line means, or else the statement there; comments mean nothing."""
    node: ast.AST | None = _parsed(text)
    found = ""
    while node is not None:
        body: list[ast.stmt] = getattr(node, "body", []) if isinstance(node, _BLOCKS) else []
        node = next((part for part in body if part.lineno <= line <= (part.end_lineno or part.lineno)), None)
        found = found if node is None else ast.dump(node) if not isinstance(node, ast.ClassDef) else ""
    return found


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _shown(text: str) -> str:
    return " ".join(text.split())

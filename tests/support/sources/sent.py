"""What is sent to an engine."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["note_statements"]


def note_statements(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """The statements that ``owner.name`` runs from now on, in order; it takes a session and a statement."""
    statements: list[str] = []
    run = getattr(owner, name)

    def noted(session: Any, statement: str) -> Any:
        statements.append(statement)
        return run(session, statement)

    monkeypatch.setattr(owner, name, noted)
    return statements

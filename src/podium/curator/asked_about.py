"""What a release says of its question: what was stated, without paths, without long lists, and without rows."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from podium.query import Question, RankingQuestion
from podium.release.asked import Asked

__all__ = ["asked_about"]

_MAX_LISTED: Final = 100
_FILES: Final = ("domain", "groups", "items", "pairs")
"""What may be a file is told by its name."""


def asked_about(question: Question | RankingQuestion | None, source: str) -> Asked | None:
    """The question in the words of its asker, at this moment; ``source`` is a name, a path or an address."""
    if question is None:
        return None
    stated = {each.name: (getattr(question, each.name), each.default) for each in fields(question)}
    told = {
        name: _plain(name, value)
        for name, (value, default) in stated.items()
        if value is not None and (type(value) not in (type(default), tuple) or value not in (default, ()))
    }
    return Asked.now(told, Path(source).name)


def _plain(name: str, value: object) -> Any:
    """Plain data of at most two lists in each other."""
    if isinstance(value, Path) or (isinstance(value, str) and name in _FILES):
        return Path(value).name
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, tuple) and len(value) > _MAX_LISTED:
        return f"{len(value):,} values"
    if isinstance(value, tuple):
        parts = [[_scalar(part) for part in one] if isinstance(one, tuple) else _scalar(one) for one in value]
        return parts[0] if len(parts) == 1 and name not in _FILES else parts
    return str(value) if _is_number(value) else type(value).__name__


def _scalar(value: object) -> Any:
    return value if isinstance(value, (str, bool, int)) else str(value)


def _is_number(value: object) -> bool:
    return hasattr(value, "__round__")

"""podium: the top k of a table, private for every user in it."""

from __future__ import annotations

import importlib
import sys
from types import FunctionType
from typing import TYPE_CHECKING

from podium.version import __version__

if TYPE_CHECKING:
    from podium.client import connect
    from podium.curator import Curator, Table, TopKMonitor, plan, plan_rank, rank, sql, top
    from podium.histogram import Histogram, Scores
    from podium.ledger import Budget
    from podium.planning.question_plan import Plan
    from podium.query import Question
    from podium.query.join import Join
    from podium.release import BOTTOM, Release

__all__ = [
    "BOTTOM", "Budget", "Curator", "Histogram", "Join", "Plan", "Question", "Release", "Scores", "Table", "TopKMonitor",
    "__version__", "connect", "plan", "plan_rank", "rank", "sql", "top",
]  # fmt: skip

_HOMES = {
    "BOTTOM": "podium.release",
    "Budget": "podium.ledger.budget",
    "Curator": "podium.curator.curator",
    "Histogram": "podium.histogram",
    "Join": "podium.query.join",
    "Plan": "podium.planning.question_plan",
    "Question": "podium.query",
    "Release": "podium.release",
    "Scores": "podium.histogram",
    "Table": "podium.curator.open_tables",
    "TopKMonitor": "podium.curator.monitor.topk_monitor",
    "connect": "podium.client",
    "plan": "podium.curator.once",
    "plan_rank": "podium.curator.once",
    "rank": "podium.curator.once",
    "sql": "podium.curator.once",
    "top": "podium.curator.once",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use: ``podium --help`` must not wait for an engine."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    _claim_public_names()
    globals()[name] = value
    return value


def _claim_public_names() -> None:
    """Set ``__module__`` of every loaded public class and function to ``podium``.

    Documentation, tracebacks and pickles then name the import path that users write, which survives when code moves.
    """
    for name, home in _HOMES.items():
        value = getattr(sys.modules.get(home), name, None)
        if isinstance(value, type | FunctionType):
            value.__module__ = __name__


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

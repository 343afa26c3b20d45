"""The curator: the only meeting point of data, mechanism and budget.

It plans a question, reserves its worst case, reads the few rows it needs, selects, and settles the actual cost together
with the release. The order never changes: a crash anywhere leaves the reservation charged, and nothing that depends on
rows leaves before it is settled.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.curator.curator import Curator
    from podium.curator.monitor.topk_monitor import TopKMonitor
    from podium.curator.once import plan, plan_rank, rank, sql, top

__all__ = ["Curator", "TopKMonitor", "plan", "plan_rank", "rank", "sql", "top"]

_HOMES = {
    "Curator": "podium.curator.curator",
    "TopKMonitor": "podium.curator.monitor.topk_monitor",
    "plan": "podium.curator.once",
    "plan_rank": "podium.curator.once",
    "rank": "podium.curator.once",
    "sql": "podium.curator.once",
    "top": "podium.curator.once",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use: a question needs no monitor."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value

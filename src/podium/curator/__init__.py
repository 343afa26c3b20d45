"""The curator: the only meeting point of data, mechanism and budget.

It plans a question, reserves its worst case, reads the few rows it needs, selects, and settles the actual cost together
with the release. The order never changes: a crash anywhere leaves the reservation charged, and nothing that depends on
rows leaves before it is settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.late_names import late_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from podium.curator.curator import Curator
    from podium.curator.monitor.topk_monitor import TopKMonitor
    from podium.curator.once import plan, plan_rank, rank, sql, top
    from podium.curator.open_tables import Table

__all__ = ["Curator", "Table", "TopKMonitor", "plan", "plan_rank", "rank", "sql", "top"]

__getattr__: Callable[[str], object] = late_names(
    __name__,
    {
        "Curator": "curator",
        "Table": "open_tables",
        "TopKMonitor": "monitor.topk_monitor",
        "plan": "once",
        "plan_rank": "once",
        "rank": "once",
        "sql": "once",
        "top": "once",
    },
)

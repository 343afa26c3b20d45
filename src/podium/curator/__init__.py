"""The curator: the only meeting point of data, mechanism and budget.

A question is planned, its worst case reserved, the few rows it needs read, the selection made, and what was in fact
paid settled together with the release. Never in another order: a crash anywhere leaves the reservation charged,
and nothing that depends on rows leaves before it is settled.
"""

from podium.curator.curator import Curator
from podium.curator.monitor.topk_monitor import TopKMonitor
from podium.curator.once import plan, plan_rank, rank, sql, top

__all__ = ["Curator", "TopKMonitor", "plan", "plan_rank", "rank", "sql", "top"]

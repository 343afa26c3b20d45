"""The curator: the only meeting point of data, mechanism and budget.

It plans a question, reserves its worst case, reads the few rows it needs, selects, and settles the actual cost together
with the release. The order never changes: a crash anywhere leaves the reservation charged, and nothing that depends on
rows leaves before it is settled.
"""

from podium.curator.curator import Curator
from podium.curator.monitor.topk_monitor import TopKMonitor
from podium.curator.once import plan, plan_rank, rank, sql, top

__all__ = ["Curator", "TopKMonitor", "plan", "plan_rank", "rank", "sql", "top"]

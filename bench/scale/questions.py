"""What the scale bench asks of its tables: of podium, and the same of the engine without privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["K_BAR", "LISTS", "QUESTIONS", "K", "Question"]

K, LONG_K, K_BAR = 10, 100, 1000
CLIP = 1024
LISTS = "lists"
"""The kind of question of which the cost model tells the time."""

_USERS = "SELECT item, COUNT(DISTINCT user_id) AS n FROM {table} GROUP BY item ORDER BY n DESC LIMIT 100"
_GROUPS = (
    "SELECT region, item, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) AS place FROM "
    "(SELECT region, item, COUNT(DISTINCT user_id) AS n FROM {table} GROUP BY region, item) AS counted) AS ranked "
    "WHERE place <= 10"
)
# Added up by user and item first, as podium must: a bare SUM needs no pairs.
_SUMS = (
    "SELECT item, SUM(s) AS n FROM (SELECT item, SUM(amount) AS s FROM {table} GROUP BY user_id, item) AS pairs "
    "GROUP BY item ORDER BY n DESC LIMIT 10"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the plain query that it is compared with, and the room on disk that each row may need.

    ``spilled`` has bytes per row, of pairs that do not fit into memory, for podium and for the plain query: rounded up
    from tables with a twentieth of the rows and of the memory.
    """

    name: str
    kind: str
    plain: str
    options: Mapping[str, Any] = field(hash=False)
    spilled: tuple[int, int]


_ALL = (
    Question(f"k={K}, one query", LISTS, _USERS, {"k": K, "k_bar": K_BAR}, (25, 32)),
    Question(f"k={K}, rounds", LISTS, _USERS, {"k": K}, (45, 32)),
    Question(f"k={LONG_K}, rounds", LISTS, _USERS, {"k": LONG_K}, (45, 32)),
    Question("groups, one query", "groups", _GROUPS, {"k": K, "per": "region", "k_bar": K_BAR}, (60, 60)),
    Question("groups, rounds", "groups", _GROUPS, {"k": K, "per": "region"}, (90, 60)),
    Question("sums, clip stated", "sums", _SUMS, {"k": K, "by": "sum(amount)", "clip": CLIP, "k_bar": K_BAR}, (60, 60)),
    Question("sums, clip chosen", "sums", _SUMS, {"k": K, "by": "sum(amount)"}, (90, 60)),
)
QUESTIONS = {question.name: question for question in _ALL}

"""End to end: two neighbouring Parquet files, through SQL, curator, ledger and mechanism, as one black box."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from podium.audit.targets.neighbours import Pair
from podium.closed_at_exit import ClosedAtExit
from podium.curator import Curator
from podium.errors import InvalidArgument
from podium.exact import Number, exact_integer
from podium.ledger import Budget
from podium.release import Release
from podium.sources.parquet import write_parquet

__all__ = ["CuratorSampler", "neighbouring_tables"]

_PLENTY = Budget(epsilon=10_000, delta="0.9", items=100_000, questions=50_000)


def neighbouring_tables(
    folder: Path,
    counts: Mapping[Any, int],
    basket: Iterable[Any],
    *,
    repeats: int = 1,
    name: str = "one more user",
) -> Pair:
    """Two Parquet files (user_id, item): ``counts`` users for each item, and one user more with the items of a basket.

    Items may be pairs (group, item), which are two columns of these names. ``repeats`` writes each row of the extra
    user that often: to a count of users it makes no difference.
    """
    extra = list(basket)
    if not extra:
        raise InvalidArgument("basket", (), allowed="the items of the extra user, at least one")
    rows = [(user, item) for item, count in counts.items() for user in range(exact_integer(count, "counts", minimum=0))]
    more = [(max(counts.values(), default=0), item) for item in extra] * exact_integer(repeats, "repeats", minimum=1)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for side, table in (("left", rows), ("right", rows + more)):
        path = folder / f"{side}.parquet"
        write_parquet({"user_id": [user for user, _ in table], **_columns([item for _, item in table])}, path)
        paths.append(path)
    return Pair(name, *paths)


def _columns(items: list[Any]) -> dict[str, list[Any]]:
    if not any(isinstance(item, tuple) for item in items):
        return {"item": items}
    return {"group": [group for group, _ in items], "item": [item for _, item in items]}


class CuratorSampler(ClosedAtExit):
    """A sampler whose input is the path of a table: one draw is one paid SQL question through a curator.

    Every question is asked under a condition of its own that is true of all rows, or it would be answered free of
    charge from the ledger. Each table has a ledger of its own in ``folder``, with a budget for many questions;
    ``epsilon`` is the total of each release. With ``per`` there is a list for each value of this column, and ``groups``
    and ``groups_per_user`` are as in ``podium.top``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        k: int,
        epsilon: Number,
        user: str = "user_id",
        per: str | None = None,
        groups: Iterable[Any] | None = None,
        groups_per_user: int = 1,
    ) -> None:
        self._folder = folder
        self._k = k
        self._epsilon = epsilon
        self._user = user
        self._groups = None if groups is None else tuple(groups)
        self._per, self._groups_per_user = per, groups_per_user
        self._numbers = itertools.count(10**9)
        self._curators: dict[Path, Curator] = {}
        self._opened = ExitStack()

    def __call__(self, path: Path) -> Release:
        """One question, reserved, read, selected and settled."""
        if self._per is not None:
            return self._curator(path).top(
                "item",
                k=self._k,
                where=f"{self._user} <> {next(self._numbers)}",
                per=self._per,
                groups=self._groups,
                groups_per_user=self._groups_per_user,
                epsilon=self._epsilon,
            )
        return self._curator(path).sql(
            f"SELECT item FROM events WHERE {self._user} <> {next(self._numbers)} "  # noqa: S608 - podium reads it
            f"GROUP BY item ORDER BY COUNT(DISTINCT {self._user}) DESC LIMIT {self._k}",
            epsilon=self._epsilon,
        )

    def _curator(self, path: Path) -> Curator:
        if path not in self._curators:
            ledger = self._folder / f"{path.stem}-{len(self._curators)}.ledger"
            made = Curator(path, dataset="events", user=self._user, ledger=ledger, budget=_PLENTY)
            self._curators[path] = self._opened.enter_context(made)
        return self._curators[path]

    def close(self) -> None:
        """Let go of the engine and the ledgers."""
        self._opened.close()

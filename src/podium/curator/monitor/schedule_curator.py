"""The curator of a schedule, which marks its questions in the ledger."""

from __future__ import annotations

from typing import Any

from podium.curator.curator import Curator

__all__ = ["ScheduleCurator"]


class ScheduleCurator(Curator):
    """A curator for one schedule; if ``exclusive``, the data set that it registers answers no other questions."""

    def __init__(self, source: object, *, schedule: str, exclusive: bool, **options: Any) -> None:
        self._schedule, self._exclusive = schedule, exclusive
        super().__init__(source, **options)

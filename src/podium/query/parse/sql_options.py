"""What is said beside a statement: a further condition, and what the statement leaves out."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from podium.errors import InvalidArgument
from podium.query.predicate import Predicate
from podium.query.ranked_by import canonical_measure

__all__ = ["Options"]

T = TypeVar("T")


class Options(NamedTuple):
    """Options of a question in SQL: ``where`` must hold too; the others must not contradict the statement."""

    k: int | None = None
    where: Predicate | None = None
    by: str | None = None
    per: tuple[str, ...] = ()

    def length(self, said: int | None) -> int | None:
        """How many items a list has: what the statement says, or else what is stated beside it."""
        return _agree("k", self.k, said)

    def measure(self, said: str | None) -> str | None:
        """What ranks, in the same manner."""
        stated = None if self.by is None else canonical_measure(self.by)
        return _agree("by", stated, said)

    def groups(self, said: tuple[str, ...]) -> tuple[str, ...]:
        """The columns that there is a list for, in the same manner."""
        return _agree("per", self.per or None, said or None) or ()


def _agree(name: str, stated: T | None, said: T | None) -> T | None:
    if stated is not None and said is not None and stated != said:
        raise InvalidArgument(
            name, stated, allowed=f"what the statement says ({said!r}), or nothing",
            hint="Say it in the SQL, or beside it.",
        )  # fmt: skip
    return stated if said is None else said

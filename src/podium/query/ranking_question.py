"""The question of a ranking: the columns of winners and losers, and what can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction

__all__ = ["RankingOptions", "RankingQuestion"]


class RankingOptions(TypedDict, total=False):
    """The options of a ranking."""

    items: object
    pairs: object
    k: int
    ordered: bool
    where: str | Iterable[str] | None
    max_comparisons_per_user: int | None
    method: str
    mixing: Number | None
    normalisation: int | None
    mechanism: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQuestion:
    """The k best items of a table of comparisons (user, winner, loser); arguments as ``podium.rank``."""

    winner: str
    loser: str
    comparisons_per_pair: int
    items: object = None
    pairs: object = None
    k: int = 10
    ordered: bool = True
    where: str | Iterable[str] | None = None
    max_comparisons_per_user: int | None = None
    method: str = "auto"
    mixing: Number | None = None
    normalisation: int | None = None
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.ordered, bool):
            raise InvalidArgument("ordered", self.ordered, allowed="True or False")
        if self.mechanism == "set":
            raise InvalidArgument(
                "mechanism", "set", allowed="the name of a mechanism", hint="Say ordered=False if no order is needed."
            )

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data, without defaults."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        stated = {name: value for name, value in found.items() if value != _DEFAULTS[name] or name == "k"}
        for name in ("items", "pairs"):
            if name in stated:
                stated[name] = [list(one) if isinstance(one, tuple) else one for one in stated[name]]
        return stated

    def describe(self) -> dict[str, str | None]:
        """The requested method as a ledger stores it; what can be compared is stored as the domain."""
        return {
            "method": self.method,
            "mixing": None if self.mixing is None else str(exact_fraction(self.mixing, "mixing")),
            "normalisation": None if self.normalisation is None else str(self.normalisation),
            "comparisons_per_pair": str(self.comparisons_per_pair),
        }


_DEFAULTS = {each.name: each.default for each in fields(RankingQuestion)}

"""The question of a ranking: the columns of winners and losers, and what can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction
from podium.query.question import as_data, as_texts, as_values

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
    scores: bool


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
    scores: bool = False
    table: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "where", as_texts(self.where))
        for name in ("items", "pairs"):
            put(self, name, as_values(getattr(self, name)))
        for name in ("ordered", "scores"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(name, getattr(self, name), allowed="True or False")
        if self.mechanism == "set":
            raise InvalidArgument(
                "mechanism", "set", allowed="the name of a mechanism", hint="Say ordered=False if no order is needed."
            )

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data, without defaults."""
        stated: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ("items", "pairs", "where"):
                value = as_data(value or None, each.name)
            if value != _DEFAULTS[each.name] or each.name == "k":
                stated[each.name] = value
        return stated

    def describe(self) -> dict[str, str | None]:
        """The requested method as a ledger stores it; what can be compared is stored as the domain."""
        return {
            "mechanism": self.mechanism,
            "method": self.method,
            "mixing": None if self.mixing is None else str(exact_fraction(self.mixing, "mixing")),
            "normalisation": None if self.normalisation is None else str(self.normalisation),
            "comparisons_per_pair": str(self.comparisons_per_pair),
        }


_DEFAULTS = {each.name: each.default for each in fields(RankingQuestion)}

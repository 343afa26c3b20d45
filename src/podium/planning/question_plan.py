"""The plan of a question: what would be done, what it can cost, what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import exact_fraction
from podium.mechanisms.base import describe
from podium.planning.plan_document import Kinds, read_cost, read_fields, read_texts
from podium.planning.strategy import Strategy
from podium.privacy import Cost, Guarantee, worst_case
from podium.user_columns import UserColumns, user_columns, user_data

__all__ = ["Plan"]


_NONE = type(None)
_FIELDS: Kinds = {
    **dict.fromkeys(("mechanism", "why", "description", "cost", "reach", "reach_sentence", "paths", "groups"), (str,)),
    **dict.fromkeys(("parameters", "guarantee", "at_most"), (Mapping,)),
    "counts": (Mapping, _NONE), "k": (int,), "rows": (int, _NONE), "queries": (list,), "user": (str, list, _NONE),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """What a question would do and cost. Nothing was read or charged.

    ``queries`` is the SQL that would be sent. If items per user are bounded, zeros stand for the salt, which is fresh
    for each question. For an answer in rounds this is the SQL of the first round: later ones depend on what it
    releases.
    """

    mechanism: str
    parameters: Mapping[str, str]
    counts: Mapping[str, str] | None
    why: str
    k: int
    rows: int | None
    guarantee: Guarantee
    at_most: Cost
    description: str
    cost: str
    reach: Fraction
    reach_sentence: str
    queries: tuple[str, ...] = ()
    user: UserColumns | None = None
    paths: str = ""
    groups: str = ""
    _strategy: Strategy | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, strategy: Strategy, *, queries: tuple[str, ...] = (), user: UserColumns | None = None, groups: str = ""
    ) -> Plan:
        """The plan that follows from a strategy; ``groups`` says which lists there are, if it is more than one."""
        measure = strategy.second_phase
        return cls(
            mechanism=type(strategy.mechanism).__name__,
            parameters=_stated(describe(strategy.mechanism)),
            counts=None if measure is None else _stated(describe(measure)),
            why=strategy.why,
            k=strategy.facts.k,
            rows=strategy.rows,
            guarantee=strategy.guarantee,
            at_most=worst_case(strategy.worst_case),
            description=strategy.describe(),
            cost=strategy.cost_sentence(),
            reach=strategy.reach,
            reach_sentence=strategy.reach_sentence,
            queries=queries,
            user=user,
            paths=strategy.paths,
            groups=groups,
            _strategy=strategy,
        )

    @property
    def made_here(self) -> bool:
        """Whether the plan was made in this process, and has its strategy."""
        return self._strategy is not None

    @property
    def strategy(self) -> Strategy:
        """The strategy, with the mechanism itself; only for plans made in this process."""
        if self._strategy is None:
            raise InvalidArgument("plan", "one that a service sent", allowed="a plan that was made in this process")
        return self._strategy

    @property
    def promise(self) -> str:
        """What the answer would guarantee, in a sentence that names the column of the users."""
        return self.guarantee.sentence(user=self.user)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The plan in labelled lines, for people."""
        return [
            *([("groups", self.groups)] if self.groups else []),
            ("mechanism", self.description),
            ("why", self.why),
            *([("paths", self.paths)] if self.paths else []),
            ("promise", self.promise),
            ("at most", self.cost),
            ("reach", self.reach_sentence),
            *(("sql", query) for query in self.queries),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are text."""
        most = self.at_most
        return {
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "counts": None if self.counts is None else dict(self.counts),
            "why": self.why,
            "k": self.k,
            "rows": self.rows,
            "promise": self.promise,
            "guarantee": self.guarantee.to_dict(),
            "at_most": {
                "epsilon": None if most.epsilon is None else str(most.epsilon),
                "rho": str(most.rho),
                "delta": str(most.delta),
            },
            "description": self.description,
            "cost": self.cost,
            "reach": str(self.reach),
            "reach_sentence": self.reach_sentence,
            "queries": list(self.queries),
            "user": user_data(self.user),
            "paths": self.paths,
            "groups": self.groups,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """The plan that ``to_dict`` described, without its strategy."""
        fields = read_fields(document, _FIELDS, "Plan", since={"paths": "", "groups": ""})
        for name in ("parameters", "counts"):
            read_texts(list((fields[name] or {}).values()), name)
        return cls(**fields | {
            "guarantee": Guarantee.from_dict(fields["guarantee"]),
            "at_most": read_cost(fields["at_most"], "Plan"),
            "reach": exact_fraction(fields["reach"], "reach"),
            "queries": read_texts(fields["queries"], "queries"),
            "user": None if fields["user"] is None else user_columns(fields["user"]),
        })  # fmt: skip

    def explain(self) -> str:
        """Everything the plan says: mechanism and reason, the promise and price in full, and the SQL."""
        return _lines(self.facts)

    def __str__(self) -> str:
        """What would come back, who would be protected, and what it would cost; ``explain`` has the rest."""
        from podium.present.text.closing import protection  # noqa: PLC0415 - presenting is above this package

        return _lines(
            [
                *([("groups", self.groups)] if self.groups else []),
                ("list", f"up to {self.k:,} item{'s' * (self.k > 1)}{' in each' if self.groups else ''}"),
                ("answer", protection(self.guarantee, self.user)),
                ("cost", "at most that, whatever comes out; this plan read nothing and was free"),
                ("reach", self.reach_sentence),
                ("details", "plan.explain()"),
            ]
        )

    def __repr__(self) -> str:
        return f"<Plan {self.mechanism} k={self.k}: at most {self.cost}>"

    def _repr_html_(self) -> str:
        from podium.present.notebook import plan_html  # noqa: PLC0415 - presenting is above this package

        return plan_html(self)


def _lines(facts: list[tuple[str, str]]) -> str:
    return "\n".join(f"{label:<9}  {text}" for label, text in facts)


def _stated(parameters: Mapping[str, str]) -> dict[str, str]:
    """Without what was not stated."""
    return {name: value for name, value in parameters.items() if value != "None"}

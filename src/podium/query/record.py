"""The question as a ledger stores it: canonical JSON, the same text for equivalent questions.

Format 2 holds what was *requested*: the mechanism and budget that the caller named or left to the plan, not the class
that the planner chose. A planner that chooses differently later still finds what was paid for. Entries of format 1,
which has no number, hold the class; they are never rewritten, and are read here too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.errors import InvalidArgument
from podium.query.canonical import predicate_to_json
from podium.query.predicate import Predicate
from podium.query.ranked_by import USERS
from podium.user_columns import UserColumns, user_columns, user_key

__all__ = ["QuestionRecord", "subject_json"]

_FORMAT = 2
_SHARED = ("items", "where", "user", "domain", "max_items_per_user", "mechanism", "budget", "counts", "ranking")
_MEASURED = ("by", "clip", "unit")
_GROUPED = ("per", "groups_per_user")
_SCHEDULE = ("schedule", "period", "role")


def subject_json(items: tuple[str, ...], where: Predicate | None) -> str:
    """Items and condition, without k: the same for a top 5 and a top 10."""
    return json.dumps({"items": list(items), "where": predicate_to_json(where)}, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """A stored question.

    ``where`` is a condition in canonical JSON. ``budget`` is what was requested: the ``epsilon`` of the whole question,
    or the owner's ``epsilon_per_item``. ``ordered`` says whether the answer is a ranked list, whose first places answer
    a shorter question. ``schedule`` names the schedule, the period and the role of a monitor's question. ``format``
    is 1 for entries that name the mechanism's class. ``by``, ``clip`` and ``unit`` are written only where items are not
    ranked by distinct users; ``per``, ``groups`` and ``groups_per_user`` only where there is a list for each group, and
    ``at_least`` and ``others`` only where they are stated, and ``table`` only where the data set has several.
    ``joins`` says of each joined table where it is, by which columns it is joined, and of a public one the digest of
    its rows; it is written only if there are any.
    ``groups`` is not part of the key: what was released about some groups answers for fewer of them.
    """

    items: tuple[str, ...]
    where: Any
    user: UserColumns | None
    k: int
    k_bar: int | None
    ordered: bool
    domain: str | None
    max_items_per_user: int | None
    mechanism: str
    budget: Mapping[str, str]
    counts: bool
    ranking: Mapping[str, Any] | None = None
    schedule: Mapping[str, str] = field(default_factory=dict)
    by: str = USERS
    clip: Any = None
    unit: str | None = None
    per: tuple[str, ...] = ()
    groups: Any = None
    groups_per_user: int | str = 1
    at_least: str | None = None
    others: bool = False
    table: str | None = None
    joins: tuple[Mapping[str, Any], ...] = ()
    format: int = _FORMAT

    @property
    def key(self) -> str:
        """What two questions must share for one release to answer both: all but k, k_bar, order and groups."""
        return json.dumps(self._common_fields(), sort_keys=True)

    def to_text(self) -> str:
        """The question as canonical JSON."""
        whole = {**self._common_fields(), "k": self.k, "k_bar": self.k_bar, "ordered": self.ordered, **self.schedule}
        if self.per:
            whole["groups"] = self.groups
        return json.dumps(whole, sort_keys=True)

    def _common_fields(self) -> dict[str, Any]:
        shared = {"format": self.format, **{name: getattr(self, name) for name in _SHARED}}
        measured = {} if self.by == USERS else {name: getattr(self, name) for name in _MEASURED}
        if self.per:
            measured |= {"per": list(self.per), "groups_per_user": self.groups_per_user}
        if self.at_least is not None:
            measured["at_least"] = self.at_least
        if self.others:
            measured["others"] = True
        if self.table is not None:
            measured["table"] = self.table
        if self.joins:
            measured["joins"] = [dict(join) for join in self.joins]
        # The same columns in another order are the same users.
        return {
            **shared,
            **measured,
            "user": user_key(self.user),
            "items": list(self.items),
            "budget": dict(self.budget),
        }

    @classmethod
    def from_text(cls, text: str | None) -> QuestionRecord | None:
        """The stored question; None if podium did not write the text."""
        try:
            found = json.loads(text or "")
            if type(found["k"]) is not int or type(found["k_bar"]) not in (int, type(None)):
                return None
            return cls._first(found) if "format" not in found else cls._second(found)
        except (AttributeError, InvalidArgument, KeyError, RecursionError, TypeError, ValueError):
            return None

    @classmethod
    def _second(cls, found: dict[str, Any]) -> QuestionRecord:
        if found["format"] != _FORMAT:
            raise ValueError
        names = (*_SHARED, "k", "k_bar", "ordered")
        known = {name: found[name] for name in (*names, *(_MEASURED if "by" in found else ()))}
        known["user"] = None if found["user"] is None else user_columns(found["user"])
        if "per" in found:
            known |= {name: found[name] for name in (*_GROUPED, "groups")}
            known["per"] = tuple(map(str, found["per"]))
        if "at_least" in found:
            known["at_least"] = str(found["at_least"])
        if "others" in found:
            known["others"] = bool(found["others"])
        if "table" in found:
            known["table"] = str(found["table"])
        if "joins" in found:
            known["joins"] = tuple(dict(join) for join in found["joins"])
        return cls(**{**known, "items": tuple(map(str, found["items"]))}, schedule=_schedule(found))

    @classmethod
    def _first(cls, found: dict[str, Any]) -> QuestionRecord:
        counts, ranking = found["counts"], found.get("ranking")
        return cls(
            items=tuple(map(str, found["items"])),
            where=found["where"],
            user=found.get("user"),
            k=found["k"],
            k_bar=found["k_bar"],
            ordered=ranking is None or ranking.get("set_of") is None,
            domain=found["domain"],
            max_items_per_user=found["max_items_per_user"],
            mechanism=found["mechanism"],
            budget={"epsilon_per_item": found["epsilon_per_item"], "delta": found["delta"]},
            counts=bool(counts) and counts.get("rounds") != "False",
            ranking=ranking,
            schedule=_schedule(found),
            format=1,
        )


def _schedule(found: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(found[name]) for name in _SCHEDULE} if all(name in found for name in _SCHEDULE) else {}

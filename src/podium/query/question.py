"""The question: what is asked, as one value from every interface to the ledger, without how it is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypedDict, Unpack

from podium.errors import InvalidArgument
from podium.exact import positive_fraction, positive_integer
from podium.query.group_columns import DeclaredTable, groups_data, require_groups, require_per
from podium.query.join import join_names
from podium.query.predicate import Predicate
from podium.query.ranked_by import USERS, Measure, number_text, require_measure

__all__ = ["CheckedQuestion", "Question", "QuestionOptions", "as_data", "as_texts", "as_values"]

_DEFAULT_K = 10
_MAX_SHOWN = 10


class QuestionOptions(TypedDict, total=False):
    """The options of a question, under the same names in Python and JSON."""

    k: int | None
    ordered: bool
    where: str | Iterable[str] | None
    counts: bool
    domain: object
    domain_size: int | None
    max_items_per_user: int | None
    k_bar: int | None
    mechanism: str
    by: str | None
    clip: object
    unit: object
    per: str | Iterable[str]
    groups: object
    groups_per_user: int | str
    at_least: object
    others: bool
    join: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The top ``k`` of ``item`` by ``by``, among the rows that satisfy ``where``; or the same as ``sql``.

    Beside ``sql``, ``where`` must hold too, and ``k``, ``by`` and ``per`` say what the statement leaves out.

    ``by`` is "users" (distinct users), "events" (rows) or "sum(COLUMN)". For the latter two, ``clip`` is the most that
    one user adds to one item, or None if it is to be chosen privately; ``unit`` is what values are rounded down to.
    ``per`` asks for one list for each value of these columns; ``groups`` states the values, and None means those that
    enough users have. A user counts in at most ``groups_per_user`` of them, or in "all".
    ``at_least`` leaves out items with less than that, near but not exactly. ``others`` implies ``counts``, and measures
    how many users have none of the items of the list, or what all other items have, and the total.
    ``table`` is the one that is asked about, where the data set has several; in SQL, FROM names it.
    Columns are checked against a table's schema later. ``domain`` states the items that can come back;
    ``max_items_per_user``, ``k_bar`` and ``mechanism`` override the planner. ``join`` names
    declared tables whose columns the question may use.
    """

    item: tuple[str, ...] = ()
    sql: str | None = None
    k: int | None = None
    ordered: bool = True
    where: tuple[str, ...] = ()
    counts: bool = False
    domain: Any = None
    domain_size: int | None = None
    max_items_per_user: int | None = None
    k_bar: int | None = None
    mechanism: str = "auto"
    by: str | None = None
    clip: Any = None
    unit: Any = None
    per: tuple[str, ...] = ()
    groups: Any = None
    groups_per_user: int | str = 1
    at_least: Any = None
    others: bool = False
    join: tuple[str, ...] = ()
    table: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "item", _names(self.item, "item"))
        put(self, "where", as_texts(self.where))
        put(self, "domain", as_values(self.domain))
        put(self, "per", _names(self.per, "per"))
        put(self, "groups", as_values(self.groups))
        put(self, "join", join_names(self.join))
        if self.sql is None and self.by is None:
            put(self, "by", USERS)
        if self.item and self.sql is not None:
            raise InvalidArgument("item", self.item, allowed="either item and k, or sql, and not both")
        if not self.item and self.sql is None:
            raise InvalidArgument("item", self.item, allowed="one or more distinct columns")
        self._require_measure()
        require_groups(self.item, self.per, self.groups, self.groups_per_user)
        if self.sql is None:
            require_per(self.per, self.groups, self.groups_per_user, sql=False)
        for name in ("ordered", "counts", "others"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(name, getattr(self, name), allowed="True or False")
        if self.mechanism == "set":
            raise InvalidArgument(
                "mechanism", "set", allowed="the name of a mechanism", hint="Say ordered=False if no order is needed."
            )
        if self.sql is None:
            put(self, "k", _DEFAULT_K if self.k is None else positive_integer(self.k, "k"))
        elif self.k is not None:
            put(self, "k", positive_integer(self.k, "k"))

    def _require_measure(self) -> None:
        # The measure of a SELECT is known when it is parsed.
        require_measure(self.by, self.clip, self.unit)
        # Equal numbers are equal questions, however they were written.
        object.__setattr__(self, "clip", number_text(self.clip, "clip"))
        object.__setattr__(self, "unit", number_text(self.unit, "unit"))
        if self.at_least is not None:
            object.__setattr__(self, "at_least", str(positive_fraction(self.at_least, "at_least")))

    def __repr__(self) -> str:
        shown = ((each.name, getattr(self, each.name)) for each in fields(self))
        return f"Question({', '.join(f'{name}={_shown(value)}' for name, value in shown if _is_stated(name, value))})"

    @classmethod
    def of(
        cls,
        item: str | Iterable[str] = (),
        *,
        sql: str | None = None,
        table: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Question:
        """A question as callers write it: one name or several, one condition or several."""
        return cls(item=item, sql=sql, table=table, **options)  # type: ignore[arg-type] # made tuples there

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data, without defaults; ``Question(**data)`` restores it."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        listed = {name: as_data(found.pop(name), name) for name in ("domain", "groups")}
        listed["groups"] = groups_data(listed["groups"])
        stated = {name: found[name] for name in found if found[name] != _DEFAULTS[name]}
        if self.sql is None and self.by == USERS:
            del stated["by"]
        if self.item:
            stated["item"] = self.item[0] if len(self.item) == 1 else list(self.item)
        if isinstance(self.clip, tuple):
            stated["clip"] = list(self.clip)
        if self.where:
            stated["where"] = self.where[0] if len(self.where) == 1 else list(self.where)
        for name in ("per", "join"):
            if found[name]:
                stated[name] = found[name][0] if len(found[name]) == 1 else list(found[name])
        return stated | {name: data for name, data in listed.items() if data is not None}


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question whose columns exist and whose condition matches their kinds; ``asked`` is the caller's question.

    ``items`` are the columns whose values together are one item; a list column is unnested. ``measure`` is None where
    distinct users are counted. ``per`` are the columns whose values together are one group; none where there is one
    list for all rows. ``counts``: values are wanted, by an option or because the SQL selects them, there under
    ``value_name``; ``list_only`` is that SQL without them. ``at_least`` is in units of the measure.
    ``joins`` are the declared tables that are joined, in this order.
    """

    items: tuple[str, ...]
    k: int
    where: Predicate | None = None
    asked: Question | None = None
    measure: Measure | None = None
    per: tuple[str, ...] = ()
    counts: bool = False
    value_name: str | None = None
    list_only: str | None = None
    at_least: int | None = None
    joins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive_integer(self.k, "k"))


_DEFAULTS = {each.name: each.default for each in fields(Question)}


def _is_stated(name: str, value: object) -> bool:
    default = USERS if name == "by" else _DEFAULTS[name]
    # What a caller lists may be a frame, which cannot be compared.
    return type(value) is not type(default) or value != default


def _shown(value: object) -> str:
    if isinstance(value, tuple) and len(value) > _MAX_SHOWN:
        return f"<{len(value):,} values>"
    return repr(value[0] if isinstance(value, tuple) and len(value) == 1 else value)


def _names(value: object, role: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(role, name, allowed="the name of a column")
    return names


def as_values(listed: object) -> Any:
    """What a caller lists, as a tuple, because a generator could be read only once; anything else as it is."""
    return tuple(listed) if isinstance(listed, (Iterator, list, set, frozenset, range)) else listed


def as_data(listed: object, name: str) -> Any:
    """What a caller lists, as plain data: a list, or the path of a file as text."""
    if isinstance(listed, DeclaredTable):
        return listed.name
    if listed is None or isinstance(listed, (str, Path)):
        return listed if listed is None else str(listed)
    if not isinstance(listed, tuple):
        raise InvalidArgument(name, type(listed).__name__, allowed="a list or a path, to be written as data")
    return [list(one) if isinstance(one, tuple) else one for one in listed]


def as_texts(where: object) -> tuple[str, ...]:
    """The conditions, all of which must hold; the parser refuses what is not text."""
    if where is None:
        return ()
    return (where,) if isinstance(where, str) or not isinstance(where, Iterable) else tuple(where)  # type: ignore[return-value]

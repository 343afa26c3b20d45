"""Registering data sets: a name, a total and its rules, fixed once and for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from podium.errors import DatasetExists, InvalidArgument
from podium.ledger.budget import Budget, Totals
from podium.ledger.entries import Entry
from podium.ledger.status import registered_user, require_user
from podium.ledger.tables.store import DatasetRecord, Store
from podium.storage.labels import long_text
from podium.user_columns import UserColumns, each_user_column, user_columns, user_data

__all__ = ["RegistrationRequest", "new_totals", "register", "stored_users"]


@dataclass(frozen=True, slots=True)
class RegistrationRequest:
    """A validated registration. If ``schedule`` is set, the data set answers only its questions.

    ``tables`` has source and user column of each table by name, where the data set has several. ``joins`` are the
    tables that questions may join to each of them, under "" where there is one table without a name.
    """

    dataset: str
    budget: Budget
    source: str
    user: UserColumns | None
    data_version: str
    failures_allowed: int
    force: bool
    schedule: str | None
    tables: Mapping[str, tuple[str, UserColumns]] = field(default_factory=dict)
    joins: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its rows are."""
        return tuple(source for source, _ in self.tables.values()) or (self.source,)

    def facts(self) -> dict[str, Any]:
        """The details of the first entry."""
        return {
            "source": self.source,
            "totals": Totals.of(self.budget).to_dict(),
            "failures_allowed": self.failures_allowed,
            "insisted": self.force,
            **({} if self.user is None else {"user": user_data(self.user)}),
            **({} if self.schedule is None else {"schedule": self.schedule}),
            **(
                {"tables": {name: [at, user_data(user)] for name, (at, user) in self.tables.items()}}
                if self.tables
                else {}
            ),
            **(
                {"joins": {name: list(joins) for name, joins in self.joins.items()}} if any(self.joins.values()) else {}
            ),
        }


def register(store: Store, head: str, record: DatasetRecord | None, wanted: RegistrationRequest) -> Entry:
    """The registration, made now or before with the same budget, source, user and schedule."""
    if record is not None:
        return _registered_already(store, record, wanted)
    other = store.dataset_with_source(wanted.sources)
    if other is not None and not wanted.force:
        raise DatasetExists(wanted.dataset, other)
    return store.register(head, wanted.dataset, wanted.data_version, wanted.facts())


def _registered_already(store: Store, record: DatasetRecord, wanted: RegistrationRequest) -> Entry:
    first, account = store.registration(record), record.account
    known = (account.totals.budget, Totals.from_dict(first.facts["totals"]).budget)
    # With force, another source counts as a copy of the registered one.
    elsewhere = not wanted.force and wanted.source != account.source
    elsewhere = elsewhere or set(wanted.tables) != set(account.tables)
    if (
        elsewhere
        or wanted.budget.with_filter_of(known[0]) not in known
        or wanted.schedule != first.facts.get("schedule")
    ):
        raise DatasetExists(account.dataset, account.dataset)
    require_user(account.dataset, registered_user(first.facts), wanted.user)
    return first


def new_totals(present: Totals, budget: Budget) -> Totals:
    """The totals of a raised budget, under the data set's rules; refused if it lowers one."""
    kind = present.budget.filter
    if budget.filter == "gaussian" != kind:
        raise InvalidArgument("filter", budget.filter, allowed=f"{kind!r}, which was chosen at registration, or 'auto'")
    # A budget that says nothing else has the default kind; a raise changes amounts, and never the kind.
    totals = Totals.of(replace(budget, filter=kind), rules=present.rules)
    if not totals.cover(present):
        raise InvalidArgument(
            "budget",
            budget,
            allowed="a budget of the same kind, not smaller than the present one in any part",
            hint="A total can be raised, never lowered: what was released cannot be taken back.",
        )
    if (
        totals.max_questions is None
        and budget.max_questions != Budget.from_dict(totals.to_dict()["budget"]).max_questions
    ):
        raise InvalidArgument(
            "max_questions",
            budget.max_questions,
            allowed="no limit, because the data set was registered under rules that have none",
            hint="Leave it out.",
        )
    return totals


def stored_users(user: UserColumns) -> UserColumns:
    """The user columns, each a text that can be stored."""
    return user_columns([long_text(name, "user") for name in each_user_column(user)])

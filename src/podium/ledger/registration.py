"""Registering data sets: a name, a total and the rules that it is kept by, once and for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podium.errors import DatasetExists, InvalidArgument
from podium.ledger.budget import Budget, Totals
from podium.ledger.entries import Entry
from podium.ledger.status import require_user
from podium.ledger.tables.store import Located, Store

__all__ = ["Registering", "new_totals", "register"]


@dataclass(frozen=True, slots=True)
class Registering:
    """What is registered, checked. ``schedule`` names whose questions alone are answered."""

    dataset: str
    budget: Budget
    source: str
    user: str | None
    data_version: str
    failures_allowed: int
    insist: bool
    schedule: str | None

    def facts(self) -> dict[str, Any]:
        """What the first entry says."""
        return {
            "source": self.source,
            "totals": Totals.of(self.budget).to_dict(),
            "failures_allowed": self.failures_allowed,
            "insisted": self.insist,
            **({} if self.user is None else {"user": self.user}),
            **({} if self.schedule is None else {"schedule": self.schedule}),
        }


def register(store: Store, head: str, located: Located | None, wanted: Registering) -> Entry:
    """The registration, made now or before with the same budget, source, user and schedule."""
    if located is not None:
        return _registered_before(store, located, wanted)
    other = store.named_source(wanted.source)
    if other is not None and not wanted.insist:
        raise DatasetExists(wanted.dataset, other)
    return store.register(head, wanted.dataset, wanted.data_version, wanted.facts())


def _registered_before(store: Store, located: Located, wanted: Registering) -> Entry:
    first, account = store.registered(located), located.account
    known = (account.totals.budget, Totals.from_dict(first.facts["totals"]).budget)
    # An owner who insists says that another source is a copy.
    elsewhere = not wanted.insist and wanted.source != account.source
    if elsewhere or wanted.budget not in known or wanted.schedule != first.facts.get("schedule"):
        raise DatasetExists(account.dataset, account.dataset)
    require_user(account.dataset, first.facts.get("user"), wanted.user)
    return first


def new_totals(present: Totals, budget: Budget) -> Totals:
    """What a raised budget allows, under the rules that the data set has; refused if it lowers a total."""
    totals = Totals.of(budget, rules=present.rules)
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

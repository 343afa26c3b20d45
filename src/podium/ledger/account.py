"""Accounts: what follows from the entries of one data set.

``Account.after`` is the only place that says what an entry does. The ledger uses it to keep its running sums, and
verification uses it to compute them again from the first entry on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, NamedTuple

from podium.ledger.budget import Totals
from podium.ledger.entries import Entry, Kind, Reason
from podium.privacy import Cost, Event, actual_cost, events_from_json, events_to_json, worst_case
from podium.privacy.rounding import above
from podium.user_columns import UserColumns, user_columns

__all__ = [
    "FAILURES_OF_ALL",
    "Account",
    "Contradiction",
    "Sum",
    "TableAccount",
    "analyst_sums",
    "change",
    "charge_of",
    "charged_analyst",
    "describe_events",
    "is_cancelled",
    "recorded_cost",
]


FAILURES_OF_ALL: Final = 10
"""The data set locks after ten times as many failures as lock one analyst."""


class Contradiction(Exception):
    """An entry that cannot follow from the ones before it; the text names nothing private."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of costs that supports subtraction: unbounded losses are counted, not added."""

    epsilon: Fraction = Fraction(0)
    unbounded: int = 0
    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, cost: Cost) -> Sum:
        """The sum of one cost."""
        return cls(cost.epsilon or Fraction(0), int(cost.epsilon is None), cost.rho, cost.delta)

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.epsilon + other.epsilon,
            self.unbounded + other.unbounded,
            self.rho + other.rho,
            self.delta + other.delta,
        )

    def __sub__(self, other: Sum) -> Sum:
        return Sum(
            self.epsilon - other.epsilon,
            self.unbounded - other.unbounded,
            self.rho - other.rho,
            self.delta - other.delta,
        )

    @property
    def cost(self) -> Cost:
        """The same as a cost, which saturates at delta = 1."""
        return Cost(epsilon=None if self.unbounded else self.epsilon, rho=self.rho, delta=min(Fraction(1), self.delta))


class TableAccount(NamedTuple):
    """One of several tables of a data set: where it is, the column of its users, and the version of its rows."""

    source: str
    user: UserColumns
    data_version: str

    @classmethod
    def of(cls, source: str, user: str | list[str], data_version: str) -> TableAccount:
        """The table as it is stored."""
        return cls(source, user_columns(user), data_version)


@dataclass(frozen=True, slots=True)
class Account:
    """Where a data set stands after its last entry.

    ``held`` is everything that is charged: settled, forfeited, and the worst case of what is still open.
    ``failures`` is the number of reservations forfeited since the owner last unlocked the data set. ``questions``
    is the number of questions that count against the limit; under the second rules a schedule's do not. ``tables`` are
    those of the same users by name, where the data set has several; they share all sums.
    """

    dataset: str
    source: str
    totals: Totals
    data_version: str
    failures_allowed: int
    held: Sum = Sum()
    failures: int = 0
    questions: int = 0
    raises: int = 0
    sequence: int = 1
    head: str = ""
    tables: Mapping[str, TableAccount] = field(default_factory=dict)

    @classmethod
    def from_registration(cls, entry: Entry) -> Account:
        """The account that a registration opens."""
        if entry.kind is not Kind.REGISTERED or entry.sequence != 1 or entry.data_version is None:
            raise Contradiction("the first entry is not a registration")
        facts = entry.facts
        return cls(
            dataset=entry.dataset,
            source=facts["source"],
            totals=Totals.from_dict(facts["totals"]),
            data_version=entry.data_version,
            failures_allowed=facts["failures_allowed"],
            head=entry.hash,
            tables={
                name: TableAccount.of(source, user, entry.data_version)
                for name, (source, user) in facts.get("tables", {}).items()
            },
        )

    def version_of(self, table: str | None) -> str:
        """The version of the rows that a question reads."""
        if (table is None) == bool(self.tables) or (table is not None and table not in self.tables):
            raise Contradiction("it names no table of the data set")
        return self.data_version if table is None else self.tables[table].data_version

    @property
    def locked(self) -> bool:
        """Whether so many questions failed that nobody may ask another."""
        return self.failures >= self.failures_allowed * (1 if self.totals.rules == 1 else FAILURES_OF_ALL)

    def after(self, entry: Entry, reservation: Entry | None) -> Account:
        """The account after ``entry``, which closes or reads ``reservation`` if there is one."""
        step = _STEPS.get(entry.kind)
        if step is None:
            raise Contradiction("a data set is registered once")
        if (reservation is None) != (entry.reservation is None):
            raise Contradiction("the reservation that it names is not there")
        return replace(step(self, entry, reservation), sequence=entry.sequence, head=entry.hash)


def change(entry: Entry, reservation: Entry | None) -> Sum:
    """What an entry adds to what is charged for the question that it belongs to."""
    if entry.kind in (Kind.RESERVED, Kind.SEEN):
        return Sum.of(recorded_cost(entry))
    if entry.kind is Kind.SETTLED and reservation is not None:
        return Sum.of(recorded_cost(entry)) - Sum.of(recorded_cost(reservation))
    if is_cancelled(entry) and reservation is not None:
        return Sum() - Sum.of(recorded_cost(reservation))
    return Sum()


def is_cancelled(entry: Entry) -> bool:
    """Whether an entry closes a reservation that nothing was read for."""
    return entry.kind is Kind.FORFEITED and entry.facts.get("reason") == Reason.CANCELLED


def charged_analyst(entry: Entry, reservation: Entry | None) -> str | None:
    """The analyst whose sum changes: the one who asked, or the one who reads another's release."""
    if entry.kind in (Kind.RESERVED, Kind.SEEN):
        return entry.analyst
    return None if reservation is None else reservation.analyst


def recorded_cost(entry: Entry) -> Cost:
    """The cost of an entry that must have one."""
    if entry.cost is None:
        raise Contradiction("a charge has no cost")
    return entry.cost


def analyst_sums(entries: Iterable[Entry]) -> dict[str, Sum]:
    """What follows from the entries for every analyst."""
    sums: dict[str, Sum] = {}
    reservations: dict[int, Entry] = {}
    for entry in entries:
        if entry.kind is Kind.RESERVED:
            reservations[entry.sequence] = entry
        reservation = None if entry.reservation is None else reservations.get(entry.reservation)
        analyst = charged_analyst(entry, reservation)
        if analyst is not None:
            sums[analyst] = sums.get(analyst, Sum()) + change(entry, reservation)
    return sums


def charge_of(charge: Cost | tuple[Event, ...], *, reserve: bool) -> tuple[Cost, tuple[Event, ...]]:
    """What is charged, with rho rounded up once to a multiple of 2^-64, and the events if they are known."""
    events = () if isinstance(charge, Cost) else charge
    cost = charge if isinstance(charge, Cost) else worst_case(charge) if reserve else actual_cost(charge)
    return Cost(epsilon=cost.epsilon, rho=above(cost.rho), delta=cost.delta), events


def describe_events(events: Iterable[Event]) -> list[object]:
    """Events as JSON objects, runs of equal ones written once."""
    return json.loads(events_to_json(events))  # type: ignore[no-any-return]


def _apply_reserved(account: Account, entry: Entry, _: Entry | None) -> Account:
    cost, totals = recorded_cost(entry), account.totals
    if totals.limits.excess(cost, account.held.cost) is not None:
        raise Contradiction("it reserves more than was left")
    _check_events(entry, cost, reserve=True)
    counted = totals.rules == 1 or "schedule" not in entry.facts
    if counted and totals.price(cost) < totals.minimum_price:
        raise Contradiction("it reserves less than the minimum price")
    if counted and totals.max_questions is not None and account.questions >= totals.max_questions:
        raise Contradiction("it is one question too many")
    return replace(account, held=account.held + Sum.of(cost), questions=account.questions + counted)


def _apply_settled(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    cost = recorded_cost(entry)
    if reservation is None or not cost <= recorded_cost(reservation):
        raise Contradiction("it settles for more than was reserved")
    if entry.release is None:
        raise Contradiction("it settles without a release")
    _check_events(entry, cost, reserve=False)
    return replace(account, held=account.held + change(entry, reservation))


def _check_events(entry: Entry, cost: Cost, *, reserve: bool) -> None:
    events = entry.facts.get("events")
    if events and charge_of(events_from_json(json.dumps(events)), reserve=reserve)[0] != cost:
        raise Contradiction("its cost is not that of its events")


def _apply_forfeited(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    if is_cancelled(entry):
        return replace(account, held=account.held + change(entry, reservation))
    return replace(account, failures=account.failures + 1)


def _apply_unlocked(account: Account, entry: Entry, _: Entry | None) -> Account:
    # Unlocking one analyst clears that analyst's failures; the count for everybody stays.
    return account if entry.analyst is not None else replace(account, failures=0)


def _apply_raised(account: Account, entry: Entry, _: Entry | None) -> Account:
    totals = Totals.from_dict(entry.facts["totals"])
    if not totals.cover(account.totals):
        raise Contradiction("it lowers a total")
    return replace(account, totals=totals, raises=account.raises + 1)


def _apply_relabelled(account: Account, entry: Entry, _: Entry | None) -> Account:
    version, only = entry.data_version or account.data_version, entry.facts.get("table")
    if only is not None:
        account.version_of(only)
    tables = {
        name: table._replace(data_version=version) if only in (None, name) else table
        for name, table in account.tables.items()
    }
    return replace(account, data_version=version if only is None else account.data_version, tables=tables)


def _apply_seen(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    if reservation is None or not recorded_cost(entry) <= recorded_cost(reservation):
        raise Contradiction("it charges an analyst for more than was reserved")
    return account


_STEPS: dict[Kind, Callable[[Account, Entry, Entry | None], Account]] = {
    Kind.RESERVED: _apply_reserved,
    Kind.SETTLED: _apply_settled,
    Kind.FORFEITED: _apply_forfeited,
    Kind.UNLOCKED: _apply_unlocked,
    Kind.RAISED: _apply_raised,
    Kind.RELABELLED: _apply_relabelled,
    Kind.SEEN: _apply_seen,
}

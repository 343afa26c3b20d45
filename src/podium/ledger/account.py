"""Accounts: what follows from the entries of one data set.

``Account.after`` is the only place that says what an entry does. The ledger uses it to keep its running sums, and
verification uses it to compute them again from the first entry on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from podium.ledger.bookkeeping.held import Charged, Sum, Terms
from podium.ledger.budget import Totals
from podium.ledger.entries import Entry, Kind, Reason
from podium.ledger.recorded import facts_of, recorded_events
from podium.privacy import Cost, Event, events_to_json
from podium.user_columns import UserColumns, user_columns

__all__ = [
    "FAILURES_OF_ALL",
    "Account",
    "Contradiction",
    "TableAccount",
    "analyst_sums",
    "change",
    "charged_analyst",
    "describe_events",
    "is_cancelled",
    "is_session",
    "own_terms",
    "recorded_charge",
    "recorded_cost",
    "recorded_sum",
    "recorded_terms",
    "terms_of",
]


FAILURES_OF_ALL: Final = 10
"""The data set locks after ten times as many failures as lock one analyst."""


TERMS: Final = "filter"
ANALYST_TERMS: Final = "filter_of_analyst"
"""Where the details of an entry have its terms, under the total and under the cap of its analyst."""


_NOTHING: Final = Sum()


class Contradiction(Exception):
    """An entry that cannot follow from the ones before it; the text names nothing private."""


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
    held: Sum = field(default_factory=Sum)
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
        return step(self, entry, reservation)

    def _moved(
        self,
        entry: Entry,
        *,
        held: Sum | None = None,
        failures: int | None = None,
        questions: int = 0,
    ) -> Account:
        """The account at an entry, with what it changes; ``replace`` takes several times as long."""
        return Account(
            self.dataset,
            self.source,
            self.totals,
            self.data_version,
            self.failures_allowed,
            self.held if held is None else held,
            self.failures if failures is None else failures,
            self.questions + questions,
            self.raises,
            entry.sequence,
            entry.hash,
            self.tables,
        )


def change(entry: Entry, reservation: Entry | None, *, of_analyst: bool = False) -> Sum:
    """What an entry adds to what is charged for the question that it belongs to, in all or to its analyst."""
    if entry.kind in (Kind.RESERVED, Kind.SEEN):
        return recorded_sum(entry, of_analyst=of_analyst)
    if reservation is None:
        return Sum()
    if entry.kind is Kind.SETTLED:
        # Most questions cost what was reserved for them. Equal costs of rows are one object.
        paid, reserved = terms_of(entry, of_analyst=of_analyst), terms_of(reservation, of_analyst=of_analyst)
        if entry.cost is reservation.cost and paid.get("mu_squared") == reserved.get("mu_squared"):
            return _NOTHING
        return Sum.of(recorded_cost(entry), paid) - Sum.of(recorded_cost(reservation), reserved)
    if is_cancelled(entry) and terms_of(reservation, of_analyst=of_analyst).get("refundable", True):
        return Sum() - recorded_sum(reservation, of_analyst=of_analyst)
    return Sum()


def is_cancelled(entry: Entry) -> bool:
    """Whether an entry closes a reservation that nothing was read for."""
    return entry.kind is Kind.FORFEITED and facts_of(entry).get("reason") == Reason.CANCELLED


def is_session(entry: Entry) -> bool:
    """Whether a reservation is for rounds that react to what others are answered meanwhile."""
    return bool(facts_of(entry).get("session", False))


def terms_of(entry: Entry, *, of_analyst: bool = False) -> Terms:
    """The terms that an entry records; those of the analyst's cap where there is one, and otherwise of the total."""
    facts = facts_of(entry)
    found = facts.get(ANALYST_TERMS) if of_analyst else None
    terms: Terms = facts.get(TERMS, {}) if found is None else found
    return terms


def own_terms(entry: Entry) -> Terms:
    """The terms under the cap of the analyst alone; none where there is no cap, or where terms need no record."""
    terms: Terms = facts_of(entry).get(ANALYST_TERMS, {})
    return terms


def recorded_terms(whole: Terms, of_analyst: Terms) -> dict[str, Terms]:
    """The part of an entry's details that ``terms_of`` reads."""
    return {**({TERMS: whole} if whole else {}), **({ANALYST_TERMS: of_analyst} if of_analyst else {})}


def recorded_sum(entry: Entry, *, of_analyst: bool = False) -> Sum:
    """What an entry charges."""
    return Sum.of(recorded_cost(entry), terms_of(entry, of_analyst=of_analyst))


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
            sums[analyst] = sums.get(analyst, Sum()) + change(entry, reservation, of_analyst=True)
    return sums


def recorded_charge(entry: Entry) -> Charged:
    """The cost of an entry, and its events if it has any."""
    found = recorded_events(entry)
    return Charged(recorded_cost(entry), () if found is None else found.events)


def describe_events(events: Iterable[Event]) -> list[object]:
    """Events as JSON objects, runs of equal ones written once."""
    return json.loads(events_to_json(events))  # type: ignore[no-any-return]


def _apply_reserved(account: Account, entry: Entry, _: Entry | None) -> Account:
    charge, totals, session = recorded_charge(entry), account.totals, is_session(entry)
    if totals.books.refusal(charge, account.held, session=session) is not None:
        raise Contradiction("it reserves more than was left")
    _check_events(entry, charge, reserve=True)
    if terms_of(entry) != totals.books.reserve(charge, account.held, session=session):
        raise Contradiction("its terms are not those of its events")
    counted = totals.rules == 1 or "schedule" not in facts_of(entry)
    if counted and totals.price(charge.cost) < totals.minimum_price:
        raise Contradiction("it reserves less than the minimum price")
    if counted and totals.max_questions is not None and account.questions >= totals.max_questions:
        raise Contradiction("it is one question too many")
    return account._moved(entry, held=account.held + change(entry, None), questions=int(counted))


def _apply_settled(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    charge = recorded_charge(entry)
    if reservation is None or not charge.cost <= recorded_cost(reservation):
        raise Contradiction("it settles for more than was reserved")
    if entry.release is None:
        raise Contradiction("it settles without a release")
    _check_events(entry, charge, reserve=False)
    if terms_of(entry) != account.totals.books.settle(terms_of(reservation), recorded_charge(reservation), charge):
        raise Contradiction("its terms are not those of its events")
    paid = change(entry, reservation)
    return account._moved(entry, held=None if paid is _NOTHING else account.held + paid)


def _check_events(entry: Entry, charge: Charged, *, reserve: bool) -> None:
    found = recorded_events(entry)
    if found is not None and not found.costs(charge.cost, reserve=reserve):
        raise Contradiction("its cost is not that of its events")


def _apply_forfeited(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    if is_cancelled(entry):
        return account._moved(entry, held=account.held + change(entry, reservation))
    return account._moved(entry, failures=account.failures + 1)


def _apply_unlocked(account: Account, entry: Entry, _: Entry | None) -> Account:
    # Unlocking one analyst clears that analyst's failures; the count for everybody stays.
    return account._moved(entry, failures=None if entry.analyst is not None else 0)


def _apply_raised(account: Account, entry: Entry, _: Entry | None) -> Account:
    totals = Totals.from_dict(entry.facts["totals"])
    if not totals.cover(account.totals):
        raise Contradiction("it lowers a total")
    return replace(account._moved(entry), totals=totals, raises=account.raises + 1)


def _apply_relabelled(account: Account, entry: Entry, _: Entry | None) -> Account:
    version, only = entry.data_version or account.data_version, entry.facts.get("table")
    if only is not None:
        account.version_of(only)
    tables = {
        name: table._replace(data_version=version) if only in (None, name) else table
        for name, table in account.tables.items()
    }
    return replace(account._moved(entry), data_version=version if only is None else account.data_version, tables=tables)


def _apply_seen(account: Account, entry: Entry, reservation: Entry | None) -> Account:
    if reservation is None or not recorded_cost(entry) <= recorded_cost(reservation):
        raise Contradiction("it charges an analyst for more than was reserved")
    return account._moved(entry)


_STEPS: dict[Kind, Callable[[Account, Entry, Entry | None], Account]] = {
    Kind.RESERVED: _apply_reserved,
    Kind.SETTLED: _apply_settled,
    Kind.FORFEITED: _apply_forfeited,
    Kind.UNLOCKED: _apply_unlocked,
    Kind.RAISED: _apply_raised,
    Kind.RELABELLED: _apply_relabelled,
    Kind.SEEN: _apply_seen,
}

"""The status of a data set: its totals, what is charged, what is left, and the guarantee.

"Epsilon spent so far" is not a guarantee and is not shown as one: the total holds from the first question on. What
was spent is shown in the sums that the ledger keeps: epsilon for a pure total, rho and delta otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.errors import InvalidArgument
from podium.ledger.account import Account, TableAccount, recorded_sum
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.bookkeeping.remaining import Remaining
from podium.ledger.budget import Totals
from podium.ledger.state import NAMELESS
from podium.ledger.tables.store import DatasetRecord, Store
from podium.privacy import Cost, Guarantee
from podium.privacy.documents import Document
from podium.privacy.rounding import display
from podium.storage.labels import exact_text
from podium.user_columns import UserColumns, same_users, user_columns, user_data

__all__ = ["Remaining", "Status", "registered_user", "require_user", "status_of"]


@dataclass(frozen=True, slots=True)
class Status(Document):
    """Where a data set stands.

    ``user`` is the column whose values are protected, or several whose values together are one user, None if the
    registration named none. ``spent`` is settled or forfeited, ``reserved`` is the worst case of what is open.
    ``items_left`` and ``questions_left`` say how long the rest lasts at the planned epsilon per item and delta per
    question.
    ``failures_of`` counts failed questions by analyst, None for those without a name; ``locked_out`` are the analysts
    who had too many, and ``locked`` says whether everybody is. If ``schedule`` is set, only its questions are answered.
    ``tables`` are those of the same users by name, where there are several. ``joins`` are the tables that the owner
    declared beside each of them, under "" where there is one without a name. ``sums`` has what is charged to each
    analyst in every measure, ``held`` what is charged in all, and
    ``opened`` the part of it that is reserved.
    """

    dataset: str
    source: str
    user: UserColumns | None
    data_version: str
    totals: Totals
    spent: Cost
    reserved: Cost
    remaining: Remaining
    analysts: dict[str, Cost]
    items_left: int
    questions_left: int
    open_reservations: int
    questions_asked: int
    failures: int
    failures_of: dict[str | None, int]
    locked: bool
    locked_out: tuple[str | None, ...]
    schedule: str | None
    raises: int
    entries: int
    head: str
    tables: Mapping[str, TableAccount] = field(default_factory=dict)
    joins: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    sums: Mapping[str, Sum] = field(default_factory=dict)
    held: Sum = field(default_factory=Sum)
    opened: Sum = field(default_factory=Sum)

    def version_of(self, table: str | None) -> str:
        """The version of the rows of a table."""
        return self.data_version if table is None else self.tables[table].data_version

    @property
    def promise(self) -> str:
        """The guarantee in one sentence."""
        budget = self.totals.budget
        about = f"{self.dataset!r} ({', '.join(self.tables)})" if self.tables else repr(self.dataset)
        parts = [f"everything released about {about} together is {budget.guarantee.sentence(user=self.user)}"]
        if self.raises:
            parts.append(
                f"the total was raised {self.raises} time{'s' * (self.raises > 1)}: earlier totals no longer hold, and "
                "this one assumes that raising it did not depend on answers"
            )
        if budget.epsilon_per_analyst is not None:
            cap = Guarantee.approximate(budget.epsilon_per_analyst, budget.delta_per_analyst or 0)
            told = cap.sentence(user=self.user)
            parts.append(f"the releases shown to one analyst are {told}, if analysts do not share answers")
        return "; ".join(parts)

    def __str__(self) -> str:
        from podium.present.text.accounts import status_text  # noqa: PLC0415 - presenting is above this room

        return status_text(self)

    def __repr__(self) -> str:
        budget = self.totals.budget
        total = f"dataset={self.dataset!r}, epsilon={display(budget.epsilon)}, delta={display(budget.delta)}"
        return f"Status({total}, spent={self.spent!r}, remaining={self.remaining!r})"

    def _repr_html_(self) -> str:
        from podium.present.notebook import status_html  # noqa: PLC0415 - presenting is above this room

        return status_html(self)

    def _amounts(self, charged: Sum) -> dict[str, str | None]:
        """A sum in the measures that the total is kept in."""
        if self.totals.budget.pure:
            return {"epsilon": exact_text(charged.cost.epsilon)}
        if self.totals.budget.filter == "gaussian":
            return {"mu_squared": str(charged.mu_squared), "delta": str(charged.cost.delta)}
        return {"rho": str(charged.rho), "delta": str(charged.cost.delta)}

    def to_dict(self) -> dict[str, Any]:
        """A JSON object with exact numbers as text."""
        cap = self.totals.cap
        return {
            "dataset": self.dataset,
            "source": self.source,
            "user": user_data(self.user),
            "data_version": self.data_version,
            "promise": self.promise,
            "total": self.totals.to_dict(),
            "spent": self._amounts(self.held - self.opened),
            "reserved": self._amounts(self.opened),
            "remaining": self.remaining.to_dict(),
            "items_left": self.items_left,
            "questions_left": self.questions_left,
            "questions_asked": self.questions_asked,
            "open_reservations": self.open_reservations,
            "analysts": {
                name: {
                    "held": self._amounts(held),
                    "remaining": None if cap is None else cap.remaining(held).to_dict(),
                }
                for name, held in self.sums.items()
            },
            "failures": self.failures,
            "failures_of": [{"analyst": name, "failures": count} for name, count in self.failures_of.items()],
            "locked": self.locked,
            "locked_out": list(self.locked_out),
            "schedule": self.schedule,
            "raises": self.raises,
            "entries": self.entries,
            "head": self.head,
            **({"tables": {name: table._asdict() for name, table in self.tables.items()}} if self.tables else {}),
            **({"joins": {name: list(joins) for name, joins in self.joins.items()}} if self.joins else {}),
        }


def status_of(store: Store, record: DatasetRecord) -> Status:
    """The status of a data set, read in one transaction."""
    account, state = record.account, record.state
    facts = store.registration(record).facts
    failures = {name or None: state.failures(name) for name in sorted(state.analysts) if state.failures(name)}
    opened = store.open_reservations(record)
    reserved = sum((recorded_sum(entry) for entry in opened), Sum())
    remaining = account.totals.books.remaining(account.held)
    sums = {name: state.analyst(name) for name in sorted(state.analysts) if name != NAMELESS}
    return Status(
        dataset=account.dataset,
        source=account.source,
        user=registered_user(facts),
        data_version=account.data_version,
        totals=account.totals,
        spent=(account.held - reserved).cost,
        reserved=reserved.cost,
        remaining=remaining,
        analysts={name: held.cost for name, held in sums.items()},
        items_left=account.totals.books.items_left(account.totals.epsilon_per_item, account.held),
        questions_left=_questions_left(account, remaining),
        open_reservations=len(opened),
        questions_asked=account.questions,
        failures=account.failures,
        failures_of=failures,
        locked=account.locked,
        locked_out=tuple(name for name in failures if state.locked(name)),
        schedule=facts.get("schedule"),
        raises=account.raises,
        entries=account.sequence,
        head=account.head,
        tables=account.tables,
        joins=facts.get("joins", {}),
        sums=sums,
        held=account.held,
        opened=reserved,
    )


def registered_user(facts: Mapping[str, Any]) -> UserColumns | None:
    """The user columns that a registration names."""
    named = facts.get("user")
    return None if named is None else user_columns(named)


def require_user(dataset: str, registered: UserColumns | None, user: UserColumns | None) -> None:
    """Refuse user columns other than the registered ones: they would protect somebody else."""
    if registered is not None and (user is None or not same_users(user, registered)):
        raise InvalidArgument(
            "user",
            user,
            allowed=f"{registered!r}, whose values dataset={dataset!r} protects since it was registered",
            hint="Another user column is another promise: register another data set for it.",
        )


def _questions_left(account: Account, remaining: Remaining) -> int:
    call, maximum = account.totals.delta_per_call, account.totals.max_questions
    if call == 0:
        return max(0, account.totals.budget.questions - account.questions)
    left = math.floor(remaining.delta * (1 + call) / call)
    return left if maximum is None else max(0, min(left, maximum - account.questions))

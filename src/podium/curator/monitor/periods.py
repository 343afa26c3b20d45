"""What the ledger knows about a schedule: answered periods, items found, and the cost of each attempt.

There is no other state: a process that was killed and restarted continues where the ledger says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from podium.histogram import Item
from podium.ledger import Entry, Kind
from podium.mechanisms import AdaptiveTopK
from podium.privacy import Cost
from podium.query import QuestionRecord
from podium.release import Receipt, Release
from podium.release.release import read_stored

__all__ = ["Attempt", "Found", "Record", "Role", "merge_domain", "question_identity"]


class Role(StrEnum):
    """The purpose of a question in a schedule."""

    FINDING = "finding"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One question of a period: its charge, and its release unless it failed or is still open."""

    period: str
    role: Role
    cost: Cost
    open: bool
    release: Release | None


@dataclass(frozen=True, slots=True)
class Record:
    """The attempts of one schedule on one data set, and the number of questions from elsewhere.

    ``head`` is the hash of the last entry that was read.
    """

    attempts: tuple[Attempt, ...]
    foreign: int
    head: str

    @classmethod
    def of(cls, history: Iterable[Entry], schedule: str) -> Record:
        """The record in the entries of a data set."""
        reserved: dict[int, tuple[str, Role, Entry]] = {}
        closed: dict[int, Entry] = {}
        foreign, head = 0, ""
        for entry in history:
            head = entry.hash
            if entry.kind is Kind.RESERVED:
                identity = _identity(entry.question, schedule)
                if identity is None:
                    foreign += 1
                else:
                    reserved[entry.sequence] = (*identity, entry)
            elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation in reserved:
                closed[entry.reservation] = entry
        attempts = [
            _attempt(period, role, entry, closed.get(number)) for number, (period, role, entry) in reserved.items()
        ]
        return cls(tuple(attempts), foreign, head)

    def of_period(self, period: str) -> Record:
        """The attempts of this period."""
        return replace(self, attempts=tuple(attempt for attempt in self.attempts if attempt.period == period))

    def release(self, role: Role) -> Release | None:
        """The release with this role; None if there is none."""
        return next((a.release for a in self.attempts if a.role is role and a.release is not None), None)

    @property
    def open(self) -> bool:
        """Whether an attempt is still open."""
        return any(attempt.open for attempt in self.attempts)

    @property
    def cost(self) -> Cost:
        """The total charge of all attempts."""
        return sum((attempt.cost for attempt in self.attempts), Cost.nothing())


@dataclass(slots=True)
class Found:
    """What earlier periods of a schedule named, the newest last, and how: all of it released.

    ``lists`` counts the lists that were found in rounds of their own, which hold so many ``items`` in all.
    """

    named: list[tuple[Item, ...]] = field(default_factory=list)
    searches: int = 0
    lists: int = 0
    items: int = 0

    def add_search(self, finding: Release) -> None:
        """A round of finding, whose items later lists are chosen from."""
        self.named.append(finding.items)
        self.searches += 1

    def add_list(self, listed: Release) -> None:
        """A list: if it was found in rounds, its items were unknown before."""
        if listed.mechanism == AdaptiveTopK.__name__:
            self.named.append(listed.items)
            self.lists += 1
            self.items += len(listed.items)

    def domain(self, maximum: int) -> tuple[Item, ...]:
        """At most ``maximum`` items for a list to be chosen from."""
        return merge_domain(self.named, maximum)


def question_identity(schedule: str, period: str, role: Role) -> dict[str, str]:
    """The fields that mark a stored question as one of a schedule."""
    return {"schedule": schedule, "period": period, "role": role.value}


def merge_domain(found: Iterable[tuple[Item, ...]], maximum: int) -> tuple[Item, ...]:
    """At most ``maximum`` released items for a list to be chosen from, the most recently found first."""
    merged: dict[Item, None] = {}
    for items in reversed(list(found)):
        merged.update(dict.fromkeys(items))
    return tuple(merged)[:maximum]


def _identity(question: str | None, schedule: str) -> tuple[str, Role] | None:
    record = QuestionRecord.from_text(question)
    if record is None or record.schedule.get("schedule") != schedule:
        # Other questions may share the ledger; they are not part of this schedule.
        return None
    return record.schedule["period"], Role(record.schedule["role"])


def _attempt(period: str, role: Role, entry: Entry, closing: Entry | None) -> Attempt:
    settled = closing is not None and closing.kind is Kind.SETTLED
    cost = closing.cost if closing is not None and settled else entry.cost
    release = None
    if closing is not None and settled:
        stored = read_stored(closing.release)
        # It was paid for when it was settled, so a replay has no events.
        release = replace(stored, paid=Receipt((), entry=closing.hash))
    return Attempt(period, role, cost or Cost.nothing(), closing is None, release)

"""A ledger against a model of a few lines: whatever is done in whatever order, the sums and refusals agree."""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from podium.errors import BudgetExceeded, DatasetLocked, ReservationClosed
from podium.ledger import Budget, Reason, Reservation, open_ledger
from podium.privacy import Cost, Event, GaussianNoise, LimitedDomainCall, PureMechanism

UNIT = Fraction(1, 100)
MEMORY = Path("/dev/shm")  # noqa: S108 - a file there needs no disk, and is made by mkdtemp
ANALYSTS = st.sampled_from(["ann", "bob"])
QUESTIONS = st.sampled_from(["q1", "q2", "q3"])


def cost(units: int) -> Cost:
    return Cost(epsilon=units * UNIT, rho=0)


@dataclass
class Held:
    """A reservation in the model; all amounts in units."""

    worst: int
    analyst: str
    question: str
    version: str
    state: str = "reserved"
    paid: int = 0
    seen: set[str] = field(default_factory=set)

    def charged(self) -> int:
        return self.paid if self.state == "settled" else self.worst


class LedgerMachine(RuleBasedStateMachine):
    """One pure data set with caps per analyst, and its model."""

    reservations = Bundle("reservations")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.ledger = open_ledger(self.folder / "ledger.db")
        self.total, self.cap = 30, 20
        self.ledger.register("clicks", self._budget(), source="s")
        self.model: dict[int, Held] = {}
        self.failures = {"ann": 0, "bob": 0}
        self.total_failures = 0
        self.version = "1"
        self.receipts: list[str] = []

    def _budget(self) -> Budget:
        return Budget(epsilon=self.total * UNIT, items=10, questions=10, epsilon_per_analyst=self.cap * UNIT)

    def _charged(self, analyst: str | None = None) -> int:
        if analyst is None:
            return sum(held.charged() for held in self.model.values())
        own = sum(held.charged() for held in self.model.values() if held.analyst == analyst)
        return own + sum(held.paid for held in self.model.values() if analyst in held.seen)

    def _locked(self, analyst: str) -> bool:
        return self.failures[analyst] >= 3 or self.total_failures >= 30

    @rule(target=reservations, units=st.integers(1, 12), analyst=ANALYSTS, question=QUESTIONS)
    def reserve(self, units: int, analyst: str, question: str) -> Reservation | None:
        fits = self._charged() + units <= self.total and self._charged(analyst) + units <= self.cap
        try:
            reservation = self.ledger.reserve("clicks", cost(units), question, analyst=analyst)
        except DatasetLocked:
            assert self._locked(analyst)
            return None
        except BudgetExceeded:
            assert not self._locked(analyst)
            assert not fits
            return None
        assert fits
        assert not self._locked(analyst)
        self.model[reservation.number] = Held(units, analyst, question, self.version)
        return reservation

    @rule(reservation=reservations, units=st.integers(0, 12))
    def settle(self, reservation: Reservation | None, units: int) -> None:
        if reservation is None:
            return
        held = self.model[reservation.number]
        paid = min(units, held.worst)
        text = f"{reservation.number}: {paid}"
        if held.state == "forfeited" or (held.state == "settled" and held.paid != paid):
            with pytest.raises(ReservationClosed):
                self.ledger.settle(reservation, text, cost(paid))
            return
        self.receipts.append(self.ledger.settle(reservation, text, cost(paid)).hash)
        held.state, held.paid = "settled", paid

    @rule(reservation=consumes(reservations))
    def forfeit(self, reservation: Reservation | None) -> None:
        if reservation is None:
            return
        held = self.model[reservation.number]
        if held.state == "settled":
            with pytest.raises(ReservationClosed):
                self.ledger.forfeit(reservation)
            return
        self.ledger.forfeit(reservation, Reason.FAILED)
        self.failures[held.analyst] += held.state == "reserved"
        self.total_failures += held.state == "reserved"
        held.state = "forfeited"

    @rule(question=QUESTIONS, analyst=ANALYSTS)
    def look(self, question: str, analyst: str) -> None:
        stored = next(
            (
                (number, held)
                for number, held in sorted(self.model.items())
                if (held.question, held.version, held.state) == (question, self.version, "settled")
            ),
            None,
        )
        try:
            found = self.ledger.find_release("clicks", question, analyst=analyst)
        except BudgetExceeded:
            assert stored is not None
            assert analyst not in stored[1].seen
            assert self._charged(analyst) + stored[1].worst > self.cap
            return
        if stored is None:
            assert found is None
            return
        number, held = stored
        assert found is not None
        assert (found.release, found.reservation) == (f"{number}: {held.paid}", number)
        assert found.charged == (analyst != held.analyst and analyst not in held.seen)
        if found.charged:
            held.seen.add(analyst)

    @rule(version=st.sampled_from(["1", "2"]))
    def relabel(self, version: str) -> None:
        self.ledger.set_data_version("clicks", version)
        self.version = version

    @precondition(lambda self: any(self.failures.values()))
    @rule(alone=st.booleans())
    def unlock(self, alone: bool) -> None:
        if alone:
            name = max(self.failures, key=lambda one: self.failures[one])
            self.ledger.unlock("clicks", analyst=name)
            self.failures[name] = 0
        else:
            self.ledger.unlock("clicks")
            self.failures, self.total_failures = {"ann": 0, "bob": 0}, 0

    @precondition(lambda self: self.total < 60)
    @rule(more=st.integers(0, 9))
    def raise_total(self, more: int) -> None:
        self.total += more
        self.ledger.raise_total("clicks", self._budget())

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = open_ledger(self.folder / "ledger.db")

    @invariant()
    def sums_agree(self) -> None:
        status = self.ledger.status("clicks")
        waiting = sum(held.worst for held in self.model.values() if held.state == "reserved")
        assert status.reserved.epsilon == waiting * UNIT
        assert status.spent.epsilon == (self._charged() - waiting) * UNIT
        assert status.remaining.epsilon == (self.total - self._charged()) * UNIT
        assert self._charged() <= self.total
        assert all(held.epsilon == self._charged(name) * UNIT for name, held in status.analysts.items())
        assert all(self._charged(name) <= self.cap for name in ("ann", "bob"))
        assert (status.failures, status.locked) == (self.total_failures, self.total_failures >= 30)
        assert status.failures_of == {name: count for name, count in self.failures.items() if count}
        assert set(status.locked_out) == {name for name, count in self.failures.items() if count and self._locked(name)}

    def teardown(self) -> None:
        report = self.ledger.verify(receipts=self.receipts)
        self.ledger.close()
        shutil.rmtree(self.folder)
        assert report.problem is None


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)

APPROXIMATE = Budget(epsilon=1, delta="1e-6", items=10, questions=10)

LOSSES = st.lists(
    st.tuples(
        st.one_of(
            st.builds(PureMechanism, st.fractions("1/1000", "1/2", max_denominator=1000)),
            st.builds(GaussianNoise, st.integers(3, 60)),
            st.builds(LimitedDomainCall, st.fractions("1/100000000", "1/1000000", max_denominator=10**8)),
        ),
        st.sampled_from(["settle", "forfeit", "leave"]),
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(losses=LOSSES)
def test_sums_of_mixed_losses_never_pass_the_limits(losses: list[tuple[Event, str]]) -> None:
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    with open_ledger(folder / "ledger.db") as ledger:
        ledger.register("clicks", APPROXIMATE, source="s", failures_allowed=100)
        limits = ledger.status("clicks").totals.whole
        epsilon, rho, delta, unbounded = Fraction(0), Fraction(0), Fraction(0), False
        for event, fate in losses:
            try:
                # Of a schedule, so that nothing but the sums can refuse it.
                reservation = ledger.reserve("clicks", (event,), "q", schedule="s")
            except BudgetExceeded:
                continue
            if fate == "settle":
                ledger.settle(reservation, "{}", (event,))
            elif fate == "forfeit":
                ledger.forfeit(reservation)
            epsilon += event.epsilon or 0
            rho += Fraction(math.ceil(event.rho * 2**64), 2**64)
            delta += event.delta
            unbounded = unbounded or event.epsilon is None
        assert limits.epsilon is not None
        assert limits.rho is not None
        assert delta <= limits.delta
        assert rho <= limits.rho or (not unbounded and epsilon <= limits.epsilon)
        status = ledger.status("clicks")
        assert (status.spent + status.reserved).rho == rho
        assert (status.spent + status.reserved).delta == delta
        assert ledger.verify().problem is None
    shutil.rmtree(folder)

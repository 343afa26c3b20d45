"""Random histories of accounts with a Gaussian filter, each held against the theorem that accounts rest on.

An adversary reserves calls and sessions, settles them in any order for a part of what was reserved, loses and cancels
some, lets another analyst read what is stored, and has the total raised. What the ledger then says is read back, and
Theorem 1 of docs/proofs/gaussian-filter.md is checked step by step, in an order in which the calls may have run: a
call that is fixed when it is reserved runs then, one that may still be changed or refunded runs when it is closed.
Prices are computed in floats, apart from the product's. Each rule of the ledger, left out, makes such a history fail.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bench.ledger.profiles import exact_price

from podium.errors import BudgetExceeded, BudgetMismatch, InvalidArgument
from podium.ledger import (
    Budget,
    Entry,
    Kind,
    Ledger,
    Reason,
    Reservation,
    account,
    admission,
    open_ledger,
    reservations,
)
from podium.ledger.account import recorded_charge, terms_of
from podium.ledger.bookkeeping import gaussian_books, priced
from podium.ledger.bookkeeping.gaussian_books import GaussianBooks
from podium.ledger.bookkeeping.kinds import limits_from_dict
from podium.privacy import (
    ApproximateMechanism,
    BottomEvent,
    Event,
    GaussianNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
)
from podium.privacy.gaussian import Chain, GaussianLimits, Step, chains, steps_of

BUDGET = Budget(
    epsilon="1.5", delta="1e-6", items=40, questions=40, max_questions=1000, epsilon_per_analyst="1", filter="gaussian"
)
SMALL, LARGE = Selection("0.1"), Selection("0.3")
NOISE = GaussianNoise(10)
MENU: tuple[tuple[Event, ...], ...] = (
    (SMALL,) * 6,
    (LARGE,) * 2,
    (LARGE,),
    (LARGE, SMALL, SMALL),
    (NOISE, SMALL, SMALL, NOISE),
    (SMALL, SMALL, SMALL, NOISE),
    (PureMechanism("0.2"),),
    (PureMechanism("0.2"), LARGE),
    (LimitedDomainCall("1e-9"), *(Selection("0.2"),) * 3),
    (ApproximateMechanism("0.2", "1e-9"),),
    (GaussianNoise(5),),
    (NOISE, SMALL, LARGE, NOISE, SMALL, LARGE),
)
"""What may be asked: among them lists for two groups, whose steps come back."""
MARGIN = 1e-9


class Run(NamedTuple):
    """A step that ran, or may have run: what it is charged, and its pure cost."""

    kind: str
    half_width: float
    charged: Fraction
    pure: Fraction | None


def ran(reserved: Sequence[Event], out: Sequence[Event] | None, chain: Chain) -> list[Run]:
    """The steps of a call, each at the first place of its kind after those before it; all if it is not known what ran.

    Where they are not found in this order, they are looked for in any; and if they are others, all of the chain ran.
    """
    places = [(part.step.times(1), part.price) for part in chain.parts for _ in range(part.step.count)]
    wanted = singles(steps_of(reserved if out is None else out))
    for ahead in (not chain.any_order, False):
        left, found = list(places), []
        for step in wanted:
            place = next((place for place, one in enumerate(left) if one[0] == step), None)
            if step.kind == "gaussian":
                found.append((step, step.size))
            elif place is not None:
                found.append(left[place])
                left = left[place + 1 :] if ahead else left[:place] + left[place + 1 :]
        if out is not None and len(found) == len(wanted):
            places = found
            break
    return [
        Run(step.kind, float(step.half_width), charged, None if step.kind == "gaussian" else step.size)
        for step, charged in places
    ]


def singles(steps: Sequence[Step]) -> list[Step]:
    return [step.times(1) for step in steps for _ in range(step.count)]


def history_of(entries: Sequence[Entry], analyst: str | None) -> list[Run]:
    """Everything that was charged, under the total or to one analyst, in an order in which it may have run."""
    by_number = {entry.sequence: entry for entry in entries}
    closing = {entry.reservation: entry for entry in entries if entry.kind in (Kind.SETTLED, Kind.FORFEITED)}
    placed: list[tuple[float, list[Run]]] = []
    for entry in entries:
        end = closing.get(entry.sequence if entry.kind is Kind.RESERVED else entry.reservation)
        out = recorded_charge(end).events if end is not None and end.kind is Kind.SETTLED else None
        if entry.kind is Kind.RESERVED and analyst in (None, entry.analyst):
            terms = terms_of(entry, of_analyst=analyst is not None)
            chain, worst = Chain.from_json(json.dumps(terms["chain"])), recorded_charge(entry).events
            if sorted(map(repr, singles(steps_of(worst)))) != sorted(repr(one.step.times(1)) for one in chain.parts
                                                                     for _ in range(one.step.count)):  # fmt: skip
                placed.append((0, [Run("other", 0, Fraction(0), None)]))
            if end is not None and end.facts.get("reason") == Reason.CANCELLED and terms["refundable"]:
                continue
            late = entry.facts.get("session") or terms["refundable"]
            closed = math.inf if end is None else end.sequence
            placed.append((closed if late else entry.sequence, ran(worst, out, chain)))
        elif entry.kind is Kind.SEEN and analyst == entry.analyst:
            worst = recorded_charge(by_number[entry.reservation or 0]).events
            runs = ran(worst, out, Chain.at_zero(steps_of(worst)))
            paid = Fraction(terms_of(entry, of_analyst=True)["mu_squared"])
            if paid < sum(run.charged for run in runs):
                runs = [Run("other", 0, paid, None)]
            placed.append((entry.sequence, runs))
    return [run for _, runs in sorted(placed, key=lambda one: one[0]) for run in runs]


def breaks_theorem(runs: Sequence[Run], limits: GaussianLimits) -> str | None:
    """Which step has no price where it ran; None if the history is a process of the theorem, or the pure sum holds."""
    pure: Fraction | None = Fraction(0)
    for run in runs:
        pure = None if pure is None or run.pure is None else pure + run.pure
    if pure is not None and pure <= limits.epsilon:
        return None
    left = limits.mu_squared
    if any(run.kind == "other" for run in runs):
        return "something is not charged at prices that hold"
    for place, run in enumerate(runs):
        left -= run.charged
        if left < 0:
            return f"step {place} leaves {float(left):.3g}"
        if run.kind != "gaussian" and float(run.charged) < float(exact_price(run.half_width, float(left))) - MARGIN:
            return f"step {place} of {run.half_width} is charged {float(run.charged):.6g} with {float(left):.6g} left"
    return None


def problems(entries: Sequence[Entry]) -> Iterator[str]:
    """What is wrong with a history, for the total and for every analyst, before each raise and at the end."""
    totals = entries[0].facts["totals"]
    names = sorted({entry.analyst for entry in entries if entry.analyst})
    for place, entry in enumerate([*entries, None]):
        if entry is not None and entry.kind is not Kind.RAISED:
            continue
        for analyst in (None, *names):
            stored = totals["limits" if analyst is None else "per_analyst"]
            limits = limits_from_dict(stored)
            assert isinstance(limits, GaussianLimits)
            found = breaks_theorem(history_of(entries[:place], analyst), limits)
            if found is not None:
                yield f"{analyst}: {found}"
        totals = totals if entry is None else entry.facts["totals"]


class Adversary:
    """Somebody who does at random whatever the ledger lets them do."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self.ledger, self.dice, self.name = ledger, random.Random(seed), f"clicks {seed}"  # noqa: S311 - public test data
        self.open: list[tuple[Reservation, tuple[Event, ...]]] = []
        self.answered: list[str] = []
        ledger.register(self.name, BUDGET, source=self.name, failures_allowed=1000)

    def act(self, turns: int) -> tuple[Entry, ...]:
        """So many turns, of which reserving is every second."""
        for _ in range(turns):
            move = self.dice.choice(
                [self.reserve] * 6 + [self.settle] * 3 + [self.give_up, self.read, self.raise_total]
            )
            move()
        return self.ledger.history(self.name)

    def reserve(self) -> None:
        events, asked = self.dice.choice(MENU), f"q{len(self.open)} {self.dice.random()}"
        if self.dice.random() < 0.2:
            # All that is left, or half of it: after that nothing is left for the prices of open calls.
            left = self.ledger.status(self.name).remaining.mu_squared or Fraction(0)
            events = (GaussianNoise(1, sensitivity_squared=left / self.dice.choice((1, 2))),) if left else events
        try:
            reservation = self.ledger.reserve(
                self.name, events, asked, analyst=self.dice.choice("ab"), session=self.dice.random() < 0.2
            )
        except (BudgetExceeded, InvalidArgument):
            return
        self.open.append((reservation, events))

    def settle(self) -> None:
        if not self.open:
            return
        reservation, events = self.open.pop(self.dice.randrange(len(self.open)))
        kept = [event for event in events if self.dice.random() < 0.8]
        if self.dice.random() < 0.2:
            kept = [BottomEvent(event.epsilon) if isinstance(event, Selection) else event for event in kept]
        disorder = self.dice.random()
        if disorder < 0.2:
            kept.reverse()
        elif disorder < 0.25:
            self.dice.shuffle(kept)
        try:
            self.ledger.settle(reservation, "{}", kept or events[:1])
        except BudgetMismatch:
            self.ledger.forfeit(reservation)
        else:
            self.answered.append(reservation.question)

    def give_up(self) -> None:
        if self.open:
            reservation, _ = self.open.pop(self.dice.randrange(len(self.open)))
            self.ledger.forfeit(reservation, self.dice.choice((Reason.CANCELLED, Reason.FAILED)))

    def read(self) -> None:
        for asked in self.answered[-1:]:
            with suppress(BudgetExceeded):
                self.ledger.find_release(self.name, asked, analyst=self.dice.choice("abc"))

    def raise_total(self) -> None:
        if self.dice.random() < 0.2:
            budget = self.ledger.status(self.name).totals.budget
            larger = {"epsilon": budget.epsilon + Fraction(1, 4), "epsilon_per_analyst": budget.epsilon}
            self.ledger.raise_total(self.name, Budget(**{**budget.to_dict(), **larger}))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "l.db") as opened:
        yield opened


def test_every_history_is_a_process_of_the_theorem(ledger: Ledger) -> None:
    kinds: set[Kind] = set()
    for seed in range(8):
        entries = Adversary(ledger, seed).act(60)
        assert not list(problems(entries)), seed
        kinds |= {entry.kind for entry in entries}
    assert kinds >= {Kind.RESERVED, Kind.SETTLED, Kind.FORFEITED, Kind.SEEN, Kind.RAISED}
    assert ledger.verify().sound


def before_the_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chains, "required_remainder", lambda step, node: Fraction(0))


def sessions_as_calls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(priced, "find_chain", lambda steps, free, one_shot: chains.find_chain(steps, free))


def refunds(patch: pytest.MonkeyPatch) -> None:
    reserve = GaussianBooks.reserve
    patch.setattr(GaussianBooks, "reserve", lambda *given, **more: {**reserve(*given, **more), "refundable": True})


def failures_for_free(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(account, "is_cancelled", lambda entry: entry.kind is Kind.FORFEITED)


def any_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Chain, "has_price", lambda self, executed: True)


def only_the_total(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        reservations, "recorded_terms", lambda whole, own: account.recorded_terms(whole, {} if whole else own)
    )


def readers_as_calls(patch: pytest.MonkeyPatch) -> None:
    charge = reservations._charge_reader

    def require_room(*given: Any, whose: str, session: bool) -> Any:
        return admission.require_room(*given, whose=whose)

    def charge_reader(*given: Any) -> None:
        with patch.context() as inner:
            inner.setattr(reservations, "require_room", require_room)
            charge(*given)

    patch.setattr(reservations, "_charge_reader", charge_reader)


def pure_for_free(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Chain, "at_zero", lambda steps: Chain(()))


LEFT_OUT = (
    before_the_step,
    sessions_as_calls,
    refunds,
    failures_for_free,
    any_order,
    only_the_total,
    readers_as_calls,
    pure_for_free,
)


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_a_ledger_without_one_of_its_rules_is_found_out(
    rule: Callable[[pytest.MonkeyPatch], None], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        # What is found without a rule is not kept for those who have it.
        patch.setattr(gaussian_books._settled, "_values", {})
        rule(patch)
        assert any(list(problems(Adversary(ledger, seed).act(60))) for seed in range(12))

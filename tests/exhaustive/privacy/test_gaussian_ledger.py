"""Small ledgers with the Gaussian filter, exhaustively: what any adversary can force stays within the promise.

The adversary reserves calls while others are open, settles them in any order, loses some, and draws Gaussian noise with
what is free, after every answer as it likes. A call is one or two selections with e^epsilon = 2, with a place of its
interval of losses for each; after its first answer it may end, and then pays for one. Admission and prices are those of
``chain`` and ``Chain.charge``. The value is the largest H over all adversaries: every branch is followed. The same
search fires where a condition is left out. The proof is docs/proofs/gaussian-filter.md, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import inf, log, sqrt
from typing import TypeAlias

import pytest
from scipy.stats import norm

from podium.privacy.gaussian import Chain, Step, chain, price, required_remainder

EPSILON = Fraction("0.6931471806")  # just above ln 2, so prices cover e^epsilon = 2
SELECTION = Step.bounded_range(EPSILON)
TILTS = (1 / 4, 0.4142, 3 / 5)
"""The chance of the larger loss, in the middle and to both sides: it is 2 (1 - e^-t)."""
MEASURED = (-inf, -2, -1.4, -0.9, -0.5, -0.2, 0.1, 0.4, 0.7, 1, 1.4, 1.9, 2.5, inf)
"""Gaussian noise is shown in these bins only: post-processing, which costs no less."""

Outcomes: TypeAlias = tuple[tuple[float, float, int], ...]
"""For each answer its probability, its likelihood ratio on the neighbour, and how many selections ran."""


def selection(tilt: float) -> tuple[tuple[float, float], ...]:
    """Two answers: their probabilities, and the likelihood ratios 1/(2y) and 1/y with y = 1 - tilt/2."""
    y = 1 - tilt / 2
    return ((tilt, 1 / (2 * y)), (1 - tilt, 1 / y))


def one_selection(tilt: float) -> Outcomes:
    return tuple((chance, ratio, 1) for chance, ratio in selection(tilt))


def two_selections(tilt: float, *then: float | None) -> Outcomes:
    """A second selection that depends on the first answer, or ends the call: pay what you get."""
    found: list[tuple[float, float, int]] = []
    for (chance, ratio), after in zip(selection(tilt), then, strict=True):
        if after is None:
            found.append((chance, ratio, 1))
        else:
            found += [(chance * later, ratio * more, 2) for later, more in selection(after)]
    return tuple(found)


ONE = tuple(map(one_selection, TILTS))
TWO = tuple(two_selections(0.4142, *then) for then in product((None, 0.3, 0.5), repeat=2))


def promised(budget: float, x: float) -> float:
    if budget <= 0:
        return max(0.0, 1 - x)
    root, g = sqrt(budget), log(x)
    return float(norm.cdf(root / 2 - g / root) - x * norm.cdf(-root / 2 - g / root))


@dataclass(frozen=True)
class Open:
    """A call in flight: what it may answer is fixed (or may be chosen later, in a wrong ledger)."""

    chain: Chain
    choices: tuple[Outcomes, ...]


@dataclass
class World:
    """Calls with these outcomes, at most so many, and the conditions that the ledger leaves out."""

    calls: tuple[Outcomes, ...]
    most: int
    selections: int = 1
    noise: bool = False
    reserve: Callable[[Fraction, int], Chain | None] = lambda free, count: chain([SELECTION.times(count)], free)
    chosen_late: bool = False
    refunds: bool = False
    counts_open: bool = True
    values: dict[object, float] = field(default_factory=dict)

    def forced(self, free: Fraction, x: float, running: tuple[Open, ...] = (), asked: int = 0) -> float:
        """The largest H at x of what is still to come; ``free`` already lacks all reservations."""
        key = (free, round(log(x), 9), tuple(sorted(map(id, running))), asked)
        if key not in self.values:
            self.values[key] = max(self.options(free, x, running, asked))
        return self.values[key]

    def options(self, free: Fraction, x: float, running: tuple[Open, ...], asked: int) -> Iterator[float]:
        """What every move that the ledger admits leads to."""
        # All that is free as noise is the last move that needs no bins.
        yield promised(float(free), x)
        yield from self.reserved(free, x, running, asked)
        for place, call in enumerate(running):
            others = running[:place] + running[place + 1 :]
            held = call.chain.total if self.counts_open else Fraction(0)
            for outcomes in call.choices:
                yield sum(
                    chance
                    * self.forced(free + held - call.chain.charge([SELECTION.times(ran)]), x * ratio, others, asked)
                    for chance, ratio, ran in outcomes
                )
            if self.refunds:
                yield self.forced(free + held, x, others, asked)
        if self.noise and running and free > 0:
            yield sum(chance * self.forced(Fraction(0), x * ratio, running, asked) for chance, ratio in bins(free))

    def reserved(self, free: Fraction, x: float, running: tuple[Open, ...], asked: int) -> Iterator[float]:
        if asked == self.most:
            return
        found = self.reserve(free, self.selections)
        if found is None:
            return
        rest = free - found.total if self.counts_open else free
        for choices in [self.calls] if self.chosen_late else [(call,) for call in self.calls]:
            yield self.forced(rest, x, (*running, opened(found, choices)), asked + 1)


def opened(found: Chain, choices: tuple[Outcomes, ...]) -> Open:
    """The same object for equal calls, so that equal states are met again."""
    return KNOWN.setdefault((found, choices), Open(found, choices))


KNOWN: dict[tuple[Chain, tuple[Outcomes, ...]], Open] = {}


def bins(amount: Fraction) -> list[tuple[float, float]]:
    """Probability and likelihood ratio of each bin of noise of this mu^2; the neighbour's mean is mu."""
    mu = sqrt(amount)
    chances = [(norm.cdf(b) - norm.cdf(a), norm.cdf(b - mu) - norm.cdf(a - mu)) for a, b in pairwise(MEASURED)]
    return [(float(here), float(there / here)) for here, there in chances]


LEVELS = [1.0, 1.2, 1.5, 2.0, 2.8, 4.0, 6.0]
FOR_TWO, FOR_THREE = Fraction("0.38"), Fraction("0.48")
"""Budgets in which two and three selections fit, at prices of several nodes."""


def worst(world: World, budget: Fraction) -> float:
    """The largest forced H over the promise, over all levels and both orders (at x < 1 and x > 1)."""
    levels = [*LEVELS, *(1 / x for x in LEVELS[1:])]
    return max(world.forced(budget, x) / promised(float(budget), x) for x in levels)


def test_the_budgets_hold_as_many_selections_as_intended() -> None:
    for budget, number in ((FOR_TWO, 2), (FOR_THREE, 3)):
        found = chain([SELECTION.times(number)], budget)
        assert found is not None
        assert len({part.node for part in found.parts}) == number
        assert chain([SELECTION.times(number + 1)], budget) is None


@pytest.mark.parametrize(("budget", "most"), [(FOR_TWO, 2), (FOR_THREE, 3)])
def test_calls_in_flight_settled_in_every_order(budget: Fraction, most: int) -> None:
    assert worst(World(ONE, most), budget) <= 1 + 1e-9


def test_pay_what_you_get() -> None:
    """Calls of two selections that end after the first give back what they reserved for the second."""
    assert worst(World(TWO, 3, selections=2), FOR_THREE) <= 1 + 1e-9


def test_with_noise_while_calls_are_open() -> None:
    assert worst(World(ONE, 2, noise=True), FOR_THREE) <= 1 + 1e-9


def at_node(node: int) -> tuple[Fraction, Callable[[Fraction, int], Chain | None]]:
    """A budget in which one selection has this node's price, and as much noise after it."""
    found = required_remainder(SELECTION, node) + price(SELECTION, node)
    return found, lambda free, count: chain([SELECTION.times(count)], free)


@pytest.mark.parametrize("node", [1, 2])
def test_the_world_is_large_enough_to_see_a_choice_that_is_made_late(node: int) -> None:
    """A session at one-shot prices: fixed beforehand it is within the promise, chosen after the noise it is not."""
    budget, reserve = at_node(node)
    late = (*ONE, *map(one_selection, (0.1, 0.8, 0.95)))
    assert worst(World(late, 1, noise=True, reserve=reserve), budget) <= 1 + 1e-9
    assert worst(World(late, 1, noise=True, reserve=reserve, chosen_late=True), budget) > 1.02

    def at_zero(free: Fraction, count: int) -> Chain | None:
        return chain([SELECTION.times(count)], free, one_shot=False)

    assert worst(World(late, 1, noise=True, reserve=at_zero, chosen_late=True), budget) <= 1 + 1e-9


def test_and_a_cancelled_call_that_is_refunded() -> None:
    budget, reserve = at_node(2)
    assert worst(World(ONE, 1, noise=True, reserve=reserve), budget) <= 1 + 1e-9
    assert worst(World(ONE, 1, noise=True, reserve=reserve, refunds=True), budget) > 1.02


def test_and_reservations_that_are_not_counted() -> None:
    assert worst(World(ONE, 3, counts_open=False), FOR_TWO) > 1.02


@pytest.mark.parametrize("share", [Fraction(19, 20), Fraction(2, 3)])
def test_and_prices_that_are_too_low(share: Fraction) -> None:
    """Two thirds is about a^2, the price of the limit."""

    def cheaper(free: Fraction, count: int) -> Chain | None:
        found = chain([SELECTION.times(count)], free / share)
        if found is None:
            return None
        return Chain(tuple(type(part)(part.step, part.node, part.price * share) for part in found.parts))

    assert worst(World(ONE, 1, reserve=cheaper), price(SELECTION, 0) * share) > 1.02

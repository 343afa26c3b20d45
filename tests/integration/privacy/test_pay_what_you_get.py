"""Pay-what-you-get on small worlds, exhaustively: the claim holds with bottom charged, and breaks without.

The law of a limited-domain call is written here a second time, from the definition (peeling with bottom as an
item that ends the output), with e^epsilon = 2, so that every probability is a rational number. The adversary may
choose any query after every answer; the recursion below computes the largest hockey-stick divergence of the
whole transcript over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import exp, log

import numpy as np
import pytest
from numpy.typing import NDArray

from podium.privacy import adaptive_optimum_delta, limited_domain_delta

EPSILON = Fraction("0.6931471806")  # just above ln 2, so a claim at this epsilon covers e^epsilon = 2
BOTTOM = "bottom"


@dataclass(frozen=True)
class World:
    """Up to ``items`` items, each with one of these counts (or one more, on the larger side)."""

    items: int
    counts: tuple[int, ...]
    delta: Fraction


FLAT = World(3, (0, 1), Fraction(1, 20))  # the domain's edge: what only one side can return
TALL = World(2, (0, 1, 11), Fraction(1, 1000))  # 2^11 competes with bottom's 2/delta: bottom is in doubt

Law = dict[tuple[str, ...], Fraction]
Outcome = tuple[int, int, Fraction, Fraction]  # symbols, of which items; probability here and on the neighbour
Query = tuple[int, tuple[Outcome, ...]]  # k, outcomes


def limited_domain_law(counts: tuple[int, ...], k: int, k_bar: int, delta: Fraction) -> Law:
    ranked = sorted(zip("abc", counts, strict=False), key=lambda pair: (-pair[1], pair[0]))
    next_count = ranked[k_bar][1] if k_bar < len(ranked) else 0
    weights = {name: Fraction(2) ** count for name, count in ranked[:k_bar] if count > 0}
    weights[BOTTOM] = Fraction(2) ** (next_count + 1) * k_bar / delta
    law: Law = {}

    def peel(chosen: tuple[str, ...], chance: Fraction) -> None:
        if len(chosen) == k or (chosen and chosen[-1] == BOTTOM):
            law[chosen] = chance
            return
        left = {name: weight for name, weight in weights.items() if name not in chosen}
        for name, weight in left.items():
            peel((*chosen, name), chance * weight / sum(left.values()))

    peel((), Fraction(1))
    return law


@lru_cache(maxsize=4)
def queries(world: World) -> tuple[Query, ...]:
    """Every call on every pair of neighbours of this world, in both directions.

    Outcomes with the same price and likelihood ratio are one outcome, and equal queries are one query.
    """
    found: set[Query] = set()
    for smaller, moved in product(product(world.counts, repeat=world.items), product(range(2), repeat=world.items)):
        larger = tuple(count + move for count, move in zip(smaller, moved, strict=True))
        for k, k_bar in ((1, 1), (1, 2), (2, 2), (2, 3)):
            first = limited_domain_law(smaller, k, k_bar, world.delta)
            second = limited_domain_law(larger, k, k_bar, world.delta)
            found.add((k, _merge(first, second)))
            found.add((k, _merge(second, first)))
    return tuple(sorted(found))


def _merge(first: Law, second: Law) -> tuple[Outcome, ...]:
    merged: dict[tuple[int, int, Fraction], tuple[Fraction, Fraction]] = {}
    for outcome, chance in first.items():
        other = second.get(outcome, Fraction(0))
        key = (len(outcome), sum(symbol != BOTTOM for symbol in outcome), other / chance)
        before = merged.get(key, (Fraction(0), Fraction(0)))
        merged[key] = (before[0] + chance, before[1] + other)
    return tuple(sorted((symbols, items, p, q) for (symbols, items, _), (p, q) in merged.items()))


def exact_divergence(
    world: World, selections: int, calls: int, ratio: Fraction, *, charge_bottom: bool = True
) -> Fraction:
    """Largest P - ratio * Q over all adaptive transcripts, in rationals."""

    @cache
    def worst(left: int, calls_left: int, at: Fraction) -> Fraction:
        best = max(Fraction(0), 1 - at)
        if calls_left == 0 or left == 0:
            return best
        for k, outcomes in queries(world):
            if k <= left:
                value = Fraction(0)
                for symbols, items, p, q in outcomes:
                    price = symbols if charge_bottom else items
                    value += p * worst(left - price, calls_left - 1, at * q / p)
                best = max(best, value)
        return best

    return worst(selections, calls, ratio)


@dataclass(frozen=True)
class Game:
    """The same recursion for many ratios at once, in floats: three calls have too many rationals."""

    ratios: NDArray[np.float64]
    chances: dict[tuple[int, int], NDArray[np.float64]]  # (k, price) -> ratio x query

    @classmethod
    def of(cls, world: World, *, charge_bottom: bool) -> Game:
        ratios = sorted({q / p for _, outcomes in queries(world) for _, _, p, q in outcomes})
        place = {ratio: index for index, ratio in enumerate(ratios)}
        chances: dict[tuple[int, int], NDArray[np.float64]] = {}
        for k in (1, 2):
            chosen = [outcomes for size, outcomes in queries(world) if size == k]
            for price in (0, 1, 2):
                table = np.zeros((len(ratios), len(chosen)))
                for column, outcomes in enumerate(chosen):
                    for symbols, items, p, q in outcomes:
                        if price == (symbols if charge_bottom else items):
                            table[place[q / p], column] += float(p)
                chances[k, price] = table
        return cls(np.array([float(ratio) for ratio in ratios]), chances)

    def divergence(self, left: int, calls: int, at: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.maximum(0.0, 1.0 - at)
        if calls == 0 or left == 0:
            return best
        after = {
            price: self.divergence(left - price, calls - 1, np.multiply.outer(at, self.ratios).ravel())
            for price in range(min(left, 2) + 1)
        }
        for k in range(1, min(left, 2) + 1):
            shape = (len(at), len(self.ratios))
            value = sum(after[price].reshape(shape) @ self.chances[k, price] for price in range(k + 1))
            best = np.maximum(best, np.max(value, axis=1))
        return best

    def at(self, left: int, calls: int, total: Fraction) -> float:
        return float(self.divergence(left, calls, np.array([exp(total)]))[0])


@lru_cache(maxsize=4)
def game(world: World, *, charge_bottom: bool = True) -> Game:
    return Game.of(world, charge_bottom=charge_bottom)


def claim(world: World, selections: int, calls: int, total: Fraction) -> Fraction:
    failure = limited_domain_delta(world.delta, calls)
    return failure + (1 - failure) * adaptive_optimum_delta(EPSILON, selections, total)


def test_the_law_is_the_one_of_the_formulas() -> None:
    law = limited_domain_law((2, 1, 0), 2, 2, Fraction(1, 20))
    assert sum(law.values()) == 1
    # Weights 4, 2 and, with the third count 0, a bottom of 2 * 2 / (1/20) = 80.
    assert law[(BOTTOM,)] == Fraction(80, 86)
    assert law["b", "a"] == Fraction(2, 86) * Fraction(4, 84)


@pytest.mark.parametrize("world", [FLAT, TALL])
@pytest.mark.parametrize(("selections", "calls"), [(1, 1), (1, 2), (2, 2), (3, 2)])
def test_two_calls_with_bottom_charged_keep_the_claim(world: World, selections: int, calls: int) -> None:
    for share in (Fraction(0), Fraction(1, 2), Fraction(1)):
        total = share * selections * EPSILON
        # A ratio below e^total makes the divergence larger, so this is the strict side.
        ratio = Fraction(exp(total) * (1 - 1e-12))
        found = exact_divergence(world, selections, calls, ratio)
        assert found <= claim(world, selections, calls, total) + Fraction(1, 10**11)


@pytest.mark.parametrize("world", [FLAT, TALL])
@pytest.mark.parametrize("selections", [2, 3])
def test_three_calls_with_bottom_charged_keep_the_claim(world: World, selections: int) -> None:
    for share in (0.25, 0.6, 1.0):
        total = Fraction(share) * selections * EPSILON
        assert game(world).at(selections, 3, total) <= float(claim(world, selections, 3, total)) + 1e-9


def test_both_recursions_agree() -> None:
    ratio = Fraction(7, 4)
    for pays in (True, False):
        exact = exact_divergence(TALL, 2, 2, ratio, charge_bottom=pays)
        found = game(TALL, charge_bottom=pays).divergence(2, 2, np.array([float(ratio)]))[0]
        assert found == pytest.approx(float(exact), abs=1e-13)


@pytest.mark.parametrize("calls", [1, 2])
def test_the_delta_of_the_claim_cannot_be_smaller(calls: int) -> None:
    """At total = k* epsilon only the failure probability is left, and these worlds reach all of it."""
    assert exact_divergence(FLAT, calls, calls, Fraction(2) ** calls) == limited_domain_delta(FLAT.delta, calls)


def test_two_selections_charged_as_one_are_caught() -> None:
    """The claim for one selection fails on transcripts that paid for two."""
    found = exact_divergence(TALL, 2, 2, Fraction(exp(EPSILON)))
    assert found > 3 * claim(TALL, 1, 2, EPSILON)


@pytest.mark.parametrize("calls", [2, 3])
def test_bottom_for_free_is_caught(calls: int) -> None:
    """With k* = 1 and bottom free, an analyst collects a bottom from every call; the claim for k* = 1 fails."""
    allowed = float(claim(TALL, 1, calls, EPSILON))
    assert game(TALL).at(1, calls, EPSILON) <= allowed + 1e-9
    assert game(TALL, charge_bottom=False).at(1, calls, EPSILON) > 3 * allowed


def test_one_bottom_alone_loses_as_much_as_a_selection_may() -> None:
    """Bottom's log-likelihood ratio, as printed in the formulas for epsilon = 1/2: about .36 in one call."""
    worst = 0.0
    base = exp(0.5)
    for counts in product(range(8), repeat=2):
        weights = [base**count for count in counts]
        moved = [base ** (count + 1) for count in counts]
        bottom = base * 2 / 0.9
        worst = max(worst, log((bottom + sum(moved)) / (bottom + sum(weights))))
    assert 0.36 < worst <= 0.5

"""TestedTopK: what the test sees, what both ways use, costs and error texts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.refusals import check_refused_domains, refusal, whole_domain

from podium.histogram import Histogram, Scores
from podium.mechanisms import CanonicalTopK, NoisyTopK, RisingTopK
from podium.mechanisms.tested import TestedTopK, blocks_of
from podium.privacy.events import ApproximateMechanism, PureMechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Release

_EXAMPLE = Histogram({"a": 9, "b": 7, "c": 6, "d": 3, "e": 1})


def test_what_it_costs_and_how_it_is_split() -> None:
    pure = TestedTopK(100, 1)
    assert pure.worst_case == (PureMechanism(1),)
    assert pure.guarantee.epsilon(delta=0) == 1
    assert pure.epsilon_test == Fraction(1, 32)
    assert pure.at_once == CanonicalTopK(100, "31/32", noise="exponential")
    assert pure.in_turn == NoisyTopK(100, "31/32", gaps=False)
    approximate = TestedTopK(10, 1, delta="1e-6")
    assert approximate.worst_case == (ApproximateMechanism(1, "1e-6"),)
    assert approximate.epsilon_test == Fraction(1, 10)
    turns = approximate.in_turn
    assert isinstance(turns, RisingTopK)
    alone = RisingTopK.within(10, epsilon=1, delta="1e-6")
    assert Fraction(95, 100) * alone.unit < turns.unit < alone.unit
    assert [TestedTopK(k, 1, delta="1e-6").share for k in (2, 100, 1000)] == [
        Fraction(1, 10), Fraction(1, 25), Fraction(2, 155),
    ]  # fmt: skip


def test_a_larger_test_leaves_less_for_both_ways() -> None:
    small, large = (TestedTopK(10, 1, delta="1e-6", share=share) for share in ("1/50", "1/2"))
    assert large.epsilon_test == large.epsilon_set == Fraction(1, 2)
    assert isinstance(small.in_turn, RisingTopK)
    assert isinstance(large.in_turn, RisingTopK)
    half = RisingTopK.within(10, epsilon="1/2", delta="1e-6")
    assert half.unit <= large.in_turn.unit < small.in_turn.unit, "the test costs its share at most"


def test_the_log_odds_by_hand() -> None:
    # k = 1 of 3: classes (0, 2) and (0, 3), one set each; both miss rank 1.
    blocks = blocks_of(1, 3)
    assert list(zip(blocks.missed, blocks.reached, blocks.sizes, strict=True)) == [(1, 2, 0), (1, 3, 0)]
    mechanism = TestedTopK(1, 1, share="1/5")
    # Margin: 4/5 * (9 - 7)/2 nats; the odds grow with 2 * (1/5)/(4/5) per nat.
    assert mechanism.log_odds(Histogram({"a": 9, "b": 7, "c": 6})) == Fraction(1, 2) * (Fraction(4, 5) - 6)
    both_ways = TestedTopK(1, 1, share="1/5", monotone=False)
    assert both_ways.log_odds(Histogram({"a": 9, "b": 7, "c": 6})) == Fraction(1, 2) * (Fraction(2, 5) - 6)


def test_the_distribution_is_a_mixture_of_two() -> None:
    for delta in (0, "0.01"):
        mechanism = TestedTopK(2, 1, delta=delta)
        distribution: Any = mechanism.distribution(_EXAMPLE)
        odds = math.exp(mechanism.log_odds(_EXAMPLE))
        at_once, in_turn = mechanism.at_once.distribution(_EXAMPLE), mechanism.in_turn.distribution(_EXAMPLE)
        assert len(distribution) == len(at_once) + len(in_turn) == 10 + 20
        for outcome, chance in at_once.items():
            assert distribution[outcome] == pytest.approx(chance * odds / (1 + odds), abs=1e-12)
        for outcome, chance in in_turn.items():
            assert distribution[outcome] == pytest.approx(chance / (1 + odds), abs=1e-12)


def test_far_from_the_cliff_the_test_is_certain() -> None:
    clear = Histogram.from_arrays(range(500), [10**6 - i for i in range(50)] + [0] * 450)
    flat = Histogram.from_arrays(range(500), [1000 - i for i in range(500)])
    mechanism = TestedTopK(50, 1, delta="1e-6")
    above = mechanism.release(clear, bits=ReplayableBits(1))
    assert above.outcome == frozenset(range(50))
    assert not above.ordered
    below = mechanism.release(flat, bits=ReplayableBits(1))
    assert below.ordered
    assert len(set(below.outcome)) == 50
    assert below.paid.events == (ApproximateMechanism(1, "1e-6"),)
    assert Release.from_json(below.to_json()) == below
    assert mechanism.release(clear).complete


@pytest.mark.parametrize(
    ("k", "size"), [(1, 2), (1, 9), (3, 4), (5, 40), (40, 41), (100, 5000), (1000, 10**12), (7, 2**900)]
)
def test_blocks_are_public_few_and_ordered(k: int, size: int) -> None:
    blocks = blocks_of(k, size)
    assert 0 < len(blocks.sizes) < 25_000
    assert all(
        1 <= missed <= k < reached <= size for missed, reached in zip(blocks.missed, blocks.reached, strict=True)
    )
    largest = math.lgamma(size + 1) - math.lgamma(k + 1) - math.lgamma(size - k + 1) if size < 10**6 else math.inf
    assert max(blocks.sizes) / 1024 < largest + 1


def test_the_margin_is_near_the_weight_of_the_bad_sets() -> None:
    """Against all classes, summed: blocks are a summary, and a good one."""
    rng = np.random.default_rng(2)
    k, d, epsilon = 20, 300, 0.8
    for power in (1.0, 3.0, 8.0):
        counts = sorted((rng.random(d) ** power * 2000).astype(int).tolist(), reverse=True)
        mechanism = TestedTopK(k, epsilon)
        odds = mechanism.log_odds(Histogram(dict(enumerate(counts))))
        margin = float(odds * mechanism.epsilon_set / (2 * mechanism.epsilon_test)) + 6
        bad = [
            math.log(math.comb(t - a - 2, k - 1 - a)) - float(mechanism.epsilon_set) / 2 * (counts[a] - counts[t - 1])
            for a, t in itertools.product(range(k), range(k + 1, d + 1))
            if math.comb(t - a - 2, k - 1 - a) and 1 + (k - 1 - a) * (t - 1 - k) / max(t - a - 2, 1) >= 5
        ]
        assert margin == pytest.approx(-float(np.logaddexp.reduce(bad)), abs=4 + 0.1 * abs(margin))


def test_error_texts() -> None:
    wrong: Any = TestedTopK
    assert refusal(lambda: wrong(0, 1)) == "k=0 is not valid. Allowed: an integer, 1 or more."
    assert refusal(lambda: wrong(2, 0)) == "epsilon=0 is not valid. Allowed: a number above 0."
    assert refusal(lambda: wrong(2, 1, delta=1)) == "delta=1 is not valid. Allowed: a number with 0 <= value < 1."
    for share in (0, 1, "3/2"):
        assert refusal(lambda share=share: wrong(2, 1, share=share)) == (  # type: ignore[misc]
            f"share={share!r} is not valid. Allowed: a number with 0 < value < 1."
        )
    assert refusal(lambda: wrong(2, 1, monotone=1)) == "monotone=1 is not valid. Allowed: True or False."
    check_refused_domains(TestedTopK, _EXAMPLE, 5, whole_domain(5))


def test_scores_with_their_own_unit() -> None:
    counts = {"a": 9, "b": 7, "c": 6, "d": 3, "e": 1}
    plain = TestedTopK(2, 1).log_odds(Histogram(counts))
    halves = Scores({item: Fraction(count, 2) for item, count in counts.items()}, rises_by="1/2", falls_by=0)
    assert TestedTopK(2, 1).log_odds(halves) == plain

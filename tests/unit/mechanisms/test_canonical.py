"""CanonicalTopK: examples, costs, error texts, large domains, and what happens when floats cannot decide."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from bench.measure import peak_extra_bytes
from tests.support.refusals import check_refused_domains, check_refused_sizes, refusal, whole_domain

from podium.errors import EntropyFailure, InvalidArgument
from podium.histogram import Histogram, Scores
from podium.mechanisms.canonical import envelope, rejection
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
from podium.mechanisms.canonical.classes import Ranking
from podium.mechanisms.canonical.envelope import LOOSENESS, Envelope, log_binomial
from podium.mechanisms.canonical.rejection import uniform_subset
from podium.privacy.events import PureMechanism, SetSelection
from podium.randomness.replay import ConstantBits, ReplayableBits
from podium.release import Release

_EXAMPLE = Histogram({"a": 9, "b": 7, "c": 6, "d": 3, "e": 1})


def test_the_example_of_the_formulas() -> None:
    distribution = CanonicalTopK(2, "0.5", gamma="1/2").distribution(_EXAMPLE)
    assert distribution[frozenset("ab")] == pytest.approx(0.270676789708208, abs=1e-14)
    assert sum(distribution.values()) == pytest.approx(1.0, abs=1e-14)
    assert len(distribution) == 10


def test_one_item_with_gamma_one_is_the_exponential_mechanism_and_permute_and_flip() -> None:
    scores = Histogram({"a": 3, "b": 2, "c": 2, "d": 0})
    gumbel = CanonicalTopK(1, "0.5", gamma=1).distribution(scores)
    weights = {item: math.exp(0.5 * count) for item, count in zip("abcd", (3, 2, 2, 0), strict=True)}
    assert gumbel == pytest.approx(
        {frozenset(item): w / sum(weights.values()) for item, w in weights.items()}, abs=1e-14
    )
    flip = CanonicalTopK(1, "0.5", gamma=1, noise="exponential").distribution(scores)
    assert flip[frozenset("a")] == pytest.approx(0.474233013105400, abs=1e-14)


@pytest.mark.parametrize("gamma", ["0", "1/4", "1/2", "1"])
def test_the_exponential_distribution_agrees_with_quadrature_over_subsets(gamma: str) -> None:
    counts, k, rate = (5, 3, 3, 2, 0), 2, Fraction(3, 4)
    weight = Fraction(gamma)
    losses = {}
    for chosen in itertools.combinations(range(5), k):
        worst = min(counts[i] for i in chosen)
        missed = max(counts[i] for i in range(5) if i not in chosen)
        score = weight * worst - (1 - weight) * max(worst, missed)
        losses[frozenset(chosen)] = float(rate * ((2 * weight - 1) * counts[k - 1] - score))
    distribution = CanonicalTopK(k, rate, gamma=gamma, noise="exponential").distribution(
        Histogram(dict(enumerate(counts)))
    )
    for subset, loss in losses.items():
        others = [mpmath.exp(-other) for key, other in losses.items() if key != subset]
        area = mpmath.quad(lambda t, others=others: mpmath.fprod(1 - p * t for p in others), [0, 1])
        assert distribution[subset] == pytest.approx(float(mpmath.exp(-loss) * area), abs=1e-13)


def test_ties_at_the_cut_make_equal_sets() -> None:
    distribution = CanonicalTopK(2, 1).distribution(Histogram({"a": 4, "b": 2, "c": 2, "d": 2}))
    assert distribution[frozenset("ab")] == distribution[frozenset("ac")] == distribution[frozenset("ad")]
    assert distribution[frozenset("bc")] == distribution[frozenset("cd")] < distribution[frozenset("ab")]


def test_a_flat_histogram_is_a_uniform_set() -> None:
    distribution = CanonicalTopK(2, 5, noise="exponential").distribution(Histogram.from_arrays(range(5), [0] * 5))
    assert list(distribution.values()) == [pytest.approx(0.1, abs=1e-14)] * 10


def test_rounding_the_loss_changes_nothing_for_counts_and_something_for_scores() -> None:
    plain, rounded = CanonicalTopK(2, 1), CanonicalTopK(2, 1, rounded_loss=True)
    assert rounded.distribution(_EXAMPLE) == plain.distribution(_EXAMPLE)
    scores = Scores({"a": "2.5", "b": "1.2", "c": "0.9", "d": 0}, sensitivity=1)
    distribution = rounded.distribution(scores)
    # {a, c} misses 1.2 and reaches down to 0.9: a loss of 0.15, one user; {a, d} one user too, {b, d} two.
    assert distribution[frozenset("ac")] == distribution[frozenset("ad")]
    assert distribution[frozenset("ac")] / distribution[frozenset("ab")] == pytest.approx(math.exp(-0.5), abs=1e-12)
    assert distribution[frozenset("bd")] / distribution[frozenset("ab")] == pytest.approx(math.exp(-1.0), abs=1e-12)
    assert distribution != plain.distribution(scores)


def test_what_it_costs() -> None:
    gumbel, flip = CanonicalTopK(3, "0.3"), CanonicalTopK(3, "0.3", noise="exponential")
    assert gumbel.worst_case == (SetSelection("0.3"),)
    assert flip.worst_case == (PureMechanism("0.3"),)
    assert gumbel.guarantee.rho is not None
    assert gumbel.guarantee.rho < Fraction(9, 800)
    assert flip.guarantee.rho == Fraction(9, 200)
    assert gumbel.guarantee.epsilon(delta=0) == flip.guarantee.epsilon(delta=0) == Fraction(3, 10)


def test_a_release_is_a_set_with_its_receipt() -> None:
    release = CanonicalTopK(2, "0.5").release(_EXAMPLE, bits=ReplayableBits(1))
    assert isinstance(release.outcome, frozenset)
    assert len(release.outcome) == 2
    assert release.complete
    assert not release.ordered
    assert release.paid.events == (SetSelection("0.5"),)
    assert Release.from_json(release.to_json()) == release
    assert set(CanonicalTopK(2, "0.5").release(_EXAMPLE).outcome) < set("abcde")


def test_a_large_epsilon_finds_the_top_k() -> None:
    for noise in ("gumbel", "exponential"):
        for gamma in ("0.01", "0.5", 1):
            mechanism = CanonicalTopK(2, 2000, gamma=gamma, noise=noise)
            assert mechanism.release(_EXAMPLE).outcome == frozenset("ab")


def test_gamma_zero_does_not_look_at_the_worst_item() -> None:
    distribution = CanonicalTopK(2, 50, gamma=0).distribution(_EXAMPLE)
    assert distribution[frozenset("ab")] == distribution[frozenset("ac")] == distribution[frozenset("ae")]


def test_a_domain_of_which_nearly_everything_is_unseen() -> None:
    few = Histogram({3: 50, 7: 20, 10**11: 90}, domain_size=10**12)
    assert CanonicalTopK(3, 100).release(few).outcome == frozenset({3, 7, 10**11})
    release = CanonicalTopK(1000, 100).release(few)
    assert len(release.outcome) == 1000
    assert {3, 7, 10**11} <= set(release.outcome)
    assert all(isinstance(item, int) and 0 <= item < 10**12 for item in release.outcome)
    # Three seen items cannot stand out against 10^24 pairs at a small epsilon.
    assert not {3, 7, 10**11} & set(CanonicalTopK(2, "1/10").release(few).outcome)


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
@pytest.mark.parametrize("size", [2**62 - 1, 2**62 + 1, 10**30, 2**900])
def test_domains_beyond_every_machine_word(size: int, noise: Any) -> None:
    few = Histogram({3: 90, 7: 90}, domain_size=size)
    release = CanonicalTopK(4, 1000, noise=noise).release(few, bits=ReplayableBits(7))
    assert {3, 7} < set(release.outcome)
    assert all(isinstance(item, int) and 0 <= item < size for item in release.outcome)


def test_scores_beyond_every_float() -> None:
    scores = Scores({"a": 10**400, "b": 10**399, "c": Fraction(1, 10**300), "d": 0}, sensitivity=1)
    assert CanonicalTopK(2, 1).release(scores).outcome == frozenset("ab")
    close = Scores({"a": 2**70 + 1, "b": 2**70, "c": -(2**70)}, sensitivity="1e-20")
    assert CanonicalTopK(1, 1).release(close).outcome == frozenset("a")
    assert CanonicalTopK(2, "1e-1000").release(close).complete
    assert CanonicalTopK(2, "1e1000", rounded_loss=True).release(close).outcome == frozenset("ab")


def test_the_memory_of_a_release_does_not_grow_with_d_times_k() -> None:
    rng = np.random.default_rng(3)
    histogram = Histogram.from_arrays(range(17770), rng.zipf(1.3, 17770) % 100_000)
    mechanism = CanonicalTopK(1000, "0.05")
    mechanism.release(histogram)
    assert peak_extra_bytes(lambda: mechanism.release(histogram)) < 8 * 17770 * 1000 / 20


def test_error_texts() -> None:
    wrong: Any = CanonicalTopK
    assert refusal(lambda: wrong(0, 1)) == "k=0 is not valid. Allowed: an integer, 1 or more."
    assert refusal(lambda: wrong(2, 0)) == "epsilon=0 is not valid. Allowed: a number above 0."
    assert refusal(lambda: wrong(2, 1, gamma="1.5")) == "gamma='1.5' is not valid. Allowed: a number from 0 to 1."
    assert refusal(lambda: wrong(2, 1, gamma=-0.1)) == "gamma=-0.1 is not valid. Allowed: a number from 0 to 1."
    assert refusal(lambda: wrong(2, 1, noise="laplace")) == (
        "noise='laplace' is not valid. Allowed: 'gumbel' or 'exponential'."
    )
    assert refusal(lambda: wrong(2, 1, monotone=1)) == "monotone=1 is not valid. Allowed: True or False."
    assert refusal(lambda: wrong(2, 1, rounded_loss="no")) == "rounded_loss='no' is not valid. Allowed: True or False."
    assert refusal(lambda: wrong(2, 1, gamma=1, rounded_loss=True)) == (
        "rounded_loss=True is not valid. Allowed: False unless gamma=1/2. "
        "Only the loss of gamma=1/2 counts users, and rounding it keeps the guarantee."
    )


def test_error_texts_about_the_domain() -> None:
    check_refused_domains(CanonicalTopK, _EXAMPLE, 5, whole_domain(5))
    check_refused_sizes(CanonicalTopK)
    assert refusal(lambda: CanonicalTopK(1, 1).release(Histogram({}))).startswith(
        "k=1 is not valid. Allowed: less than 0"
    )


def test_broken_bits_release_nothing() -> None:
    for byte in (0, 255):
        with pytest.raises(EntropyFailure):
            CanonicalTopK(3, "0.1").release(Histogram({}, domain_size=10**6), bits=ConstantBits(byte))
        with pytest.raises(EntropyFailure):
            uniform_subset(2**70, 3, ConstantBits(byte))


def test_log_binomials_are_bounded_from_above_and_closely() -> None:
    pairs = [(m, n - m) for n in range(60) for m in range(n + 1)]
    pairs += [(1000, 16770), (999, 10**12), (1, 10**15), (10**6, 10**6), (500, 2**70)]
    below, above = (np.array(side, dtype=object) for side in zip(*pairs, strict=True))
    for bound in (log_binomial(below, above), envelope._log_binomial_by_balls(below, above)):
        for high, (m, rest) in zip(bound, pairs, strict=True):
            true = (
                mpmath.log(mpmath.mpf(math.comb(m + rest, m))) if m < 10**5 else mpmath.log(mpmath.binomial(2 * m, m))
            )
            assert 0.0 <= mpmath.mpf(high) - true + 1e-13 * true < LOOSENESS + 2.0**-38 * (1 + true)


def test_the_exact_coin_agrees_with_the_float_coin(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms = [CanonicalTopK(2, "0.5"), CanonicalTopK(2, "0.5", noise="exponential"), CanonicalTopK(3, 1, gamma=0)]
    fast = [m.release(_EXAMPLE, bits=ReplayableBits(seed)).outcome for m in mechanisms for seed in range(40)]
    monkeypatch.setattr(rejection, "float_stage_is_sound", lambda: False)
    slow = [m.release(_EXAMPLE, bits=ReplayableBits(seed)).outcome for m in mechanisms for seed in range(40)]
    assert fast == slow


def test_without_sound_floats_the_envelope_is_the_same_up_to_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    histogram = Histogram.from_arrays(range(60), [(7 * i * i) % 41 for i in range(60)])
    mechanism = CanonicalTopK(12, 1)
    ranking = Ranking(histogram.groups(), 12)
    fast = Envelope(ranking, mechanism._loss(histogram, ranking))
    monkeypatch.setattr(envelope, "float_stage_is_sound", lambda: False)
    slow = Envelope(ranking, mechanism._loss(histogram, ranking))
    assert [fast.ranges(i) for i in range(len(fast) - 1)] == [slow.ranges(i) for i in range(len(slow) - 1)]
    scale = math.exp(slow.top - fast.top)
    assert np.allclose(slow.weights * scale, fast.weights, rtol=2 * LOOSENESS, atol=4.0)


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
@pytest.mark.parametrize("gamma", ["1/4", "1/2", "1"])
def test_a_set_loses_more_than_the_bound_as_rarely_as_stated(noise: Any, gamma: str) -> None:
    """Shekelyan & Loukides 2022, Theorem 5.6, by the exact distribution; a quarter of the bound would be too little."""
    mechanism, k = CanonicalTopK(2, 1, gamma=gamma, noise=noise), 2
    exceeded = 0
    for counts in ((9, 7, 6, 3, 1), (8, 8, 0, 0, 0), (5, 5, 5, 5, 5), (20, 12, 9, 4, 0), (6, 4, 3, 3, 3)):
        scores = dict(zip("abcde", counts, strict=True))
        law, kth = mechanism.distribution(Histogram(scores)), sorted(counts, reverse=True)[k - 1]
        for failure in (0.5, 0.1, 0.01):
            bound = mechanism.loss_bound(5, failure)
            missed = [kth - min(scores[str(item)] for item in chosen) for chosen in law]
            beyond = sum(p for p, lost in zip(law.values(), missed, strict=True) if lost >= bound)
            assert beyond <= failure
            exceeded += sum(p for p, lost in zip(law.values(), missed, strict=True) if lost >= bound / 4) > failure
    assert exceeded > 0


def test_the_bound_is_below_that_of_the_paper_and_needs_a_gamma() -> None:
    for size, k, alpha in ((10, 3, 0.05), (1000, 10, 0.01), (100_000, 100, 0.1)):
        mine = float(CanonicalTopK(k, 1, gamma=1).loss_bound(size, alpha))
        assert mine <= 2 * (k * math.log(size / k) + math.log(1 / alpha) + k)
        assert mine == pytest.approx(math.log(math.comb(size, k) - 1) - math.log(alpha), abs=1e-5)
    both = CanonicalTopK(2, 1, gamma=1, monotone=False)
    assert both.loss_bound(9, "0.1") == both.loss_bound(9, "0.1", span=2) > both.loss_bound(9, "0.1", span=1)
    for mechanism, size in ((CanonicalTopK(2, 1, gamma=0), 9), (both, 2)):
        with pytest.raises(InvalidArgument):
            mechanism.loss_bound(size, "0.1")

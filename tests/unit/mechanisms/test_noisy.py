"""NoisyTopK and PermuteAndFlip: numbers of the formulas, which noise releases what, receipts, error texts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from tests.support.refusals import UNKNOWN_DOMAIN, refusal, too_many

from podium.histogram import Histogram, Scores
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.privacy.events import PureMechanism, Selection
from podium.randomness import NOISES, NoiseName
from podium.randomness.replay import ReplayableBits
from podium.release import Release

H = Histogram({0: 3, 1: 2, 2: 2, 3: 0})
ALL: tuple[NoiseName, ...] = tuple(NOISES)


def test_permute_and_flip_has_the_value_of_the_formulas() -> None:
    distribution = PermuteAndFlip("0.5").distribution(H)
    assert distribution[(0,)] == pytest.approx(0.474233013105400, abs=5e-16)
    assert distribution[(1,)] == distribution[(2,)]
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)


def test_permute_and_flip_is_the_race_with_exponential_noise() -> None:
    """Two derivations of one distribution: the polynomial of the flips, and piecewise exponentials of the race."""
    for counts in itertools.combinations_with_replacement(range(4), 4):
        h = Histogram(dict(enumerate(counts)))
        flips = PermuteAndFlip("0.7").distribution(h)
        race = NoisyTopK(1, "0.7", noise="exponential").distribution(h)
        assert all(flips[outcome] == pytest.approx(race[outcome], rel=1e-13, abs=0) for outcome in race)


def test_laplace_has_the_value_of_the_formulas() -> None:
    distribution = NoisyTopK(1, "0.5", noise="laplace").distribution(Histogram({0: 3, 1: 1, 2: 0}))
    assert distribution[(0,)] == pytest.approx(0.639215162648624, abs=5e-16)


def test_gumbel_is_peeling_at_epsilon_over_k() -> None:
    assert NoisyTopK(2, 1, noise="gumbel").distribution(H) == ExponentialTopK(2, "0.5").distribution(H)


@pytest.mark.parametrize("noise", ALL)
def test_the_span_divides_epsilon_once(noise: NoiseName) -> None:
    """Shekelyan & Loukides' Algorithm 2 divides twice, which at sensitivity 1/2 doubles the loss."""
    base = NoisyTopK(2, "0.5", noise=noise).distribution(H)
    assert NoisyTopK(2, 1, noise=noise, monotone=False).distribution(H) == base
    halves = Scores({0: 3, 1: 2, 2: 2, 3: 0}, sensitivity="1/2")
    assert NoisyTopK(2, "0.5", noise=noise).distribution(halves) == base
    tenths = Scores({0: "0.3", 1: "0.2", 2: "0.2", 3: 0}, sensitivity="0.1")
    assert NoisyTopK(2, 1, noise=noise).distribution(tenths) == base


def test_what_each_noise_releases() -> None:
    for noise in ALL:
        mechanism = NoisyTopK(3, 1, noise=noise)
        release = mechanism.release(H, bits=ReplayableBits(1))
        assert release.ordered is mechanism.ordered is (noise not in {"logistic", "half-logistic"})
        assert mechanism.gaps is (noise in {"exponential", "laplace"})
        assert (release.values is not None) is mechanism.gaps
        assert release.value_kind == ("gaps" if mechanism.gaps else None)
        assert len(release.items) == 3
        assert Release.from_json(release.to_json()) == release
        assert set(map(type, mechanism.distribution(H))) == {tuple if release.ordered else frozenset}
        assert isinstance(release.outcome, tuple if release.ordered else frozenset)


def test_gaps_can_be_withheld() -> None:
    mechanism = NoisyTopK(2, 1, gaps=False)
    assert mechanism.release(H, bits=ReplayableBits(1)).values is None
    assert mechanism.distribution(H) == NoisyTopK(2, 1).distribution(H)


def test_receipts() -> None:
    for noise in ALL:
        mechanism = NoisyTopK(2, "0.2", noise=noise)
        release = mechanism.release(H, bits=ReplayableBits(1))
        expected = (Selection("0.1"),) * 2 if noise == "gumbel" else (PureMechanism("0.2"),)
        assert release.paid.events == mechanism.worst_case == expected
        assert mechanism.guarantee.epsilon() == Fraction(1, 5)
    assert NoisyTopK(2, "0.2", noise="gumbel").guarantee.rho == 2 * Selection("0.1").rho
    assert NoisyTopK(2, "0.2", noise="laplace").guarantee.rho == Fraction(1, 50)
    flip = PermuteAndFlip("0.2")
    assert flip.release(H, bits=ReplayableBits(1)).paid.events == (PureMechanism("0.2"),)
    assert flip.guarantee.rho == Fraction(1, 50), "not of bounded range"


def test_gaps_are_in_counts_and_on_the_grid() -> None:
    far = Histogram({"a": 10**9, "b": 10**6, "c": 0})
    for noise in ("exponential", "laplace"):
        release = NoisyTopK(2, 1, noise=noise).release(far, bits=ReplayableBits(2))
        assert release.outcome == ("a", "b")
        assert release.values is not None
        assert all((gap * 2**20).denominator == 1 for gap in release.values)
        assert abs(release.values[0] - (10**9 - 10**6)) < 200
        assert abs(release.values[1] - 10**6) < 200


def test_with_exactly_k_items_there_is_no_last_gap() -> None:
    two = Histogram({"a": 3, "b": 1})
    mechanism = NoisyTopK(2, 1)
    release = mechanism.release(two, bits=ReplayableBits(1))
    assert release.values is not None
    assert len(release.values) == 1
    assert mechanism.density(two, ("a", "b"), (1,)) > 0
    assert NoisyTopK(1, 1).release(Histogram({"a": 3}), bits=ReplayableBits(1)).values == ()
    assert NoisyTopK(1, 1).density(Histogram({"a": 3}), ("a",), ()) == 1.0


def test_two_items_with_laplace_noise_by_hand() -> None:
    """Difference of two standard Laplace draws: density (1 + |x|) e^-|x| / 4; in counts times the rate."""
    mechanism = NoisyTopK(1, "0.5", noise="laplace")
    two = Histogram({"a": 3, "b": 1})
    for gap in (Fraction(0), Fraction(1), Fraction(2), Fraction(7)):
        x = abs(float(gap) - 2) / 2
        assert mechanism.density(two, ("a",), (gap,)) == pytest.approx(0.5 * (1 + x) * math.exp(-x) / 4, rel=1e-13)
        y = abs(float(gap) + 2) / 2
        assert mechanism.density(two, ("b",), (gap,)) == pytest.approx(0.5 * (1 + y) * math.exp(-y) / 4, rel=1e-13)
    assert mechanism.density(two, ("a",), (Fraction(-1, 2),)) == 0.0


def test_a_huge_domain_is_no_trouble() -> None:
    huge = Histogram({7: 5000, 9: 3000}, domain_size=10**30)
    for noise in ALL:
        release = NoisyTopK(2, 1, noise=noise).release(huge, bits=ReplayableBits(4))
        assert set(release.outcome) == {7, 9}
    assert PermuteAndFlip(1).release(huge, bits=ReplayableBits(4)).outcome == (7,)
    (nobody,) = PermuteAndFlip(1).release(Histogram({}, domain_size=10**30), bits=ReplayableBits(4)).items
    assert isinstance(nobody, int)
    assert 0 <= nobody < 10**30


TOO_MANY = too_many(5, 4)
ERRORS: list[tuple[Callable[[], object], str]] = [
    (lambda: NoisyTopK(0, 1), "k=0 is not valid. Allowed: an integer, 1 or more."),
    (lambda: NoisyTopK(1, 0), "epsilon=0 is not valid. Allowed: a number above 0."),
    (
        lambda: NoisyTopK(1, 1, noise="gauss"),  # type: ignore[arg-type]
        "noise='gauss' is not valid. Allowed: one of exponential, laplace, gumbel, logistic, half-logistic.",
    ),
    (
        lambda: NoisyTopK(3, 1, noise="gumbel", gaps=True),
        (
            "gaps=True is not valid. Allowed: False or None with noise='gumbel'; gaps come with 'exponential' or "
            "'laplace' noise. For one item with Gumbel noise and its gap, use ExponentialWithGap."
        ),
    ),
    (lambda: NoisyTopK(3, 1, gaps=1), "gaps=1 is not valid. Allowed: True or False."),  # type: ignore[arg-type]
    (lambda: NoisyTopK(3, 1, monotone="no"), "monotone='no' is not valid. Allowed: True or False."),  # type: ignore[arg-type]
    (lambda: NoisyTopK(5, 1).release(H), TOO_MANY),
    (lambda: NoisyTopK(5, 1).distribution(H), TOO_MANY),
    (lambda: NoisyTopK(5, 1).density(H, (0,), ()), TOO_MANY),
    (
        lambda: NoisyTopK(2, 1).release(Histogram({"a": 1, "b": 2}, known=False)),
        UNKNOWN_DOMAIN,
    ),
    (
        lambda: NoisyTopK(2, 1, gaps=False).density(H, (0, 1), (1, 1)),
        "gaps=False is not valid. Allowed: True: only gaps have a density. Use distribution().",
    ),
    (
        lambda: NoisyTopK(2, 1).density(H, (0, 0), (1, 1)),
        "outcome=(0, 0) is not valid. Allowed: a tuple of k=2 different items of the domain.",
    ),
    (
        lambda: NoisyTopK(2, 1).density(H, (0, 9), (1, 1)),
        "outcome=(0, 9) is not valid. Allowed: a tuple of k=2 different items of the domain.",
    ),
    (
        lambda: NoisyTopK(2, 1).density(H, (0, 1), (1,)),
        "values=(1,) is not valid. Allowed: 2 gaps, in the order of the outcome.",
    ),
    (lambda: PermuteAndFlip(0), "epsilon=0 is not valid. Allowed: a number above 0."),
    (
        lambda: PermuteAndFlip(1).release(Histogram({})),
        too_many(1, 0),
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=range(len(ERRORS)))
def test_error_texts(call: Callable[[], object], text: str) -> None:
    assert refusal(call) == text

"""The hybrids: their public numbers, their errors, and their distribution against a second derivation."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from tests.support.refusals import UNKNOWN_DOMAIN, refusal

from podium.errors import InvalidArgument
from podium.histogram import Histogram, Scores
from podium.mechanisms.sparse_vector.hybrid import HybridScales, HybridTopK, Priority
from podium.privacy.events import PureMechanism
from podium.randomness import race
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM, Release

HISTOGRAM = Histogram({"a": 3, "b": 1, "c": 4, "d": 2})
BOTH: tuple[Priority, ...] = ("identities", "estimates")


def test_scales() -> None:
    identities, estimates = HybridTopK(5, 4, 2), HybridTopK(5, 4, 2, first="estimates", theta="0.2")
    assert identities.theta is None
    assert identities.scales() == HybridScales(Fraction(2), Fraction(2), Fraction(0))
    assert estimates.scales() == HybridScales(Fraction(5, 2), Fraction(5, 2), Fraction(0))
    general = HybridTopK(5, 4, 2, first="estimates", theta="0.2", monotone=False)
    assert general.scales() == HybridScales(Fraction(5), Fraction(5, 2), Fraction(5, 2))
    assert estimates.scales(rises_by=2, falls_by=1) == HybridScales(Fraction(15, 2), Fraction(5), Fraction(5, 2))
    assert identities.scales(rises_by=2, falls_by=1) == HybridScales(Fraction(6), Fraction(6), Fraction(0))


def test_costs() -> None:
    identities, estimates = HybridTopK(5, 4, 2), HybridTopK(5, 4, 2, first="estimates", theta="0.2")
    assert identities.cost(("a", "b", BOTTOM)) == Fraction(3, 2)
    assert identities.cost((BOTTOM,)) == Fraction(1, 2)
    assert identities.cost(("a", "b", "c", "d")) == 2
    assert estimates.cost((BOTTOM,)) == Fraction(2, 5)
    assert estimates.cost(("a", "b", BOTTOM)) == Fraction(6, 5)
    assert estimates.cost(("a", "b", "c", "d")) == 2
    assert identities.worst_case == estimates.worst_case == (PureMechanism(2),)


@pytest.mark.parametrize("first", BOTH)
def test_clear_cases(first: Priority) -> None:
    mechanism = HybridTopK(500, 3, 1, first=first)
    clear = mechanism.release(Histogram({"a": 10**6, "b": 10**5, "c": 0}), bits=ReplayableBits(1))
    assert clear.outcome == ("a", "b", BOTTOM)
    assert not clear.complete
    assert clear.paid.events == (PureMechanism(mechanism.cost(clear.outcome), reserved=1),)
    assert clear.values is not None
    expected = (900_000, 99_500) if first == "identities" else (999_500, 99_500)
    assert all(abs(value - true) < 300 for value, true in zip(clear.values, expected, strict=True))
    full = mechanism.release(Histogram(dict.fromkeys("abcd", 10**6)), bits=ReplayableBits(1))
    assert full.complete
    assert full.paid.epsilon == 1
    assert len(full.values or ()) == 3
    assert mechanism.release(Histogram({})).outcome == (BOTTOM,)
    assert mechanism.distribution(Histogram({})) == {(BOTTOM,): 1.0}
    assert Release.from_json(clear.to_json()) == clear


def test_gaps_to_the_threshold_decrease_and_reach_beyond_the_runner_up() -> None:
    mechanism = HybridTopK(0, 3, 30, first="estimates")
    release = mechanism.release(Histogram(dict.fromkeys("abcdefgh", 1000)), bits=ReplayableBits(1))
    assert release.values is not None
    assert list(release.values) == sorted(release.values, reverse=True)
    assert all(990 < value < 1010 for value in release.values)


def test_a_huge_domain_takes_no_time() -> None:
    histogram = Histogram({3: 1000, 7: 900}, domain_size=10**15)
    for first in BOTH:
        release = HybridTopK(400, 2, 2, first=first).release(histogram, bits=ReplayableBits(1))
        assert release.outcome == (3, 7)


@pytest.mark.parametrize("first", BOTH)
def test_distribution_against_numerical_integration(first: Priority) -> None:
    """A second derivation: the noises' order by quadrature over the last one named."""
    mechanism = HybridTopK("1.5", 2, 3, first=first)
    scales = mechanism.scales()
    places = {"a": 3.0, "b": 1.0, "c": 2.0, BOTTOM: 1.5 + float(scales.lift)}
    widths = {name: float(scales.threshold if name is BOTTOM else scales.query) for name in places}

    def density(name: Any, x: float) -> float:
        z = (x - places[name]) / widths[name]
        return float(np.exp(-z)) / widths[name] if z >= 0 else 0.0

    def below(name: Any, x: float) -> float:
        return float(-np.expm1(-max(x - places[name], 0.0) / widths[name]))

    distribution = mechanism.distribution(Histogram({"a": 3, "b": 1, "c": 2}))
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-13)
    cuts = sorted({*places.values(), *np.linspace(0, 60, 40).tolist()})
    for outcome, expected in distribution.items():
        *ahead, last = outcome
        rest = [name for name in places if name not in outcome]

        def integrand(x: float, ahead: Any = ahead, last: Any = last, rest: Any = rest) -> float:
            chance = density(last, x)
            for name in ahead:
                chance *= 1 - below(name, x)
            for name in rest:
                chance *= below(name, x)
            return chance

        total = sum(integrate.quad(integrand, a, b)[0] for a, b in itertools.pairwise(cuts))
        assert total == pytest.approx(expected, rel=1e-7)


def test_gaps_can_be_measured_to_one_group() -> None:
    for seed in range(30):
        chained = race(
            [9, 5, 0], k=3, noise="exponential", handicaps={2: Fraction(1, 3)}, gap_bits=30, bits=ReplayableBits(seed)
        )
        level = race(
            [9, 5, 0],
            k=3,
            noise="exponential",
            handicaps={2: Fraction(1, 3)},
            gap_bits=30,
            gaps_to=2,
            bits=ReplayableBits(seed),
        )
        assert level.groups == chained.groups
        stop = level.groups.index(2)
        assert len(level.gaps) == stop
        for place, gap in enumerate(level.gaps):
            assert 0 <= gap - sum(chained.gaps[place:stop]) <= Fraction(stop, 1 << 30)
    with pytest.raises(InvalidArgument) as caught:
        race([1, 2], k=1, gap_bits=3, gaps_to=0)
    assert str(caught.value) == "gaps_to=0 is not valid. Allowed: a position named in handicaps or scales."


def test_density_outside_its_support() -> None:
    identities, estimates = HybridTopK(1, 2, 1), HybridTopK(1, 2, 1, first="estimates")
    assert identities.density(HISTOGRAM, ("a", BOTTOM), [-1]) == 0.0
    assert estimates.density(HISTOGRAM, ("a", "b"), [1, 2]) == 0.0
    assert estimates.density(HISTOGRAM, (BOTTOM,), []) == pytest.approx(estimates.distribution(HISTOGRAM)[BOTTOM,])
    exact = identities.density(HISTOGRAM, ("a", "c"), [1, "0.5"], exact=True)
    assert float(exact.mid()) == identities.density(HISTOGRAM, ("a", "c"), [1, 0.5], exact=False)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
    ({"epsilon": 0}, "epsilon=0 is not valid. Allowed: a number above 0."),
    ({"first": "gaps"}, "first='gaps' is not valid. Allowed: 'identities' or 'estimates'."),
    ({"first": "estimates", "theta": 0}, "theta=0 is not valid. Allowed: a number with 0 < value < 1."),
    (
        {"theta": "0.5"},
        (
            "theta='0.5' is not valid. Allowed: None where first='identities'. "
            "The threshold then has the same noise as the items."
        ),
    ),
    ({"monotone": None}, "monotone=None is not valid. Allowed: True or False."),
    ({"threshold": "1e30"}, "threshold='1e30' is not valid. Allowed: a number from -2^62 to 2^62."),
]


@pytest.mark.parametrize(("change", "text"), BAD, ids=[str(change) for change, _ in BAD])
def test_bad_parameters(change: dict[str, Any], text: str) -> None:
    assert refusal(lambda: HybridTopK(**{"threshold": 5, "k": 2, "epsilon": 1, **change})) == text


def test_bad_data() -> None:
    mechanism = HybridTopK(5, 2, 1)
    ending = "Allowed: fewer than k items and BOTTOM at the end, or k items."
    cases: list[tuple[Any, str]] = [
        (
            lambda: mechanism.release(Histogram({"a": 1}, known=False)),
            UNKNOWN_DOMAIN,
        ),
        (
            lambda: mechanism.density(HISTOGRAM, ("a", BOTTOM), []),
            "values=[] is not valid. Allowed: one gap for each of 1 items.",
        ),
        (lambda: mechanism.density(HISTOGRAM, ("a",), [1]), f"outcome=('a',) is not valid. {ending}"),
        (
            lambda: mechanism.density(HISTOGRAM, (BOTTOM, "a"), [1]),
            f"outcome=(BOTTOM, 'a') is not valid. {ending}",
        ),
        (
            lambda: mechanism.scales(rises_by=0, falls_by=0),
            "rises_by=0 is not valid. Allowed: 0 or more, and more than 0 together with falls_by.",
        ),
        (
            lambda: mechanism.distribution(Histogram({}, domain_size=10**6)),
            (
                "histogram='a domain of 1000000 items' is not valid. Allowed: a domain on which at most 100000 "
                "outcomes are possible. An exact distribution lists every outcome; release() has no such limit."
            ),
        ),
    ]
    for act, text in cases:
        with pytest.raises(InvalidArgument) as caught:
            act()
        assert str(caught.value) == text


def test_scores_are_accepted() -> None:
    scores = Scores({"a": "1000.5", "b": "-3.25"}, sensitivity="0.5")
    for first in BOTH:
        assert HybridTopK(100, 2, 1, first=first).release(scores, bits=ReplayableBits(1)).outcome == ("a", BOTTOM)

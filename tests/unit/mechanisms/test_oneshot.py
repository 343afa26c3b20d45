"""OneshotLaplace: numbers of the formulas, its two scales, the paid step of measuring, error texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from tests.support.refusals import UNKNOWN_DOMAIN, refusal, too_many

from podium.histogram import Histogram, Scores
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.oneshot import OneshotLaplace
from podium.privacy.events import ApproximateMechanism, LaplaceNoise, PureMechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Release

H = Histogram({0: 3, 1: 1, 2: 0})


def test_the_distribution_has_the_value_of_the_formulas() -> None:
    mechanism = OneshotLaplace(1, "0.5")
    assert mechanism.scale(H) == 2
    assert mechanism.distribution(H)[frozenset({0})] == pytest.approx(0.639215162648624, abs=5e-16)


def test_the_set_is_that_of_noisy_top_k() -> None:
    ordered = NoisyTopK(2, 1, noise="laplace").distribution(H)
    for chosen, probability in OneshotLaplace(2, 1).distribution(H).items():
        total = sum(p for order, p in ordered.items() if set(order) == set(chosen))
        assert probability == pytest.approx(total, rel=1e-13)


def test_pure_scales() -> None:
    assert OneshotLaplace(3, "0.5").scale(H) == 6
    assert OneshotLaplace(3, "0.5", monotone=False).scale(H) == 12
    assert OneshotLaplace(2, "0.5").scale(Scores({0: 1, 1: 0}, sensitivity="0.1")) == Fraction(4, 5)
    assert OneshotLaplace(2, "0.5").scale(Scores({0: 1, 1: 0}, rises_by=1, falls_by=0)) == 4


def test_approximate_scale() -> None:
    for data, s in ((H, 1), (Scores({0: 1, 1: 0, 2: 5}, sensitivity="0.25"), Fraction(1, 4))):
        mechanism = OneshotLaplace(2, "0.2", delta="1e-6", monotone=False)
        scale = mechanism.scale(data)
        ideal = 8 * float(s) * math.sqrt(2 * math.log(3 / 1e-6)) / 0.2
        assert float(scale) == pytest.approx(ideal, rel=1e-15)
        with_less = (scale / s - Fraction(1, 2**64)) * s
        assert with_less < scale
        assert (scale / s * 2**64).denominator == 1, "a public dyadic multiple of the sensitivity"
    huge = OneshotLaplace(2, "0.1", delta="0.05").scale(Histogram({}, domain_size=10**40))
    assert float(huge) == pytest.approx(80 * math.sqrt(2 * math.log(20 * 10.0**40)), rel=1e-14)


def test_when_the_approximate_scale_is_smaller() -> None:
    """Only for k > 64 ln(m/delta) against counts, 16 ln(m/delta) where counts move both ways."""
    domain = Histogram({}, domain_size=10**6)
    bound = math.log(10**6 / 0.05)
    for monotone, factor in ((True, 64), (False, 16)):
        for k, smaller in ((int(factor * bound) - 1, False), (int(factor * bound) + 2, True)):
            approximate = OneshotLaplace(k, "0.2", delta="0.05", monotone=monotone).scale(domain)
            assert (approximate < OneshotLaplace(k, "0.2", monotone=monotone).scale(domain)) is smaller


def test_receipts() -> None:
    pure = OneshotLaplace(2, "0.2")
    assert pure.release(H, bits=ReplayableBits(1)).paid.events == pure.worst_case == (PureMechanism("0.2"),)
    approximate = OneshotLaplace(2, "0.2", delta="0.01")
    paid = approximate.release(H, bits=ReplayableBits(1)).paid
    assert paid.events == approximate.worst_case == (ApproximateMechanism("0.2", "0.01"),)
    assert (paid.epsilon, paid.rho, paid.delta) == (Fraction(1, 5), Fraction(1, 50), Fraction(1, 100))


def test_only_a_set_comes_out() -> None:
    release = OneshotLaplace(2, 1).release(H, bits=ReplayableBits(1))
    assert isinstance(release.outcome, frozenset)
    assert not release.ordered
    assert release.values is None
    assert Release.from_json(release.to_json()) == release


def test_measuring_is_a_step_that_costs() -> None:
    """k s/lambda more: as much again for counts, half of it where the scale was that of counts moving both ways."""
    for monotone, more in ((True, Fraction(1)), (False, Fraction(1, 2))):
        mechanism = OneshotLaplace(2, 1, monotone=monotone)
        release = mechanism.release(H, bits=ReplayableBits(1))
        measured = mechanism.measure(release, H, bits=ReplayableBits(2))
        assert measured.outcome == release.outcome
        assert measured.paid.events == (LaplaceNoise(more / 2),) * 2 == mechanism.measurement_events(H)
        assert measured.paid.epsilon == measured.guarantee.epsilon() == more
        assert measured.value_kind == "counts"
        assert measured.values is not None
        assert all((value * 2**20).denominator == 1 for value in measured.values)
        assert Release.from_json(measured.to_json()) == measured
    scores = Scores({0: 1, 1: 0, 2: 5}, rises_by=3, falls_by=1)
    assert sum(event.epsilon or 0 for event in OneshotLaplace(2, 1).measurement_events(scores)) == 2 * 3 / Fraction(8)


def test_measured_values_are_near_the_counts_in_the_order_of_the_items() -> None:
    far = Histogram({"b": 10**6, "a": 10**9, "c": 0}, domain=["c", "b", "a"])
    mechanism = OneshotLaplace(2, 1)
    measured = mechanism.measure(mechanism.release(far, bits=ReplayableBits(1)), far, bits=ReplayableBits(2))
    assert measured.items == ("a", "b")
    assert measured.values is not None
    assert abs(measured.values[0] - 10**9) < 200
    assert abs(measured.values[1] - 10**6) < 200
    huge = Histogram({5: 700}, domain_size=10**30)
    mechanism = OneshotLaplace(1, 100)
    measured = mechanism.measure(mechanism.release(huge, bits=ReplayableBits(1)), huge, bits=ReplayableBits(2))
    assert measured.items == (5,)
    assert measured.values is not None
    assert abs(measured.values[0] - 700) < 1


def test_the_density_is_that_of_both_steps() -> None:
    mechanism = OneshotLaplace(1, "0.5")
    for value in (Fraction(3), Fraction(7, 2), Fraction(-4)):
        expected = 0.639215162648624 * math.exp(-abs(float(value) - 3) / 2) / 4
        assert mechanism.density(H, frozenset({0}), (value,)) == pytest.approx(expected, rel=1e-13)
    assert mechanism.density(H, frozenset({0}), (3,), exact=True).rel_accuracy_bits() > 40


def test_a_domain_of_k_items_is_the_only_outcome() -> None:
    assert OneshotLaplace(3, 1).distribution(H) == {frozenset({0, 1, 2}): 1.0}
    assert OneshotLaplace(1, 1).distribution(Histogram({"x": 2})) == {frozenset({"x"}): 1.0}


BEYOND = "The theorem for delta > 0 says nothing beyond that; delta=0 has no such condition."
TOO_MANY = too_many(4, 3)
ERRORS: list[tuple[Callable[[], object], str]] = [
    (lambda: OneshotLaplace(0, 1), "k=0 is not valid. Allowed: an integer, 1 or more."),
    (lambda: OneshotLaplace(1, 0), "epsilon=0 is not valid. Allowed: a number above 0."),
    (lambda: OneshotLaplace(1, 1, delta=1), "delta=1 is not valid. Allowed: a number with 0 <= value < 1."),
    (lambda: OneshotLaplace(1, 1, delta=-1), "delta=-1 is not valid. Allowed: a number with 0 <= value < 1."),
    (
        lambda: OneshotLaplace(1, "0.21", delta="0.01"),
        f"epsilon='0.21' is not valid. Allowed: a number with 0 < value <= 0.2 where delta > 0. {BEYOND}",
    ),
    (
        lambda: OneshotLaplace(1, "0.2", delta="0.051"),
        f"delta='0.051' is not valid. Allowed: a number with 0 <= value <= 0.05. {BEYOND}",
    ),
    (
        lambda: OneshotLaplace(1, "0.2", delta="0.05").release(Histogram({"only": 4})),
        (
            "histogram='a domain of 1 items' is not valid. Allowed: a domain of at least 2 items where delta > 0. "
            "With delta=0 there is no such condition."
        ),
    ),
    (lambda: OneshotLaplace(4, 1).release(H), TOO_MANY),
    (lambda: OneshotLaplace(4, 1).distribution(H), TOO_MANY),
    (
        lambda: OneshotLaplace(1, 1).release(Histogram({"a": 1}, known=False)),
        UNKNOWN_DOMAIN,
    ),
    (
        lambda: OneshotLaplace(1, 1).measure(OneshotLaplace(2, 1).release(H), H),
        "release='a release of OneshotLaplace' is not valid. Allowed: a set of k=1 items that release() chose.",
    ),
    (
        lambda: OneshotLaplace(1, 1).measure(ExponentialTopK(1, 1).release(H), H),
        "release='a release of ExponentialTopK' is not valid. Allowed: a set of k=1 items that release() chose.",
    ),
    (
        lambda: OneshotLaplace(2, 1).density(H, frozenset({0}), (1,)),
        "outcome=frozenset({0}) is not valid. Allowed: a frozenset of k=2 items, with 2 values.",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=range(len(ERRORS)))
def test_error_texts(call: Callable[[], object], text: str) -> None:
    assert refusal(call) == text

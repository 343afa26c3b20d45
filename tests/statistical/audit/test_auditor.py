"""Power and false alarms of the auditor, on samplers whose truth is known; and on what we ship."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.support.audit_cases import ALPHA, NUMBERS, OTHERS, SOUND, false_alarm

from podium.audit import audit_mechanism, numeric_audit, statistical_audit
from podium.audit.statistical.draws import MechanismSampler
from podium.audit.targets.shipped import EXAMPLES, Sessions, pairs_for
from podium.mechanisms import PayWhatYouGet
from podium.privacy import Guarantee
from podium.randomness.replay import ReplayableBits

COUNT = [(0.0, 1.0)]


def laplace(scale: float, seed: int) -> Callable[[float, int], Any]:
    generator = np.random.default_rng(seed)
    return lambda count, size: count + generator.laplace(scale=scale, size=size)


@pytest.mark.parametrize("seed", range(5))
def test_laplace_noise_at_seven_tenths_of_its_scale_is_caught(seed: int) -> None:
    """In a fraction of a second; the stated limit is two minutes on two cores."""
    report = statistical_audit(laplace(0.7, seed), 1, pairs=COUNT, batch=True, samples=200_000, alpha=ALPHA)
    assert report.violated
    assert report.seconds < 60
    assert 1 < report.epsilon < 1 / 0.7


def test_laplace_noise_at_its_scale_is_not() -> None:
    report = statistical_audit(laplace(1.0, 11), 1, pairs=COUNT, batch=True, samples=400_000, alpha=ALPHA)
    assert not report.violated
    assert 0.85 < report.epsilon < 1


def test_a_plain_function_drawn_one_by_one_is_caught_too() -> None:
    generator = np.random.default_rng(4)

    def sampler(counts: dict[str, int]) -> str:
        return max(counts, key=lambda item: counts[item] + generator.exponential(0.5))

    report = statistical_audit(sampler, 1, samples=60_000, alpha=ALPHA)
    assert report.violated


def response(epsilon: float, delta: float, seed: int) -> Callable[[int, int], Any]:
    """The worst (epsilon, delta) mechanism: with probability delta the truth, else randomised response."""
    generator = np.random.default_rng(seed)
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))

    def sampler(bit: int, size: int) -> Any:
        lied = np.where(generator.random(size) < honest, bit, 1 - bit)
        return np.where(generator.random(size) < delta, 2 + bit, lied).astype(str)

    return sampler


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_false_alarms_are_at_most_alpha_where_a_claim_is_met_with_equality(delta: float) -> None:
    """At alpha = 1/5, so that there is something to count: fewer than a fifth of the runs may be wrong."""
    claim = Guarantee.approximate("0.5", str(delta)) if delta else Guarantee.pure("0.5")
    runs, alarms = 60, 0
    for seed in range(runs):
        report = statistical_audit(
            response(0.5, delta, seed), claim, pairs=[(0, 1)], batch=True, samples=8_000, alpha=Fraction(1, 5)
        )
        alarms += report.violated
        assert report.spent <= report.alpha
    assert stats.binom.sf(alarms - 1, runs, 0.2) > 1e-6


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_claim_that_is_missed_a_little_is_refuted_with_enough_draws(delta: float) -> None:
    claim = Guarantee.approximate("0.4", str(delta)) if delta else Guarantee.pure("0.4")
    report = statistical_audit(response(0.5, delta, 1), claim, pairs=[(0, 1)], batch=True, samples=400_000, alpha=ALPHA)
    assert report.violated
    assert report.epsilon_at(delta) < 0.5


def test_a_bound_holds_at_every_delta_together() -> None:
    report = statistical_audit(response(0.5, 0.05, 3), "0.1", pairs=[(0, 1)], batch=True, samples=100_000)
    assert report.violated
    for delta in (0.0, 0.01, 0.05, 0.1):
        truth = math.inf if delta < 0.05 else math.log(math.exp(0.5) - (delta - 0.05) / 0.95 * (1 + math.exp(0.5)))
        assert report.epsilon_at(delta) <= truth


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_shipped_mechanism_passes(name: str) -> None:
    mechanism, bits = EXAMPLES[name], ReplayableBits(len(name))
    sessions = isinstance(mechanism, PayWhatYouGet)
    sampler = Sessions(mechanism, bits) if sessions else MechanismSampler(mechanism, bits)
    audit = audit_mechanism(mechanism, samples=1_300, alpha=ALPHA, name=name, sampler=sampler)
    assert not audit.violated, audit.to_markdown()
    assert audit.false_alarm <= float(ALPHA)
    assert (audit.exact is None) == (audit.distribution is None) == (not hasattr(mechanism, "distribution"))
    assert audit.to_markdown().startswith(f"## Audit of {name}: no violation found")


@pytest.mark.parametrize("name", NUMBERS)
def test_our_numbers_have_no_telling_bits(name: str) -> None:
    mechanism = EXAMPLES[name]
    sampler = MechanismSampler(mechanism, ReplayableBits(7))
    pairs = pairs_for(mechanism)[2:4]
    report = numeric_audit(sampler, mechanism.guarantee, pairs=pairs, samples=1_200, alpha=ALPHA)
    assert not report.violated, str(report)
    assert any(" in [" in test.event or " = " in test.event for test in report.tests), "no number was looked at"


def test_the_false_alarm_probability_of_all_sound_cases_together() -> None:
    assert len(SOUND) >= 30
    assert len(OTHERS) == 9
    assert false_alarm() < Fraction(1, 10**6)

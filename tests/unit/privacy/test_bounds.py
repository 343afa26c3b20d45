"""best_bound: the smallest sound theorem, and refusals with a reason."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from podium.errors import InvalidArgument
from podium.privacy import (
    ApproximateMechanism,
    BottomEvent,
    Event,
    GaussianNoise,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
    Theorem,
    adaptive_optimum,
    best_bound,
    optimal_pure,
    split_delta,
    zcdp_epsilon,
)

DELTA = "1e-6"


def refusals(events: list[Event], delta: str = DELTA, *, fixed_in_advance: bool = True) -> dict[Theorem, str]:
    bound = best_bound(events, delta, fixed_in_advance=fixed_in_advance)
    return {candidate.theorem: candidate.refused for candidate in bound.considered if candidate.epsilon is None}


def test_selections_are_best_served_by_the_adaptive_optimum() -> None:
    bound = best_bound([Selection("0.1")] * 99 + [BottomEvent("0.1")], DELTA)
    assert bound.theorem is Theorem.ADAPTIVE_OPTIMUM
    assert bound.epsilon == adaptive_optimum("0.1", 100, DELTA)
    assert bound.delta == Fraction(DELTA)
    assert len(bound.considered) == len(Theorem)


def test_every_candidate_is_above_the_winner() -> None:
    bound = best_bound([Selection("0.3")] * 7 + [SetSelection("0.2")], DELTA)
    assert min(c.epsilon for c in bound.considered if c.epsilon is not None) == bound.epsilon


def test_adaptive_epsilons_leave_only_the_filter_sums() -> None:
    events: list[Event] = [Selection("0.1")] * 100
    bound = best_bound(events, DELTA, fixed_in_advance=False)
    assert bound.theorem is Theorem.ZCDP
    assert float(bound.epsilon) == pytest.approx(2.41891, abs=1e-5)
    reasons = refusals(events, fixed_in_advance=False)
    assert set(reasons) == set(Theorem) - {Theorem.BASIC, Theorem.ZCDP}
    assert all("adaptively" in reason for reason in reasons.values())


def test_one_gap_release_takes_the_bounded_range_theorems_away() -> None:
    reasons = refusals([*[Selection("0.1")] * 10, PureMechanism("0.1")])
    taken = {Theorem.THREE_TERMS, Theorem.THREE_TERMS_SHARP, Theorem.ADAPTIVE_OPTIMUM}
    assert set(reasons) == taken | {Theorem.GAUSSIAN}
    assert all("PureMechanism" in reasons[theorem] for theorem in taken)


def test_gaussian_noise_leaves_zcdp_and_renyi() -> None:
    events: list[Event] = [*[Selection("0.1")] * 10, *[GaussianNoise(10)] * 10]
    bound = best_bound(events, DELTA)
    assert bound.theorem in (Theorem.ZCDP, Theorem.RENYI)
    assert set(refusals(events)) == set(Theorem) - {Theorem.ZCDP, Theorem.RENYI}


def test_pure_mechanisms_use_the_optimal_theorem_with_what_was_reserved() -> None:
    events: list[Event] = [PureMechanism("0.01", reserved="0.1")] * 30
    bound = best_bound(events, DELTA)
    assert bound.theorem is Theorem.OPTIMAL_PURE
    assert bound.epsilon == optimal_pure("0.1", 30, DELTA)


def test_few_events_at_a_tiny_delta_are_summed() -> None:
    bound = best_bound([PureMechanism("0.1"), LaplaceNoise("0.2")], 0)
    assert bound.theorem is Theorem.BASIC
    assert bound.epsilon == Fraction(3, 10)


def test_own_deltas_are_taken_out_first() -> None:
    calls: list[Event] = [LimitedDomainCall("1e-7")] * 4
    bound = best_bound(calls + [Selection("0.1")] * 50, DELTA)
    left = split_delta(Fraction(DELTA), 4 * Fraction(1, 10**7) / (1 + Fraction(1, 10**7)))
    assert bound.epsilon == adaptive_optimum("0.1", 50, left)
    with pytest.raises(InvalidArgument, match="delta="):
        best_bound(calls * 3, DELTA)
    approximate = best_bound([ApproximateMechanism("0.5", "1e-6")], DELTA)
    assert approximate.epsilon == Fraction(1, 2)
    assert approximate.theorem is Theorem.BASIC


def test_unequal_selections_are_covered_by_the_largest() -> None:
    bound = best_bound([Selection("0.1")] * 50 + [Selection("0.09")] * 50, DELTA)
    assert bound.epsilon <= adaptive_optimum("0.1", 100, DELTA)
    assert bound.epsilon <= zcdp_epsilon(50 * (Selection("0.1").rho + Selection("0.09").rho), DELTA)


def test_nothing_costs_nothing() -> None:
    assert best_bound([], DELTA).epsilon == 0
    assert best_bound([LimitedDomainCall("1e-7")], DELTA).epsilon == 0


def test_a_gaussian_without_delta_has_no_bound() -> None:
    with pytest.raises(InvalidArgument, match="delta="):
        best_bound([GaussianNoise(1)], 0)


def test_too_many_events_for_the_slow_theorems_are_refused_with_a_reason() -> None:
    reasons = refusals([Selection("0.001")] * 20_001)
    assert "20000" in reasons[Theorem.OPTIMAL_PURE]
    assert "take too long" in reasons[Theorem.ADAPTIVE_OPTIMUM]


def test_every_theorem_names_its_source() -> None:
    for theorem in Theorem:
        assert any(year in theorem.source for year in ("2006", "2015", "2016", "2017", "2018", "2019", "2020"))


def test_rounds_that_choose_their_noise_on_the_way_cite_a_theorem_that_covers_them() -> None:
    """Corollary 3.3 of Dong, Roth & Su is for mu_1, mu_2, ... fixed beforehand, and so not enough."""
    source = Theorem.GAUSSIAN.source
    assert "docs/proofs/adaptive.md, Theorem 2" in source
    assert "Corollary 3.3" not in source
    proof = (Path(__file__).parents[3] / "docs" / "proofs" / "adaptive.md").read_text(encoding="utf-8")
    assert "**Theorem 2 (with thresholds).**" in proof

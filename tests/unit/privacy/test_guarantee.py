"""Guarantees: conversions against mpmath, sums, order, sentences, refusals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import ExponentialTopK, PayWhatYouGet
from podium.mechanisms.groups.chosen_clip import GroupedAmounts
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.privacy import (
    Cost,
    GaussianNoise,
    Guarantee,
    Selection,
    Theorem,
    best_bound,
    largest_rho,
    total,
    zcdp_delta,
    zcdp_epsilon,
)

MILLIONTH = Fraction(1, 10**6)


def canonne_kamath_steinke(rho: str, delta: str) -> mpmath.mpf:
    """The printed infimum, minimised by mpmath in the logarithm of a - 1."""
    with mpmath.workdps(40):
        r, d = mpmath.mpf(rho), mpmath.mpf(delta)

        def value(log_excess: mpmath.mpf) -> mpmath.mpf:
            a = 1 + mpmath.exp(log_excess)
            return a * r + (mpmath.log(1 / d) - mpmath.log(a - 1) + a * mpmath.log(1 - 1 / a)) / (a - 1)

        low, high = mpmath.mpf(-10), mpmath.mpf(15)
        for _ in range(200):
            third = (high - low) / 3
            if value(low + third) < value(high - third):
                high -= third
            else:
                low += third
        return value(low)


@pytest.mark.parametrize("rho", ["0.0001", "0.125", "1", "20"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_zcdp_conversion_is_the_printed_infimum(rho: str, delta: str) -> None:
    exact = float(canonne_kamath_steinke(rho, delta))
    found = float(zcdp_epsilon(rho, delta))
    assert exact * (1 - 1e-15) <= found <= exact * (1 + 1e-6)


@pytest.mark.parametrize("rho", ["0.01", "0.5", "4"])
@pytest.mark.parametrize("delta", ["1e-4", "1e-9"])
def test_zcdp_conversion_inverts(rho: str, delta: str) -> None:
    epsilon = zcdp_epsilon(rho, delta)
    assert float(zcdp_delta(rho, epsilon)) == pytest.approx(float(delta), rel=1e-12)
    back = largest_rho(epsilon, delta)
    assert zcdp_epsilon(back, delta) <= epsilon
    assert float(back) == pytest.approx(float(rho), rel=1e-6)


def test_approximate_zcdp_spends_its_own_delta_first() -> None:
    """d + (1 - d) delta' = delta."""
    guarantee = Guarantee.approximate_zcdp("0.1", "4e-7")
    left = (MILLIONTH - Fraction(4, 10**7)) / (1 - Fraction(4, 10**7))
    assert guarantee.epsilon(delta=MILLIONTH) == zcdp_epsilon("0.1", left)
    epsilon = guarantee.epsilon(delta=MILLIONTH)
    assert float(guarantee.delta(epsilon=epsilon)) == pytest.approx(1e-6, rel=1e-12)


def test_pure_profile_is_randomised_response() -> None:
    guarantee = Guarantee.pure(1)
    with mpmath.workdps(30):
        exact = (mpmath.exp(1) - mpmath.exp("0.5")) / (1 + mpmath.exp(1))
    assert float(guarantee.delta(epsilon="0.5")) == pytest.approx(float(exact), rel=1e-15)
    assert guarantee.delta(epsilon=1) == 0
    assert guarantee.epsilon() == 1
    assert guarantee.epsilon(delta=0) == 1
    assert guarantee.epsilon(delta=guarantee.delta(epsilon="0.5")) == pytest.approx(0.5, abs=1e-18)
    assert guarantee.epsilon(delta="0.9") == 0


def test_approximate_returns_what_was_put_in() -> None:
    guarantee = Guarantee.approximate("0.84", "1e-6")
    assert guarantee.epsilon() == Fraction(84, 100)
    assert guarantee.epsilon(delta="1e-6") == Fraction(84, 100)
    assert guarantee.delta(epsilon="0.84") == MILLIONTH
    assert guarantee.rho == Fraction(84, 100) ** 2 / 2


def test_total_keeps_both_currencies() -> None:
    guarantee = total([Selection("0.1")] * 100)
    assert guarantee.cost.epsilon == 10
    assert guarantee.rho == 100 * Selection("0.1").rho
    # At a tiny delta the pure sum wins, at a usual one the zCDP conversion.
    assert guarantee.epsilon(delta="1e-200") == pytest.approx(10, abs=1e-100)
    assert float(guarantee.epsilon(delta="1e-6")) == pytest.approx(2.41891, abs=1e-5)


def test_a_gaussian_takes_the_pure_part_away() -> None:
    guarantee = total([Selection("0.1"), GaussianNoise(5)])
    assert guarantee.cost.epsilon is None
    assert guarantee.rho == Selection("0.1").rho + Fraction(1, 50)


def test_sums() -> None:
    assert Guarantee.pure("0.1") + Guarantee.pure("0.2") == Guarantee(
        Cost(epsilon="0.3", rho=Fraction(1, 200) + Fraction(2, 100))
    )
    mixed = Guarantee.approximate(1, "1e-6") + Guarantee.zcdp("0.5")
    assert mixed.cost == Cost(epsilon=None, rho=1, delta="1e-6")
    ruined = Guarantee.approximate(1, "0.6") + Guarantee.approximate(1, "0.6")
    assert ruined.cost.delta == 1
    assert "no guarantee" in ruined.sentence()
    with pytest.raises(InvalidArgument):
        ruined.epsilon(delta="0.99")


def test_profile_is_read_between_its_points_as_a_chord() -> None:
    profile = Guarantee.profile([(2, 0), (1, "0.01"), (3, "0.5"), ("1.5", "0.001")])
    assert profile.rho is None
    assert profile.epsilon() == 2
    assert profile.delta(epsilon=1) == Fraction(1, 100)
    assert profile.delta(epsilon=5) == 0
    with mpmath.workdps(30):
        share = (mpmath.exp("1.5") - mpmath.exp("1.25")) / (mpmath.exp("1.5") - mpmath.exp(1))
        exact = 0.001 + share * 0.009
    assert float(profile.delta(epsilon="1.25")) == pytest.approx(float(exact), rel=1e-14)
    assert float(profile.epsilon(delta=profile.delta(epsilon="1.25"))) == pytest.approx(1.25, rel=1e-14)
    # Below the first point: the chord to its mirror image, as both directions of a pair are promised.
    assert float(profile.delta(epsilon=0)) == pytest.approx(float(0.01 + 0.99 * mpmath.tanh(0.5)), rel=1e-14)


def test_a_profile_of_one_point_says_what_the_pair_says() -> None:
    profile, pair = Guarantee.profile([("0.7", "1e-6")]), Guarantee.approximate("0.7", "1e-6")
    assert profile <= pair <= profile
    for delta in ("1e-6", "2e-6", "0.01", "0.3"):
        assert float(profile.epsilon(delta=delta)) == pytest.approx(float(pair.epsilon(delta=delta)), rel=1e-15)
    for epsilon in ("0", "0.3", "0.7", "5"):
        assert float(profile.delta(epsilon=epsilon)) == pytest.approx(float(pair.delta(epsilon=epsilon)), rel=1e-15)


def test_a_point_above_a_chord_is_improved_by_it() -> None:
    loose = Guarantee.profile([(1, "0.01"), ("1.5", "0.0099"), (2, 0)])
    assert loose.delta(epsilon="1.5") < Fraction(99, 10000)
    assert loose.delta(epsilon="1.5") == Guarantee.profile([(1, "0.01"), (2, 0)]).delta(epsilon="1.5")
    assert Guarantee.profile([(0, "0.2")]).epsilon(delta="0.3") == 0
    assert Guarantee.profile([(0, "0.2"), (1, "0.1")]).epsilon(delta="0.3") == 0


@pytest.mark.parametrize("points", [[(1, 0)], [("0.1", 0)], [(1, "0.1"), (2, "0.01"), (4, 0)], [(3, "0.01")]])
def test_a_delta_beyond_the_whole_profile_needs_no_epsilon(points: list[tuple[str, str]]) -> None:
    profile = Guarantee.profile(points)
    for delta in (profile.delta(epsilon=0), "0.96", "0.999999"):
        assert profile.epsilon(delta=delta) == 0
    assert profile.epsilon(delta=profile.delta(epsilon=0) * Fraction(999, 1000)) > 0
    assert not profile + Guarantee.pure(8) <= Guarantee.approximate("0.01", "0.96")
    assert profile <= Guarantee.approximate("0.01", "0.96")


def test_profiles_compose_point_by_point() -> None:
    both = Guarantee.profile([(1, "0.01"), (2, 0)]) + Guarantee.profile([(1, "0.02"), (3, 0)])
    assert both.epsilon(delta=0) == 5
    assert both.epsilon(delta="0.01") == 4
    assert both.epsilon(delta="0.03") <= 2
    with_more = both + Guarantee.pure("0.5")
    assert with_more.epsilon(delta=0) == Fraction(11, 2)
    assert with_more.delta(epsilon="4.5") == Fraction(1, 100)
    assert with_more.delta(epsilon="0.1") == 1


def test_order_means_implication() -> None:
    assert Guarantee.pure(1) < Guarantee.pure(2)
    assert Guarantee.pure(1) < Guarantee.zcdp("0.5")
    assert not Guarantee.zcdp("0.5") <= Guarantee.pure(1)
    assert Guarantee.pure(1) < Guarantee.approximate(1, "1e-6")
    assert Guarantee.zcdp("0.01") < Guarantee.approximate(1, "1e-6")
    assert not Guarantee.zcdp("0.1") <= Guarantee.approximate(1, "1e-6")
    assert Guarantee.approximate(2, "1e-7") > Guarantee.approximate(1, "1e-7")
    left, right = Guarantee.approximate(1, "1e-3"), Guarantee.approximate(3, "1e-9")
    assert not left <= right
    assert not right <= left
    profile = Guarantee.profile([(1, "1e-6"), (2, 0)])
    assert profile <= Guarantee.approximate(1, "1e-6")
    assert Guarantee.pure(1) <= profile
    assert not Guarantee.pure(3) <= profile
    assert not Guarantee.pure(1) <= Guarantee.zcdp("0.4")


def test_a_converted_guarantee_is_implied_by_its_source() -> None:
    source = Guarantee.approximate_zcdp("0.02", "1e-7")
    assert source <= Guarantee.approximate(source.epsilon(delta="1e-6"), "1e-6")


def test_sentences() -> None:
    whom = "for any one user, added or removed"
    assert Guarantee.approximate("0.84", "1e-6").sentence() == f"(0.84, 1e-6)-differentially private {whom}"
    assert str(Guarantee.pure("0.5")) == f"0.5-differentially private {whom}"
    assert str(Guarantee.zcdp("0.02")) == f"0.02-zCDP {whom}"
    assert str(Guarantee.approximate_zcdp("0.02", "1e-6")) == f"1e-6-approximately 0.02-zCDP {whom}"
    assert str(total([Selection("0.1")] * 2)) == f"0.2-differentially private and 0.0025-zCDP {whom}"
    assert Guarantee.zcdp("0.125").sentence(delta="1e-6") == f"(2.42, 1e-6)-differentially private {whom}"
    assert str(total([])) == f"independent of the data {whom}"
    assert str(Guarantee.profile([(1, "1e-6")]) + Guarantee.pure(1)) == (
        f"1-differentially private, composed with (1, 1e-6)-differentially private {whom}"
    )


def test_sentences_never_show_less() -> None:
    assert Guarantee.pure(Fraction(1, 3)).sentence().startswith("0.3334-")
    assert Guarantee.zcdp(Fraction(10**9 + 1, 10**12)).sentence().startswith("0.001001-")


def test_json_round_trip() -> None:
    for guarantee in (
        Guarantee.pure("0.1"),
        Guarantee.approximate(1, "1e-6"),
        Guarantee.zcdp(Fraction(1, 3)),
        Guarantee.profile([(1, "0.1"), (2, 0)]) + Guarantee.approximate_zcdp("0.5", "1e-9"),
    ):
        assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    with pytest.raises(InvalidArgument, match="guarantee="):
        Guarantee.from_dict({"version": 2})


@pytest.mark.parametrize("value", [0, -1, "0", "-0.1", float("nan"), float("inf"), Decimal("NaN"), "x", None, True])
def test_bad_losses(value: object) -> None:
    for build in (Guarantee.pure, Guarantee.zcdp):
        with pytest.raises(InvalidArgument):
            build(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [-1, 1, 2, "1.0", float("nan"), float("inf"), Decimal("Infinity")])
def test_bad_deltas(delta: object) -> None:
    with pytest.raises(InvalidArgument, match="delta="):
        Guarantee.approximate(1, delta)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="delta="):
        Guarantee.pure(1).epsilon(delta=delta)  # type: ignore[arg-type]


def test_deltas_that_are_too_small() -> None:
    with pytest.raises(InvalidArgument, match="delta="):
        Guarantee.zcdp("0.1").epsilon()
    with pytest.raises(InvalidArgument, match="delta="):
        Guarantee.approximate(1, "1e-6").epsilon(delta="1e-7")
    with pytest.raises(InvalidArgument, match="epsilon="):
        Guarantee.pure(1).delta(epsilon=-1)
    with pytest.raises(InvalidArgument, match="points="):
        Guarantee.profile([])


def test_comparisons_with_other_things() -> None:
    guarantee, cost = Guarantee.pure(1), Cost.nothing()
    for other in (1, "pure", None):
        assert guarantee.__le__(other) is NotImplemented  # type: ignore[operator]
        assert guarantee.__add__(other) is NotImplemented  # type: ignore[operator]
        assert cost.__le__(other) is NotImplemented  # type: ignore[operator]
        assert cost.__add__(other) is NotImplemented  # type: ignore[operator]


def test_a_mechanism_s_epsilon_is_the_best_that_holds_for_it() -> None:
    mechanism = ExponentialTopK(100, "0.1")
    best = best_bound(mechanism.worst_case, "1e-6")
    assert best.theorem is Theorem.ADAPTIVE_OPTIMUM
    assert mechanism.guarantee.epsilon(delta="1e-6") == best.epsilon < Fraction("2.252")
    # What may be chosen afterwards, or is stored, has sums only.
    stated = mechanism.guarantee.stated
    assert stated == mechanism.guarantee
    assert stated.epsilon(delta="1e-6") == zcdp_epsilon(mechanism.guarantee.cost.rho, "1e-6") > Fraction("2.418")
    assert (mechanism.guarantee + Guarantee.zcdp("1e-9")).events == ()
    assert Guarantee.from_json(mechanism.guarantee.to_json()).events == ()
    release = ExponentialTopK(1, "0.1").release(Histogram({"a": 1, "b": 2}))
    assert release.guarantee.events == ()


@pytest.mark.parametrize(
    ("mechanism", "better"),
    [
        (MeasuredTopK(20, clip=3, epsilon_per_item="0.2", delta="1e-7"), "0.93"),
        (MeasuredTopK(20, rho_clip="0.005", epsilon_per_item="0.2", delta="1e-7"), "0.97"),
        (PayWhatYouGet(100, 10, "0.1", "1e-8"), "0.94"),
        (
            GroupedAmounts("0.005", GroupedTopK.selections(9, 99, "0.1", Fraction(1, 10**7), groups_per_user=3)),
            "0.99",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_so_is_that_of_several_steps_of_different_kinds(mechanism: Any, better: str) -> None:
    best = best_bound(mechanism.worst_case, "1e-6").epsilon
    found = mechanism.guarantee.epsilon(delta="1e-6")
    assert found <= best < Fraction(better) * mechanism.guarantee.stated.epsilon(delta="1e-6")
    # With no more than what the mechanism fails with itself: of several calls that is less than the sum.
    assert mechanism.guarantee.cost.epsilon is None or mechanism.guarantee.epsilon() > best

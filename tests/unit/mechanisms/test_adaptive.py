"""AdaptiveTopK: what it promises before anything is read, and how it says no."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.support.refusals import refusal

from podium.errors import InvalidArgument
from podium.mechanisms import AdaptiveTopK
from podium.planning.memory_table import PairsReader
from podium.privacy import gaussian_epsilon
from podium.privacy.events import GaussianNoise, HiddenItems
from podium.privacy.theorems.conversion import split_delta
from podium.randomness.replay import ReplayableBits

HINT = "An unknown domain cannot be private with delta=0."


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3", "10"])
@pytest.mark.parametrize("delta", ["1e-6", "1e-10", "0.3"])
def test_within_is_within_and_leaves_nothing_over(epsilon: str, delta: str) -> None:
    mechanism = AdaptiveTopK.within(10, epsilon=epsilon, delta=delta, max_items_per_user=7, counts=True)
    assert (mechanism.k, mechanism.max_items_per_user, mechanism.counts) == (10, 7, True)
    assert mechanism.delta == Fraction(delta) / 2
    reached = mechanism.guarantee.epsilon(delta=delta)
    assert reached <= Fraction(epsilon)
    assert reached >= Fraction(epsilon) * (1 - Fraction(1, 10**12))
    assert mechanism.guarantee.delta(epsilon=epsilon) <= Fraction(delta)
    left = split_delta(Fraction(delta), Fraction(delta) / 2)
    assert gaussian_epsilon(mechanism.mu_squared * (1 + Fraction(1, 10**9)), left) > Fraction(epsilon)


def test_the_worst_case_is_the_whole_of_mu_squared_exactly() -> None:
    mechanism = AdaptiveTopK(3, "1/7", "0.01")
    noise, hidden = mechanism.worst_case
    assert isinstance(noise, GaussianNoise)
    assert noise.rho == Fraction(1, 14)
    assert hidden == HiddenItems("0.01")
    assert mechanism.guarantee.gaussian
    assert mechanism.guarantee.rho == Fraction(1, 14)
    assert mechanism.guarantee.cost.delta == Fraction(1, 100)


@pytest.mark.parametrize("part", range(2, 40))
def test_rounded_scales_never_add_up_to_more_than_was_reserved(part: int) -> None:
    """On an empty table there are two discoveries; a worst case with a rounded sigma was below their sum."""
    mechanism = AdaptiveTopK(1, Fraction(1, part), "0.01", max_items_per_user=5)
    release = mechanism.release(PairsReader([], [], bits=ReplayableBits(1)), bits=ReplayableBits(2))
    assert release.items == ()
    assert len(release.paid.events) == 4
    assert release.paid.cost <= mechanism.guarantee.cost
    assert release.paid.rho > mechanism.mu_squared / 2 * (1 - Fraction(1, 10**8))


def test_a_stage_costs_its_share_of_mu_squared_and_of_delta() -> None:
    mechanism = AdaptiveTopK(3, 2, "0.05", max_items_per_user=16)
    stages = [mechanism.stage(Fraction(1, 10), discovery=discovery) for discovery in (1, 2, 3)]
    assert [stage.delta for stage in stages] == [Fraction(1, 100), Fraction(3, 100), Fraction(1, 100)]
    assert sum((stage.delta for stage in stages), start=Fraction(0)) == mechanism.delta
    for stage in stages:
        assert stage.weights.cap == 16
        assert 0 < Fraction(1, 10) - stage.guarantee.rho <= Fraction(1, 10**8)  # type: ignore[operator]
    assert mechanism.first_threshold == mechanism.stage(Fraction(1), discovery=2).count_threshold
    assert mechanism.first_stage == stages[0]
    assert stages[1].count_threshold > mechanism.first_threshold


def test_there_is_no_fourth_discovery() -> None:
    with pytest.raises(IndexError):
        AdaptiveTopK(3, 2, "0.05").stage(Fraction(1, 10), discovery=4)


def test_a_receipt_names_the_parameters_and_the_theorem() -> None:
    release = AdaptiveTopK(3, 2, "0.03").release(PairsReader([], [], bits=ReplayableBits(1)))
    assert release.mechanism == "AdaptiveTopK"
    assert release.parameters == {
        "k": "3", "mu_squared": "2", "delta": "3/100", "max_items_per_user": "1000", "counts": "False",
    }  # fmt: skip
    assert release.theorem == "docs/proofs/adaptive.md, Theorem 2: adaptively chosen Gaussian noise"
    assert (release.k, release.complete, release.values) == (3, False, None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
        ({"mu_squared": 0}, "mu_squared=0 is not valid. Allowed: a number above 0."),
        ({"delta": 0}, f"delta=0 is not valid. Allowed: a number with 0 < value < 1. {HINT}"),
        ({"max_items_per_user": 0}, "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more."),
        (
            {"max_items_per_user": 2**40 + 1},
            "cap=1099511627777 is not valid. Allowed: an integer from 1 to 1099511627776.",
        ),
        ({"counts": "no"}, "counts='no' is not valid. Allowed: True or False."),
    ],
)
def test_mistakes_are_named_before_anything_is_read(arguments: dict[str, object], text: str) -> None:
    given = {"k": 3, "mu_squared": 1, "delta": "0.01"} | arguments
    assert refusal(lambda: AdaptiveTopK(**given)) == text  # type: ignore[arg-type]


def test_within_names_its_mistakes_too() -> None:
    with pytest.raises(InvalidArgument, match=r"^delta=0 is not valid\. .* cannot be private with delta=0\.$"):
        AdaptiveTopK.within(3, epsilon=1, delta=0)
    with pytest.raises(InvalidArgument, match=r"^epsilon=0 is not valid\. Allowed: a number above 0"):
        AdaptiveTopK.within(3, epsilon=0, delta="0.01")

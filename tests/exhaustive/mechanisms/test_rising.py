"""RisingTopK in small worlds: unequal selections keep their sums, and (epsilon, delta) where calibrated to it."""

from __future__ import annotations

import pytest
from tests.support.symmetry import symmetric
from tests.support.worlds import check_world, distribution_of

from podium.mechanisms import RisingTopK
from podium.privacy.guarantee import Guarantee

_FOUR = ("a", "b", "c", "d")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_pair_keeps_the_whole_guarantee(k: int) -> None:
    mechanism = RisingTopK(k, "0.15")
    check_world(symmetric(distribution_of(mechanism)), mechanism.guarantee, items=_FOUR, largest=2)


@pytest.mark.parametrize("k", [1, 2])
def test_what_was_calibrated_keeps_its_promise(k: int) -> None:
    mechanism = RisingTopK.within(k, epsilon=1, delta="0.01")
    promise = Guarantee.approximate(1, "0.01")
    check_world(symmetric(distribution_of(mechanism)), promise, items=_FOUR, largest=2)


def test_a_third_more_is_rejected() -> None:
    mechanism = RisingTopK.within(2, epsilon=1, delta="0.01")
    wrong = RisingTopK(2, mechanism.unit * 4 / 3)
    with pytest.raises(AssertionError, match="hockey-stick"):
        check_world(symmetric(distribution_of(wrong)), Guarantee.approximate(1, "0.01"), items=_FOUR, largest=2)

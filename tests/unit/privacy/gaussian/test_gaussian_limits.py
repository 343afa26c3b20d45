"""The budget of a Gaussian filter, and the guarantee that it stands for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.privacy import gaussian_delta, gaussian_epsilon, split_delta
from podium.privacy.gaussian import GaussianLimits


@pytest.mark.parametrize("share", [None, "0", "9e-7"])
def test_the_budget_is_the_largest_that_keeps_the_promise(share: str | None) -> None:
    limits = GaussianLimits.of(1, "1e-6", share)
    used = limits.delta_for_calls
    assert used == (Fraction("5e-7") if share is None else Fraction(share))
    rest = split_delta(limits.delta, used)
    assert gaussian_epsilon(limits.mu_squared, rest) <= 1
    assert gaussian_delta(limits.mu_squared * (1 + Fraction(1, 1 << 60)), 1) > rest


def test_the_promise_holds_at_every_epsilon() -> None:
    limits = GaussianLimits.of(1, "1e-6")
    assert limits.delta_at(1) <= limits.delta
    for epsilon in ("0", "1/2", "2"):
        rest = gaussian_delta(limits.mu_squared, epsilon)
        assert limits.delta_at(epsilon) == limits.delta_for_calls + (1 - limits.delta_for_calls) * rest
    assert limits.guarantee.gaussian
    assert limits.guarantee.epsilon(delta="1e-6") <= 1


def test_a_share_that_leaves_nothing_is_refused() -> None:
    for share in ("1e-6", "1e-5", "-1"):
        with pytest.raises(InvalidArgument, match="delta_for_calls"):
            GaussianLimits.of(1, "1e-6", share)

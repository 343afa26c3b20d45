"""Costs compare in every currency: what a ledger settles is below what it reserved in each of them, or it is not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.privacy import Cost


def usual() -> Cost:
    return Cost(epsilon="1/2", rho="1/8", delta="1e-6")


@pytest.mark.parametrize("larger", [{"epsilon": "3/4"}, {"rho": "1/4"}, {"delta": "2e-6"}, {"epsilon": None}])
def test_more_in_one_currency_is_not_less(larger: dict[str, str | None]) -> None:
    more = Cost(**{"epsilon": "1/2", "rho": "1/8", "delta": "1e-6", **larger})  # type: ignore[arg-type]
    less = usual()
    assert less <= more
    assert more >= less
    assert not more <= less
    assert not less >= more


def test_costs_may_be_incomparable() -> None:
    other = Cost(epsilon="1/4", rho="1/8", delta="1e-3")
    one = usual()
    assert not one <= other
    assert not other <= one


def test_sums_are_exact_in_every_currency_and_delta_saturates() -> None:
    twice = usual() + usual()
    assert twice == Cost(epsilon=1, rho="1/4", delta="2e-6")
    assert (usual() + Cost(epsilon=None, rho=1)).epsilon is None
    assert (Cost(epsilon=0, rho=0, delta="0.7") + Cost(epsilon=0, rho=0, delta="0.7")).delta == Fraction(1)

"""Shares of a total: the interval of the formulas, its ends, and what a page says beside a list by amounts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from podium import Release
from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.present import release_text
from podium.present.amount_shares import AmountNoise, additive_share, fieller
from podium.present.tables import arrow_table
from podium.present.user_shares import beside_lines, list_remarks, shares, shares_of
from podium.randomness.replay import ReplayableBits
from podium.release import Beside

Z = Fraction(196, 100)
ZERO, ONE = Fraction(0), Fraction(1)


def of(*numbers: int) -> list[Fraction]:
    return [Fraction(number) for number in numbers]


def test_the_interval_of_the_formulas() -> None:
    """200 of 1000, independent noise of sigma 30 on both: .120 wide, where the box is .162 wide."""
    low, high = fieller(*of(200, 1000, 900, 0, 900), quantile=Z)
    assert low < Fraction(1, 5) < high
    assert abs(float(high - low) - 0.120) < 0.001
    # The ends are where the pivot is z times its standard deviation.
    for end in (low, high):
        assert abs(float((200 - end * 1000) ** 2 - Z**2 * (900 + end**2 * 900))) < 1e-6


def test_what_is_in_the_total_says_more_about_its_share() -> None:
    """With the part in the total: the pivot (1 - t) a - t rest, and its variance (1 - t)^2 va + t^2 (rest's)."""
    low, high = fieller(*of(500, 1000, 900, 900, 900 * 2), quantile=Z)
    for end in (low, high):
        pivot, spread = (1 - end) * 500 - end * 500, (1 - end) ** 2 * 900 + end**2 * 900
        assert abs(float(pivot**2 - Z**2 * spread)) < 1e-6
    apart = fieller(*of(500, 1000, 900, 0, 900 * 2), quantile=Z)
    assert high - low < apart[1] - apart[0]


def test_ends_are_in_order_and_rounded_outwards() -> None:
    assert fieller(*of(5, 1, 900, 900, 1800), quantile=Z) == (ZERO, ONE)
    assert fieller(*of(5, -1000, 1, 0, 1), quantile=Z) == (ZERO, ONE)
    for part in range(-60, 400, 23):
        low, high = fieller(*of(part, 300, 100, 100, 500), quantile=Z)
        assert ZERO <= low <= high <= ONE
        wider = fieller(*of(part, 300, 100, 100, 500), quantile=Z, slack=Fraction(3))
        assert wider[0] <= low <= high <= wider[1]


@pytest.mark.parametrize("gaussian", [True, False])
def test_a_share_of_everything_and_of_nothing(gaussian: bool) -> None:
    noise = AmountNoise(CorrelatedCounts(2, sigma=3, shared_sigma=2), 2, Fraction(4), gaussian, 2)
    level = Fraction(95, 100)
    low, high = additive_share(Fraction(1000), Fraction(0), noise, level)
    assert (low > Fraction(9, 10), high) == (True, ONE)
    low, high = additive_share(Fraction(0), Fraction(1000), noise, level)
    assert (low, high < Fraction(1, 10)) == (ZERO, True)
    assert additive_share(Fraction(0), Fraction(0), noise, level) == (ZERO, ONE)
    assert additive_share(Fraction(-50), Fraction(-50), noise, level)[1] == ONE


def summed(*, gaussian: bool = True) -> Release:
    release = LimitedDomain(2, 10, 1, "1e-6").release(
        Histogram({"a": 2120, "b": 900}, known=False), bits=ReplayableBits(1)
    )
    noise = CorrelatedCounts(2, sigma=80, shared_sigma=40, clip=8)
    parameters = {"by": "sum(price)", "unit": "1/4", "value_clip": "8", **release.parameters, **noise.parameters}
    beside = Beside(Fraction(250), Fraction(1250), "gaussian" if gaussian else "laplace", "20", Fraction(2))
    return replace(
        release, values=(Fraction(600), Fraction(400)), value_kind="counts", parameters=parameters, columns=("page",),
        user="user", beside=beside,
    )  # fmt: skip


@pytest.mark.parametrize("gaussian", [True, False])
def test_lines_add_up_and_shares_are_of_the_total(gaussian: bool) -> None:
    release = summed(gaussian=gaussian)
    others, total = beside_lines(release)
    assert [int(others.value), int(total.value)] == [250, 1250]
    assert others.value - others.low < total.value - total.low
    found = shares(release)
    assert found is not None
    assert [share.value for share in found] == [Fraction(12, 25), Fraction(8, 25)]
    assert all(share.low < share.value < share.high for share in found)
    assert shares_of(release) == "total"
    text = release_text(release)
    assert "share of total" in text
    assert "Others: 250 price" in text
    assert "of which each user adds at most 2 price" in text
    assert "The lines add up to the total: 1,250 price" in text
    table = arrow_table(release)
    assert table.column("line").to_pylist() == ["item", "item", "others", "total"]
    assert table.column("sum").to_pylist() == [600, 400, 250, 1250]


def test_the_units_of_the_column_are_those_of_the_noise() -> None:
    release = summed()
    assert release.beside is not None
    noise = AmountNoise.of(release, release.beside, Fraction(1, 4))
    assert (int(noise.others), noise.ceiling, noise.number) == (80, 8, 2)
    width = beside_lines(release)[0].high - 250
    assert width == Fraction(noise.others_width(Fraction(95, 100)), 4)
    assert 38 < width < 42


def test_parameters_that_podium_did_not_write() -> None:
    release = summed()
    for scale, ceiling in (("1e30", Fraction(2)), ("20", Fraction(1, 3))):
        strange = replace(release, beside=Beside(Fraction(1), Fraction(2), "gaussian", scale, ceiling))
        with pytest.raises(InvalidArgument, match="scale"):
            AmountNoise.of(strange, Beside(Fraction(1), Fraction(2), "gaussian", scale, ceiling), Fraction(1, 4))
        assert beside_lines(strange) == ()


def test_a_list_without_items_has_lines_too() -> None:
    release = replace(summed(), outcome=(), values=())
    assert [line.name for line in beside_lines(release)] == ["others", "total"]
    assert list_remarks(release)

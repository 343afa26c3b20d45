"""Counts that are measured together: what is reserved and paid, and intervals that are computed again later."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy import stats
from tests.support.distributions import FALSE_ALARM

from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts, MeasureTogether
from podium.histogram import Histogram
from podium.ledger.receipts import first_places
from podium.mechanisms import AdaptiveTopK
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.planning.memory_table import PairsReader
from podium.present.intervals import margin_of
from podium.privacy import CorrelatedNoise, GaussianNoise, decode_event, encode_event, total, worst_case
from podium.randomness.replay import ReplayableBits
from podium.release import Receipt, Release

COUNTS = {"a": 900, "b": 600, "c": 30, "d": 0}
HISTOGRAM = Histogram(COUNTS)


@pytest.mark.parametrize("most", [None, 1, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_whatever_comes_back_is_within_what_was_reserved(most: int | None, shared: bool) -> None:
    k, sigma = 40, Fraction(7, 3)
    measure = MeasureTogether(sigma, items=k if shared else None, max_items_per_user=most)
    reserved = worst_case(measure.worst_case(k))
    assert reserved.rho == k / (2 * sigma**2)
    assert measure.events(0) == ()
    for items in range(1, k + 1):
        paid = worst_case(measure.events(items))
        limit = reserved.rho if shared else items / (2 * sigma**2)
        assert limit * (1 - Fraction(1, 10**7)) < paid.rho <= limit
        assert paid <= reserved
    # At the price of independent noise, one count alone is as good, and many are twice as good.
    alone, many = (float(MeasureTogether(sigma).noise_for(items).variance / sigma**2) for items in (1, 10_000))
    assert alone == pytest.approx(1, abs=1e-6)
    assert many == pytest.approx(1 / 4, abs=0.006)


def test_a_release_says_what_is_needed_for_intervals() -> None:
    measure = MeasureTogether(5)
    release = measure.release(HISTOGRAM, ["a", "b", "c"], bits=ReplayableBits(1))
    noise = CorrelatedCounts.from_parameters(release.parameters)
    assert noise == measure.noise_for(3)
    assert release.paid.events == (noise.event,)
    assert release.guarantee == total([noise.event])
    assert release.guarantee.gaussian
    assert all(value.denominator == 1 for value in release.values or ())
    stored = Release.from_json(release.to_json())
    assert stored == release
    # Told again free of charge, and cut to fewer places: the noise is still that of three counts.
    again = first_places(replace(stored, paid=Receipt(())), 2)
    for shown in (release, again):
        margin = margin_of(shown)
        assert margin is not None
        assert (margin.width, margin.fresh) == (Fraction(noise.margin()), True)
        assert margin.law == "Gaussian, sigma 3.163 for each count and 2.237 for all alike"
    low, high = measure.intervals(release)[0]
    assert high - low == 2 * noise.margin()
    every = measure.intervals(release, simultaneous=True)[0]
    assert every.high - every.low == 2 * noise.margin(1 - Fraction(5, 300))


def test_the_receipt_alone_is_enough() -> None:
    noise = CorrelatedCounts.within(2, "0.01")
    release = MeasureTogether(5).release(HISTOGRAM, ["a", "b"], bits=ReplayableBits(1))
    bare = replace(release, mechanism="AdaptiveTopK", parameters={}, paid=Receipt((GaussianNoise(3), noise.event)))
    margin = margin_of(bare)
    assert margin is not None
    assert margin.width == noise.margin()
    assert margin_of(replace(bare, paid=Receipt((noise.event, CorrelatedNoise(2, 2, 1, 1))))) is None
    assert margin_of(replace(bare, parameters={"count_noise": "correlated", "count_items": "none"})) is None


def test_lists_from_rounds_have_intervals() -> None:
    users, items = zip(*((user, item) for item in range(9) for user in range(500 - 40 * item)), strict=True)
    bits = ReplayableBits(2)
    mechanism = AdaptiveTopK(5, 1, "1e-6", max_items_per_user=9, counts=True)
    release = mechanism.release(PairsReader(users, items, bits=bits), bits=bits)
    margin = margin_of(release)
    (event,) = (event for event in release.paid.events if isinstance(event, CorrelatedNoise))
    noise = CorrelatedCounts.from_parameters(release.parameters)
    assert margin is not None
    assert margin.width == noise.margin()
    assert event == noise.event
    assert noise.items == len(release.items) == 5
    true = [500 - 40 * item for item in range(9)]
    # Within four margins, eight standard deviations, whatever the bits were.
    errors = [abs(value - true[int(item)]) for item, value in zip(release.items, release.values or (), strict=True)]  # type: ignore[call-overload]
    assert max(errors) < 4 * margin.width


@pytest.mark.parametrize("mu_squared", ["1e-40", "1e-4", "0.3", "9", "1e4"])
def test_margins_cover_and_no_smaller_integer_does(mu_squared: str) -> None:
    noise = CorrelatedCounts.within(4, mu_squared)
    deviation = math.sqrt(noise.variance)
    slack = 0.5 if noise.step == 1 else -float(noise.step) / 2
    for confidence in ("0.5", "0.95", "0.999"):
        width = noise.margin(confidence)
        inside = [2 * stats.norm.cdf((w + slack) / deviation) - 1 for w in (width, width - 1)]
        assert inside[0] >= float(confidence) - 1e-12
        assert width == 0 or noise.step != 1 or inside[1] < float(confidence)


def test_intervals_hold_as_often_as_they_say() -> None:
    """One count of each release, because those of one release go up and down together."""
    noise, bits, runs = CorrelatedCounts.within(3, "0.02"), ReplayableBits(3), 1500
    width = noise.margin("0.9")
    drawn = [noise.measure([10, 500, 7], bits=bits) for _ in range(runs)]
    held = sum(abs(values[1] - 500) <= width for values in drawn)
    exact = 2 * stats.norm.cdf((width + 0.5) / math.sqrt(noise.variance)) - 1
    assert stats.binom.cdf(held, runs, exact) > FALSE_ALARM
    assert stats.binom.sf(held - 1, runs, exact) > FALSE_ALARM
    # Three counts together: the variance of their sum is that of correlated noise, not of independent noise.
    sums = [float(sum(values, start=Fraction(0))) - 517 for values in drawn]
    ratio = sum(value**2 for value in sums) / runs / float(noise.total_variance())
    chance = stats.chi2.cdf(ratio * runs, runs)
    assert FALSE_ALARM < chance < 1 - FALSE_ALARM
    independent = ratio * float(noise.total_variance() / (3 * noise.variance))
    assert stats.chi2.sf(independent * runs, runs) < FALSE_ALARM


def test_the_event_is_written_and_read() -> None:
    event = CorrelatedNoise(10, 4, "5/2", "1/3")
    assert encode_event(event) == {
        "kind": "correlated_noise", "version": 1, "items": 10, "max_items": 4, "sigma": "5/2", "shared_sigma": "1/3",
    }  # fmt: skip
    assert decode_event(encode_event(event)) == event
    assert event.epsilon is None
    assert event.delta == 0
    assert event.renyi(3) >= 3 * event.rho


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda: CorrelatedNoise(0, 1, 1, 1), "items=0 is not valid. Allowed: an integer, 1 or more."),
        (lambda: CorrelatedNoise(2, 3, 1, 1), "max_items=3 is not valid. Allowed: an integer from 1 to items=2."),
        (lambda: CorrelatedNoise(2, 2, 0, 1), "sigma=0 is not valid. Allowed: a number above 0."),
        (lambda: CorrelatedNoise(2, 2, 1, -1), "shared_sigma=-1 is not valid. Allowed: a number, 0 or more."),
        (lambda: MeasureTogether(0), "sigma=0 is not valid. Allowed: a number above 0."),
        (lambda: MeasureTogether(1, items=2).events(3), "items=3 is not valid. Allowed: an integer from 1 to 2."),
        (
            lambda: MeasureTogether(1).release(HISTOGRAM, ["a", "a"]),
            "items=('a', 'a') is not valid. Allowed: distinct items. Each measurement is paid for.",
        ),
        (
            lambda: CorrelatedCounts.within(2, 1).measure([1]),
            "counts='1 counts' is not valid. Allowed: 2, one for each item.",
        ),
        (
            lambda: MeasureTogether(1).intervals(MeasureCounts(sigma=1).release(HISTOGRAM, ["a"])),
            "measured='a release of MeasureCounts' is not valid. Allowed: what MeasureTogether.release returned.",
        ),
    ],
)
def test_mistakes(mistake: object, text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        mistake()  # type: ignore[operator]
    assert str(caught.value) == text


# Sums of contributions.


@pytest.mark.parametrize("most", [None, 1, 2])
def test_sums_have_the_noise_of_counts_in_units_of_the_clip(most: int | None) -> None:
    plain, wide = (MeasureTogether(3, max_items_per_user=most, clip=clip) for clip in (1, 50))
    counts, sums = plain.noise_for(4), wide.noise_for(4)
    assert (sums.sigma, sums.shared_sigma) == (50 * counts.sigma, 50 * counts.shared_sigma)
    assert sums.variance == 2500 * counts.variance
    assert sums.event == counts.event
    assert wide.worst_case(4) == plain.worst_case(4)
    assert abs(sums.margin() - 50 * counts.margin()) <= 50
    assert CorrelatedCounts.from_parameters(sums.parameters) == sums
    assert "count_clip" not in counts.parameters
    assert sums.parameters["count_clip"] == "50"


def test_a_release_of_sums_says_its_clip_and_has_intervals_in_units() -> None:
    step = MeasureTogether(3, clip=50)
    measured = step.release(Histogram({"a": 90_000, "b": 70_000}), ["a", "b"])
    assert measured.parameters["clip"] == measured.parameters["count_clip"] == "50"
    for interval, true in zip(step.intervals(measured, confidence="0.999999999999"), (90_000, 70_000), strict=True):
        assert interval.low <= true <= interval.high
        assert 1_000 < interval.high - interval.low < 5_000

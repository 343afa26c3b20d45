"""Every receipt against a meter: what was read went into noise, and what the noise in fact cost is what was paid.

The meter does not ask a mechanism what it costs. It writes down scales, winners and thresholds where noise is drawn,
and prices them by theorems of its own (``tests.metering``). So an event that is missing, or too small, shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from tests.support.measures import AmountsTable
from tests.support.metering.cases import CASES, COUNTED, COUNTS, KNOWN, LARGE, ROWS, Case
from tests.support.metering.meter import Meter
from tests.support.metering.prices import Due, Facts, check_links, check_receipt, due

from podium.estimates import MeasureCounts, MeasureTogether
from podium.histogram import Histogram
from podium.mechanisms import (
    ExponentialTopK,
    ExponentialWithGap,
    FixedThreshold,
    LimitedDomain,
    MeasuredTopK,
    OneshotLaplace,
    PayWhatYouGet,
    PrivateKBar,
    SparseVector,
    TestedTopK,
    exponential,
)
from podium.mechanisms.catalogue import catalogue
from podium.privacy import CorrelatedNoise, actual_cost, worst_case
from podium.privacy.theorems.adaptive_optimum import scheduled_optimum
from podium.privacy.theorems.correlated import correlated_move
from podium.randomness.replay import ReplayableBits
from podium.release import Release


def _metered(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Release], seed: int = 1) -> tuple[Meter, Release]:
    meter = Meter.install(monkeypatch, seed=seed, histograms=True)
    return meter, run()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{type(case.mechanism).__name__}")
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_paid_is_what_was_drawn(case: Case, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    meter, release = _metered(monkeypatch, lambda: case.mechanism.release(case.data), seed)
    owed = due(meter, case.facts)
    assert owed
    check_receipt(release.paid, owed)
    check_links(meter, case.facts)
    assert actual_cost(release.paid.events) <= worst_case(case.mechanism.worst_case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{type(case.mechanism).__name__}")
def test_a_worst_case_is_due_in_full_to_the_last_place(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run costs more than what is reserved, and the promise is that of what is reserved."""
    meter, release = _metered(monkeypatch, lambda: case.mechanism.release(case.data), 3)
    reserved = worst_case(case.mechanism.worst_case)
    exact = [owing for owing in due(meter, case.facts) if isinstance(owing.rho, Fraction)]
    assert sum((owing.rho for owing in exact), start=Fraction(0)) <= reserved.rho
    assert release.guarantee == case.mechanism.guarantee
    assert release.guarantee.cost == reserved


def test_every_mechanism_of_the_catalogue_is_metered() -> None:
    metered = {type(case.mechanism).__name__ for case in CASES}
    alone = {
        "AdaptiveTopK", "FixedThreshold", "MeasuredTopK", "PayWhatYouGet", "RefinedTopK", "SizedKnownTopK", "SizedTopK",
        "SparseVector", "TestedTopK",
    }  # fmt: skip
    assert metered | alone == {described.name for described in catalogue()}


def _amounts(table: Any) -> Any:
    """A table that a mechanism clips before it reads sums."""
    return AmountsTable(table)


@pytest.mark.parametrize("clip", [1, 5, 64])
def test_noise_on_sums_is_as_wide_as_the_clip(clip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was drawn, against what the events of the receipt say for contributions of at most the clip."""
    table = [{"a": 20, "b": 9}] * 900 + [{"b": 6, "d": 1}] * 300
    mechanism = MeasuredTopK(2, clip=clip, epsilon_per_item="1/3", delta="1/100", k_bar=4, mu_squared_for_values="1/2")
    meter, release = _metered(monkeypatch, lambda: mechanism.release(_amounts(table)))
    raced, measured = meter.draws
    assert (raced.what, raced.given["scale"]) == ("race", 3 * clip)
    own, shared = (Fraction(measured.given[name]) / clip for name in ("scale", "shared_scale"))
    noise = release.paid.events[-1]
    assert isinstance(noise, CorrelatedNoise)
    assert (noise.sigma, noise.shared_sigma) == (own, shared)
    assert correlated_move(2, 2, own**2, shared**2) <= Fraction(1, 2)
    # A user who adds the clip to both sums moves them by this much in units of the noise.
    assert noise.rho >= correlated_move(2, 2, own**2, shared**2) / 2


def test_the_histograms_of_a_clip_have_the_noise_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = MeasuredTopK(2, rho_clip="1/8", epsilon_per_item="1/3", delta="1/100", k_bar=4)
    meter, release = _metered(monkeypatch, lambda: mechanism.release(_amounts([{"a": 3}])))
    chosen = meter.draws[0]
    # Each user moves each of two histograms by at most 1 in length.
    assert 2 / (2 * Fraction(chosen.given["scale"]) ** 2) <= Fraction(1, 8)
    assert worst_case(release.paid.events[:1]).rho <= Fraction(1, 8)


def test_a_private_k_bar_is_one_selection_more(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = LimitedDomain(2, PrivateKBar(4), "1/3", "1/100")
    meter, release = _metered(monkeypatch, lambda: mechanism.release(ROWS))
    facts = Facts(changing=int(release.parameters["chosen_k_bar"]))
    assert [draw.what for draw in meter.draws] == ["choose_k_bar", "race"]
    check_receipt(release.paid, due(meter, facts))
    check_links(meter, facts)


@pytest.mark.parametrize("k", [2, 4])
def test_a_fixed_threshold_pays_for_every_place(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    meter, release = _metered(monkeypatch, lambda: FixedThreshold(k, "1/3", "1/100").release(ROWS))
    (draw,), (read,) = meter.draws, meter.reads
    *counts, after = read.numbers
    margins = {count - lead - after for count, lead in zip(counts, draw.given["values"], strict=True)}
    assert len(margins) == 1
    epsilon = 1 / Fraction(draw.given["scale"])
    exponent = (margins.pop() - 1) * epsilon
    # The chance that noise alone lifts a count that is one above the next over the margin.
    delta = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator) / 2
    owing = Due(kind="ApproximateMechanism", epsilon=epsilon, rho=epsilon**2 / 2, delta=delta)
    check_receipt(release.paid, [owing] * k)


def test_the_approximate_set_has_the_scale_of_its_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = OneshotLaplace(3, "1/5", delta="1/100")
    meter, release = _metered(monkeypatch, lambda: mechanism.release(LARGE))
    (draw,) = meter.draws
    scale = Fraction(draw.given["scale"])
    epsilon = 8 * mpmath.sqrt(3 * mpmath.log(1000 * 100)) * scale.denominator / scale.numerator
    owing = Due(kind="ApproximateMechanism", epsilon=epsilon, rho=epsilon**2 / 2, delta=Fraction(1, 100))
    check_receipt(release.paid, [owing])


@pytest.mark.parametrize(("delta", "size"), [("0", 6), ("1/100", 6)])
def test_values_of_a_set_are_paid_anew(delta: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = OneshotLaplace(3, "1/5", delta=delta)
    chosen = mechanism.release(KNOWN, bits=ReplayableBits(1))
    meter, release = _metered(monkeypatch, lambda: mechanism.measure(chosen, KNOWN))
    check_receipt(release.paid, due(meter))
    check_links(meter)
    assert len(release.paid.events) == 3


@pytest.mark.parametrize("measure", [MeasureCounts(sigma="7/3"), MeasureCounts(epsilon_per_item="1/5")])
@pytest.mark.parametrize("data", [KNOWN, ROWS])
def test_counts_are_paid_one_by_one(measure: MeasureCounts, data: Histogram, monkeypatch: pytest.MonkeyPatch) -> None:
    meter, release = _metered(monkeypatch, lambda: measure.release(data, ["a", "c"]))
    check_receipt(release.paid, due(meter))
    check_links(meter)
    assert release.paid.events == measure.events(2)


@pytest.mark.parametrize(
    ("measure", "facts"),
    [
        (MeasureTogether("7/3"), COUNTED),
        (MeasureTogether("7/3", items=5), COUNTED),
        (MeasureTogether("7/3", max_items_per_user=2), Facts(changing=2)),
        (MeasureTogether("7/3", max_items_per_user=1), Facts(changing=1)),
    ],
)
@pytest.mark.parametrize("data", [KNOWN, ROWS])
def test_counts_that_are_measured_together_are_paid_together(
    measure: MeasureTogether, facts: Facts, data: Histogram, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter, release = _metered(monkeypatch, lambda: measure.release(data, ["a", "c", "b"]))
    (draw,) = meter.draws
    # One user in one count, where nothing is shared, is noise as in any other place.
    assert (draw.what, draw.given["shared_scale"] == 0) == ("correlated_values", measure.max_items_per_user == 1)
    check_receipt(release.paid, due(meter, facts))
    check_links(meter)
    assert release.paid.events == measure.events(3)


def test_a_gap_around_a_black_box_makes_its_selection_a_pure_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, box = ExponentialWithGap("1/3"), ExponentialTopK(1, "1/3")
    meter, release = _metered(
        monkeypatch, lambda: mechanism.release_around(lambda data: box.release(data).items[0], KNOWN)
    )
    selection, gap = meter.draws
    assert (selection.what, gap.what) == ("race", "ExponentialWithGap.gap_of")
    assert gap.given["winner"] == release.items[0]
    check_receipt(release.paid, [_pure(1 / Fraction(selection.given["scale"]))])


def _pure(epsilon: Fraction, reserved: Fraction | None = None) -> Due:
    return Due(kind="PureMechanism", epsilon=epsilon, rho=(reserved or epsilon) ** 2 / 2)


@pytest.mark.parametrize("noise", ["exponential", "laplace", "geometric"])
@pytest.mark.parametrize(("branches", "monotone"), [(1, True), (2, True), (3, False)])
def test_a_sparse_vector_pays_for_its_threshold_and_for_what_it_finds(
    noise: str, branches: int, monotone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = SparseVector(30, 2, 3, branches=branches, noise=noise, monotone=monotone)  # type: ignore[arg-type]
    meter, release = _metered(monkeypatch, lambda: mechanism.release(KNOWN))
    scales = [
        1 / Fraction(draw.given["epsilon"]) if noise == "geometric" else Fraction(draw.given["scale"])
        for draw in meter.draws
    ]
    assert {draw.what for draw in meter.draws} == {"geometric" if noise == "geometric" else "NoisyNumber"}
    # The first test of the first query is that of the last branch: each one before it has half the noise.
    widest, span = scales[1], 1 if monotone else 2
    price = {branch: span / (widest / 2 ** (branches - branch)) for branch in range(1, branches + 1)}
    assert {span / scale for scale in scales[1:]} <= set(price.values())
    threshold = 1 / scales[0]
    found: tuple[Any, ...] = release.items
    paid = threshold + sum((price[branch] for _, branch in found), start=Fraction(0))
    check_receipt(release.paid, [_pure(paid, threshold + 2 * price[1])])
    assert found
    assert len(scales) - 1 <= branches * len(COUNTS)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("apart", [1, 60])
def test_a_test_and_what_follows_keep_the_whole(
    seed: int, delta: str, apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {item: 600 - apart * item for item in range(9)}
    mechanism = TestedTopK(3, 1, delta=delta)
    meter, release = _metered(monkeypatch, lambda: mechanism.release(Histogram(counts)), seed)
    test, *chosen = meter.draws
    assert test.what == "choose"
    # One user who has the three best, and nobody else, moves every gap of the test by one: what that does to its odds.
    more = mechanism.log_odds(Histogram({item: count + (item < 3) for item, count in counts.items()}))
    moved = (more - Fraction(test.given["scores"][0])) * Fraction(test.given["rate"])
    ways = {draw.what for draw in chosen}
    if ways == {"SubsetSampler.draw"} or delta == "0":
        rest = due(replace(meter, log=[entry for entry in meter.log if entry is not test]))
        epsilon = moved + sum((owing.epsilon for owing in rest), start=Fraction(0))
    else:
        steps = [1 / Fraction(draw.given["scale"]) for draw in chosen for _ in draw.result.groups]
        unit = steps[0] / 4
        factors = [int(step / unit) for step in steps]
        assert [factor * unit for factor in factors] == steps
        reached = scheduled_optimum(unit, tuple(factors), Fraction(delta), resolution=40, test=moved)
        assert Fraction(9, 10) < reached <= 1
        epsilon = Fraction(1)
    kind = "PureMechanism" if delta == "0" else "ApproximateMechanism"
    check_receipt(release.paid, [Due(kind=kind, epsilon=epsilon, rho=epsilon**2 / 2, delta=Fraction(delta))])
    assert epsilon == 1


def test_a_plan_pays_what_its_calls_drew(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PayWhatYouGet(7, 3, "1/3", "1/100")
    meter = Meter.install(monkeypatch, histograms=True)
    for k in (2, 3):
        plan.top(ROWS, k=k, k_bar=4)
    owed = due(meter, Facts(changing=4))
    check_receipt(plan.paid, owed)
    check_links(meter, Facts(changing=4))
    assert plan.remaining == (7 - (len(owed) - 2), 1)


def test_the_meter_sees_bits_that_nobody_accounts_for(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter.install(monkeypatch)
    vars(exponential)["system_bits"]().words(2)
    with pytest.raises(AssertionError, match="bits past the meter has no price"):
        due(meter)

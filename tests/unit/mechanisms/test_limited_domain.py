"""LimitedDomain: the examples of the formulas, receipts, refusals word for word."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from scipy import integrate
from tests.support.refusals import refusal

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.laplace import laplace_cost
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.privacy.events import ApproximateMechanism, BottomEvent, LimitedDomainCall, Selection
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM, Release

HALF = Fraction(1, 2)
EXAMPLE = Histogram({"a": 5, "b": 3, "c": 2, "d": 1})
CLIFF = Histogram(dict(zip("abcdef", (9, 8, 8, 3, 1, 0), strict=True)))
CLEAR = Histogram({"a": 900, "b": 600, "c": 300}, known=False)


def test_the_example_of_the_formulas() -> None:
    distribution = LimitedDomain(2, 3, "0.5", "0.01").distribution(EXAMPLE)
    assert distribution[(BOTTOM,)] == pytest.approx(0.976783769692097, abs=1e-15)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)
    assert set(distribution) >= {("a", "b"), ("a", BOTTOM)}


def test_the_example_of_the_private_k_bar() -> None:
    mechanism = LimitedDomain(2, PrivateKBar(4), "0.5", "0.01")
    assert mechanism.k_bar_distribution(CLIFF)[3] == pytest.approx(0.316271651195076, abs=1e-15)
    assert sum(mechanism.k_bar_distribution(CLIFF).values()) == pytest.approx(1, abs=1e-14)


def test_the_private_k_bar_minimises_the_noisy_threshold() -> None:
    """The weights e^(-eps h_(i+1))/i are those of the scores -(h_(i+1) + 1 + ln(i/delta)/eps)."""
    counts, epsilon, delta = (9, 8, 8, 3, 1, 0), 0.5, 0.01
    scores = {i: -(counts[i] + 1 + math.log(i / delta) / epsilon) for i in range(2, 5)}
    total = sum(math.exp(epsilon * score) for score in scores.values())
    expected = {i: math.exp(epsilon * score) / total for i, score in scores.items()}
    found = LimitedDomain(2, PrivateKBar(4), "0.5", "0.01").k_bar_distribution(CLIFF)
    assert found == pytest.approx(expected, abs=1e-14)
    assert LimitedDomain(2, 3, 1, "0.01").k_bar_distribution(CLIFF) == {3: 1.0}


def test_the_distribution_with_a_private_k_bar_mixes_the_distributions_at_each_k_bar() -> None:
    mechanism = LimitedDomain(2, PrivateKBar(7), "0.5", "0.01", max_items_per_user=3)
    mixed: dict[Any, float] = {}
    for k_bar, chance in mechanism.k_bar_distribution(CLIFF).items():
        inner = LimitedDomain(2, k_bar, "0.5", "0.01", max_items_per_user=3).distribution(CLIFF)
        for outcome, probability in inner.items():
            mixed[outcome] = mixed.get(outcome, 0.0) + chance * probability
    assert mechanism.distribution(CLIFF) == pytest.approx(mixed, rel=1e-12)


@pytest.mark.parametrize(
    ("max_items", "strict", "changing"), [(None, False, 3), (2, False, 2), (9, False, 3), (2, True, 3)]
)
def test_the_margin_of_bottom(max_items: int | None, strict: bool, changing: int) -> None:
    mechanism = LimitedDomain(2, 3, "0.5", "0.01", max_items_per_user=max_items, strict=strict)
    assert float(mechanism.margin) == pytest.approx(1 + math.log(changing / 0.01) / 0.5, abs=1e-15)
    assert (1 << 64) % mechanism.margin.denominator == 0
    assert LimitedDomain(2, PrivateKBar(3), "0.5", "0.01", max_items_per_user=max_items, strict=strict).margin == (
        mechanism.margin
    )


def test_the_strict_domain_leaves_out_what_ties_with_the_next_count() -> None:
    tied = Histogram({"a": 3, "b": 2, "c": 2, "d": 2}, known=False)
    strict = LimitedDomain(2, 2, "0.5", "0.01", strict=True).distribution(tied)
    assert set(strict) == {(BOTTOM,), ("a", BOTTOM)}
    assert ("a", "b") in LimitedDomain(2, 2, "0.5", "0.01").distribution(tied)


@pytest.mark.parametrize("noise", ["gumbel", "laplace"])
@pytest.mark.parametrize("counts", [{}, {"a": 0, "b": 0}, {"a": 1}, {"a": 4, "b": 4, "c": 4, "d": 4}])
def test_few_items_none_and_ties_are_ordinary_inputs(counts: Mapping[str, int], noise: Any) -> None:
    mechanism = LimitedDomain(2, 3, "0.5", "0.01", max_items_per_user=2, noise=noise)
    histogram = Histogram(counts, known=False)
    distribution = mechanism.distribution(histogram)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-12)
    assert mechanism.release(histogram, bits=ReplayableBits(1)).outcome in distribution
    if not any(counts.values()):
        assert distribution == {(BOTTOM,): 1.0}


def test_each_symbol_is_paid_for() -> None:
    mechanism = LimitedDomain(2, 3, "0.5", "0.01")
    full = mechanism.release(CLEAR, bits=ReplayableBits(1))
    assert full.outcome == ("a", "b")
    assert full.paid.events == (LimitedDomainCall("0.01"), Selection(HALF), Selection(HALF))
    assert full.complete
    empty = mechanism.release(Histogram({}, known=False), bits=ReplayableBits(1))
    assert empty.outcome == (BOTTOM,)
    assert empty.paid.events == (LimitedDomainCall("0.01"), BottomEvent(HALF))
    assert (empty.items, empty.complete) == ((), False)
    assert empty.paid.epsilon == HALF
    assert full.guarantee == empty.guarantee == mechanism.guarantee
    assert mechanism.guarantee.cost.epsilon == 1
    assert mechanism.guarantee.cost.delta == Fraction(1, 101)


def test_a_private_k_bar_pays_one_selection_more_and_is_released() -> None:
    mechanism = LimitedDomain(2, PrivateKBar(10), "0.5", "0.01")
    full = mechanism.release(CLEAR, bits=ReplayableBits(1))
    assert full.outcome == ("a", "b")
    assert full.paid.events == (LimitedDomainCall("0.01"), *[Selection(HALF)] * 3)
    assert 2 <= int(full.parameters["chosen_k_bar"]) <= 10
    assert full.parameters["k_bar"] == "PrivateKBar(limit=10)"
    assert full.theorem == "Durfee & Rogers 2019, Lemma 6.8 with k+1 selections (private k_bar)"
    assert mechanism.guarantee.cost.epsilon == Fraction(3, 2)
    empty = mechanism.release(Histogram({}, known=False), bits=ReplayableBits(1))
    assert empty.paid.events == (LimitedDomainCall("0.01"), Selection(HALF), BottomEvent(HALF))
    assert Release.from_json(full.to_json()) == full


def test_a_private_k_bar_may_have_a_limit_of_a_million() -> None:
    long_tail = Histogram({i: 3000 // (i + 1) + 1 for i in range(20_000)}, known=False)
    mechanism = LimitedDomain(5, PrivateKBar(10**6), 1, "1e-6")
    release = mechanism.release(long_tail, bits=ReplayableBits(3))
    assert release.items == (0, 1, 2, 3, 4)


def test_laplace_releases_counts_on_a_grid() -> None:
    mechanism = LimitedDomain(2, 3, "0.5", "1e-6", max_items_per_user=2, noise="laplace")
    release = mechanism.release(CLEAR, bits=ReplayableBits(1))
    assert release.outcome == ("a", "b")
    assert release.value_kind == "counts"
    assert release.values is not None
    assert all((1 << 20) % value.denominator == 0 for value in release.values)
    assert [float(value) for value in release.values] == pytest.approx([900, 600], abs=40)
    assert release.paid.events == mechanism.worst_case
    empty = mechanism.release(Histogram({}, known=False), bits=ReplayableBits(1))
    assert (empty.outcome, empty.values) == ((BOTTOM,), ())
    assert Release.from_json(release.to_json()) == release


def test_the_cost_of_laplace_noise() -> None:
    (event,) = LimitedDomain(2, 3, "0.5", "1e-6", max_items_per_user=2, noise="laplace").worst_case
    assert isinstance(event, ApproximateMechanism)
    assert event.epsilon == 1
    expected = (math.e + 1) * 1e-6 / 4 * (2 + math.log(2e6))
    assert float(event.delta) == pytest.approx(expected, rel=1e-14)
    assert event == laplace_cost(2, HALF, Fraction(1, 10**6))


def test_an_item_that_only_one_neighbour_has_passes_with_dbar() -> None:
    """P(Lap - Lap > ln(1/delta)) = (delta/4)(2 + ln(1/delta)): the exact 2, not the paper's 3."""
    mechanism = LimitedDomain(1, 1, "0.5", "0.01", max_items_per_user=1, noise="laplace")
    found = mechanism.distribution(Histogram({"a": 1}))[("a",)]
    assert found == pytest.approx(0.01 / 4 * (2 + math.log(100)), rel=1e-12)


def test_the_laplace_distribution_against_quadrature() -> None:
    mechanism = LimitedDomain(1, 2, "0.5", "0.1", max_items_per_user=1, noise="laplace")
    histogram = Histogram({"a": 5, "b": 4, "c": 1})
    scores = {"a": 5.0, "b": 4.0, BOTTOM: 1 + float(mechanism.margin)}

    def win(item: object) -> float:
        def integrand(x: float) -> float:
            product = 0.25 * math.exp(-abs(x - scores[item]) / 2)
            for other, score in scores.items():
                if other is not item:
                    product *= laplace_cdf((x - score) / 2)
            return product

        return float(integrate.quad(integrand, -60, 80, limit=400, points=sorted(scores.values()))[0])

    distribution = mechanism.distribution(histogram)
    assert distribution == pytest.approx({(item,): win(item) for item in scores}, abs=1e-9)


def laplace_cdf(x: float) -> float:
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def test_the_density_integrates_to_the_distribution() -> None:
    mechanism = LimitedDomain(2, 2, "0.5", "0.1", max_items_per_user=2, noise="laplace")
    histogram = Histogram({"a": 5, "b": 4, "c": 1})
    distribution = mechanism.distribution(histogram)
    assert mechanism.density(histogram, (BOTTOM,), ()) == pytest.approx(distribution[(BOTTOM,)], rel=1e-12)
    cuts = sorted({-30.0, -10.0, 4.0, 5.0, 1 + float(mechanism.margin), 20.0, 35.0, 60.0})

    def density(x: float) -> float:
        return mechanism.density(histogram, ("a", BOTTOM), (Fraction(x),))

    single = math.fsum(integrate.quad(density, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(cuts))
    assert single == pytest.approx(distribution["a", BOTTOM], rel=1e-6)


def test_the_density_of_what_cannot_happen_is_zero() -> None:
    mechanism = LimitedDomain(2, 2, "0.5", "0.1", max_items_per_user=2, noise="laplace")
    histogram = Histogram({"a": 5, "b": 4, "c": 1})
    assert mechanism.density(histogram, ("a", "b"), (4, 5)) == 0.0
    assert mechanism.density(histogram, ("a", "c"), (5, 4)) == 0.0
    assert mechanism.density(histogram, ("a", "a"), (5, 4)) == 0.0
    assert mechanism.density(histogram, ("a",), (5,)) == 0.0
    assert mechanism.density(histogram, ("a", "b", BOTTOM), (5, 4)) == 0.0
    ball = mechanism.density(histogram, ("a", "b"), (5, 4), exact=True)
    assert float(ball.mid()) == mechanism.density(histogram, ("a", "b"), (5, 4)) > 0


VALID: dict[str, Any] = {"k": 2, "k_bar": 3, "epsilon_per_item": "0.5", "delta": "0.01"}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
        ({"k": 2.0}, "k=2.0 is not valid. Allowed: an integer, 1 or more."),
        (
            {"k_bar": 1},
            "k_bar=1 is not valid. Allowed: an integer, k=2 or more. Ask for fewer items or read more rows.",
        ),
        (
            {"k_bar": PrivateKBar(1)},
            (
                "k_bar=PrivateKBar(limit=1) is not valid. Allowed: an integer, k=2 or more. "
                "Ask for fewer items or read more rows."
            ),
        ),
        ({"epsilon_per_item": 0}, "epsilon_per_item=0 is not valid. Allowed: a number above 0."),
        (
            {"delta": 0},
            (
                "delta=0 is not valid. Allowed: a number with 0 < value < 1. "
                "An unknown domain cannot be private with delta=0."
            ),
        ),
        (
            {"delta": 1},
            (
                "delta=1 is not valid. Allowed: a number with 0 < value < 1. "
                "An unknown domain cannot be private with delta=0."
            ),
        ),
        ({"max_items_per_user": 0}, "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more."),
        ({"noise": "gaussian"}, "noise='gaussian' is not valid. Allowed: 'gumbel' or 'laplace'."),
        ({"strict": 1}, "strict=1 is not valid. Allowed: True or False."),
        (
            {"noise": "laplace"},
            (
                "max_items_per_user=None is not valid. Allowed: an integer from 1 to k_bar=3 where "
                "noise='laplace'. Bound the items of each user, or use noise='gumbel', which needs no bound."
            ),
        ),
        (
            {"noise": "laplace", "max_items_per_user": 4},
            (
                "max_items_per_user=4 is not valid. Allowed: an integer from 1 to k_bar=3 where "
                "noise='laplace'. Bound the items of each user, or use noise='gumbel', which needs no bound."
            ),
        ),
        (
            {"noise": "laplace", "max_items_per_user": 1, "strict": True},
            (
                "strict=True is not valid. Allowed: a plain k_bar and strict=False "
                "where noise='laplace'. Use noise='gumbel'."
            ),
        ),
        (
            {"noise": "laplace", "max_items_per_user": 1, "k_bar": PrivateKBar(3)},
            (
                "k_bar=PrivateKBar(limit=3) is not valid. Allowed: a plain k_bar and strict=False "
                "where noise='laplace'. Use noise='gumbel'."
            ),
        ),
        ({"clip": 0}, "clip=0 is not valid. Allowed: an integer, 1 or more."),
        ({"clip": 2.0}, "clip=2.0 is not valid. Allowed: an integer, 1 or more."),
        (
            {"noise": "laplace", "max_items_per_user": 1, "clip": 2},
            "clip=2 is not valid. Allowed: 1 where noise='laplace'. Use noise='gumbel'.",
        ),
        (
            {"noise": "laplace", "max_items_per_user": 3, "epsilon_per_item": 5},
            (
                "delta='1/100' is not valid. Allowed: so small that (e^(max_items_per_user * epsilon_per_item) + 1) "
                "times it stays far below 1. "
                "Lower delta, max_items_per_user or epsilon_per_item, or use noise='gumbel'."
            ),
        ),
    ],
)
def test_what_is_refused(changes: dict[str, Any], text: str) -> None:
    assert refusal(lambda: LimitedDomain(**{**VALID, **changes})) == text


def test_a_limit_must_be_a_positive_whole_number() -> None:
    with pytest.raises(InvalidArgument) as caught:
        PrivateKBar(0)
    assert str(caught.value) == "limit=0 is not valid. Allowed: an integer, 1 or more."


def test_a_density_needs_laplace_noise_and_a_value_per_item() -> None:
    with pytest.raises(InvalidArgument) as caught:
        LimitedDomain(2, 3, "0.5", "0.01").density(EXAMPLE, ("a", "b"), (5, 4))
    assert str(caught.value) == "noise='gumbel' is not valid. Allowed: 'laplace' where values are asked for."
    mechanism = LimitedDomain(2, 3, "0.5", "0.01", max_items_per_user=1, noise="laplace")
    with pytest.raises(InvalidArgument) as caught:
        mechanism.density(EXAMPLE, ("a", BOTTOM), (5, 4))
    assert str(caught.value) == "values=(5, 4) is not valid. Allowed: one value for each item of the outcome."


def test_the_theorem_is_that_of_the_variant() -> None:
    assert LimitedDomain(1, 2, 1, "0.01").release(EXAMPLE).theorem == LimitedDomain.theorem
    strict = LimitedDomain(1, 2, 1, "0.01", strict=True).release(EXAMPLE)
    assert strict.theorem == "Durfee & Rogers 2019, Lemma 6.6 (strictly limited domain)"
    laplace = LimitedDomain(1, 2, 1, "0.01", max_items_per_user=1, noise="laplace").release(EXAMPLE)
    assert laplace.theorem == "Durfee & Rogers 2019, Lemma 6.1 with the threshold 1 + ln(Delta/delta)/epsilon"


# Sums of contributions.


def test_the_example_of_sums() -> None:
    """FORMULAS: c=4, no bound on items."""
    mechanism = LimitedDomain(2, 3, "1/2", "1/100", clip=4)
    assert float(2 + mechanism.margin) == pytest.approx(51.63025979724961, rel=1e-15)
    distribution = mechanism.distribution(Histogram({0: 11, 1: 7, 2: 5, 3: 2}, known=False))
    expected = {
        (BOTTOM,): 0.9872191602644637,
        (0, BOTTOM): 0.006106863116617032,
        (1, BOTTOM): 0.003695006174795241,
        (2, BOTTOM): 0.002875293207150227,
        (0, 1): 2.306660831228482e-5,
        (1, 0): 2.301060116249436e-5,
        (0, 2): 1.796429261640880e-5,
        (2, 0): 1.790584970230247e-5,
        (1, 2): 1.086943834762585e-5,
        (2, 1): 1.086044683265278e-5,
    }
    assert distribution == pytest.approx(expected, rel=1e-14)


def test_the_example_of_signed_sums() -> None:
    """Contributions from -4 to 6: the span is 10, and a sum of -5 counts as 0."""
    mechanism = LimitedDomain(1, 2, "1/2", "1/100", clip=10)
    assert float(3 + mechanism.margin) == pytest.approx(118.9663473309607, rel=1e-15)
    distribution = mechanism.distribution(Histogram({0: 40, 1: 22, 2: 3, 3: 0}, known=False))
    expected = {(0,): 0.01877771292722011, (1,): 0.007634448355526528, (BOTTOM,): 0.9735878387172534}
    assert distribution == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("k_bar", [3, PrivateKBar(3)])
def test_the_distribution_of_sums_is_that_of_sums_in_units_of_the_clip(k_bar: Any, strict: bool) -> None:
    sums = {"a": 9, "b": 6, "c": 3, "d": 3, "e": 1}
    wide, plain = (LimitedDomain(2, k_bar, "0.5", "0.05", strict=strict, clip=clip) for clip in (7, 1))
    scaled = Histogram({item: 7 * count for item, count in sums.items()}, known=False)
    assert wide.distribution(scaled) == pytest.approx(plain.distribution(Histogram(sums, known=False)), rel=1e-14)
    assert wide.margin == 7 * plain.margin
    assert wide.worst_case == plain.worst_case


def test_a_clip_is_in_the_receipt_and_a_count_reads_as_before() -> None:
    histogram = Histogram({"a": 900, "b": 6}, known=False)
    plain, wide = (LimitedDomain(1, 2, "0.5", "0.05", clip=clip).release(histogram) for clip in (1, 2))
    assert "clip" not in plain.parameters
    assert {**plain.parameters, "clip": "2"} == wide.parameters


def test_sums_up_to_2_to_the_62_with_a_clip_of_2_to_the_31() -> None:
    mechanism = LimitedDomain(1, 2, "0.5", "1e-6", clip=2**31)
    assert mechanism.release(Histogram({"a": 2**62, "b": 2**61}, known=False)).items == ("a",)
    assert mechanism.release(Histogram({"a": 2**31, "b": 2**31}, known=False)).items == ()

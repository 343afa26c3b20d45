"""Margins come from the law of the noise, wherever the release says it; and names are made safe to print."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.pictures import made

from podium import Histogram
from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts
from podium.mechanisms import OneshotLaplace
from podium.present.intervals import margin_of
from podium.present.text.names import clip, printable
from podium.present.text.release_text import mechanism_text, release_text
from podium.privacy import GaussianNoise, LaplaceNoise, Selection
from podium.release import Receipt

NINE: dict[str, Any] = {"values": (Fraction(9),), "value_kind": "counts"}


def test_a_measurement_knows_its_own_law() -> None:
    counts = Histogram({"a": 900, "b": 600})
    for step in (MeasureCounts(sigma="12.5"), MeasureCounts(epsilon_per_item="1/3")):
        margin = margin_of(step.release(counts, ["a", "b"]), confidence="0.9")
        assert margin is not None
        assert (margin.width, margin.confidence, margin.fresh) == (Fraction(step.margin("0.9")), Fraction(9, 10), True)


def test_the_law_is_found_in_the_receipt_or_in_the_parameters() -> None:
    paid = (Selection("1/10"), LaplaceNoise("1/20", discrete=True))
    in_receipt = margin_of(made(("a",), paid=Receipt(paid), **NINE))
    parameters = {"noise": "gumbel", "count_noise": "laplace", "count_scale": "20"}
    told_again = margin_of(made(("a",), paid=Receipt(()), parameters=parameters, **NINE))
    assert in_receipt == told_again
    assert in_receipt is not None
    assert in_receipt.width == MeasureCounts(epsilon_per_item="1/20").margin("0.95")
    assert in_receipt.law == "discrete Laplace, scale 20"


@pytest.mark.parametrize(
    "paid",
    [
        (),
        (LaplaceNoise("1/20"),),
        (GaussianNoise(5, sensitivity_squared=4, discrete=True),),
        (GaussianNoise(5, discrete=True), GaussianNoise(6, discrete=True)),
    ],
)
def test_where_the_law_is_not_certain_there_is_no_margin(paid: tuple[LaplaceNoise, ...]) -> None:
    assert margin_of(made(("a",), paid=Receipt(paid), **NINE)) is None


def test_values_of_scores_have_no_margin() -> None:
    mechanism = OneshotLaplace(1, 5)
    counts = Histogram({"a": 900, "b": 600})
    assert margin_of(mechanism.measure(mechanism.release(counts), counts)) is None
    assert margin_of(made(("a",))) is None
    assert margin_of(made(("a",), values=(Fraction(1),), value_kind="gaps")) is None


def test_laplace_noise_of_the_selection() -> None:
    parameters = {"noise": "laplace", "epsilon_per_item": "1/7"}
    margin = margin_of(made(("a",), parameters=parameters, **NINE), confidence="0.99")
    assert margin is not None
    assert not margin.fresh
    # |Laplace(b)| exceeds b ln(100) with probability 0.01; the value was rounded down by at most 2^-20.
    assert 0 <= float(margin.width) - 7 * math.log(100) <= 2 * 2**-20
    assert margin.around(Fraction(-100)) == (Fraction(0), Fraction(0))
    low, high = margin.around(Fraction(50))
    assert (high - 50, 50 - low) == (margin.width, margin.width)


def test_a_confidence_is_a_probability() -> None:
    with pytest.raises(InvalidArgument):
        margin_of(made(("a",), **NINE), confidence=95)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("plain", "plain"),
        (("DE", 3), "DE, 3"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[2J", r"'\x1b[2J'"),
        ("x\u202ey", r"'x\u202ey'"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        (7, "7"),
        (b"x", "b'x'"),
    ],
)
def test_names_are_printable(item: object, text: str) -> None:
    assert printable(item) == text


@pytest.mark.parametrize(
    ("text", "length", "clipped"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("two words", 5, "two…"),
        ("abce\u0301f", 5, "abc…"),
        ("abc", 1, "…"),
    ],
)
def test_clipping_keeps_letters_whole(text: str, length: int, clipped: str) -> None:
    assert clip(text, length) == clipped


def test_the_text_says_when_an_answer_was_free() -> None:
    assert "paid       nothing, because it was paid for before" in release_text(made(("a",), paid=Receipt(())))


def test_a_parameter_that_is_no_number_is_shown_as_it_is() -> None:
    release = made(("a",), parameters={"epsilon_per_item": "1/3", "path": "a/b", "strict": "None"})
    assert mechanism_text(release) == "LimitedDomain(epsilon_per_item=0.3334, path=a/b)"

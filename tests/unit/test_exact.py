"""Exact numbers: what callers write is what is meant, and rounding has a direction."""

from __future__ import annotations

import math
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidArgument
from podium.exact import (
    ball,
    ball_precision,
    dyadic_above,
    dyadic_below,
    exact_fraction,
    exact_integer,
    float_above,
    float_above_ball,
    float_below,
    positive_fraction,
    probability,
    rational_bounds,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (np.int32(-4), Fraction(-4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (Decimal("0.10"), Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        (" 2.5 ", Fraction(5, 2)),
        ("-3/9", Fraction(-1, 3)),
        (5e-324, Fraction(5, 10**324)),
    ],
)
def test_what_callers_write(value: Any, expected: Fraction) -> None:
    assert exact_fraction(value, "x") == expected


def test_a_budget_is_exactly_spendable() -> None:
    assert exact_fraction(0.1, "x") + exact_fraction(0.2, "x") == exact_fraction(0.3, "x")


@pytest.mark.parametrize(
    "value", [True, None, "", "a", "1/0", "1/x", "nan", math.nan, math.inf, Decimal("inf"), 1j, [1], "1e99999", b"1"]
)
def test_what_is_not_a_number(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^x="):
        exact_fraction(value, "x")


def test_ranges() -> None:
    assert probability(0, "delta", zero=True) == 0
    for call in (
        lambda: positive_fraction(0, "epsilon"),
        lambda: probability(0, "delta"),
        lambda: probability(1, "delta", zero=True),
        lambda: probability(-1, "delta", zero=True),
        lambda: exact_integer(3, "k", minimum=4),
        lambda: exact_integer("3", "k"),
        lambda: exact_integer(True, "k"),
        lambda: exact_integer(3.0, "k"),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_errors_survive_pickling_with_their_fields() -> None:
    with pytest.raises(InvalidArgument) as caught:
        probability("2", "delta", hint="Try 1e-6.")
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (str(copy), copy.name, copy.value, copy.hint) == (str(caught.value), "delta", "2", "Try 1e-6.")
    assert str(copy) == "delta='2' is not valid. Allowed: a number with 0 < value < 1. Try 1e-6."


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(InvalidArgument) as caught:
        exact_fraction("x" * 1000, "epsilon")
    assert len(str(caught.value)) < 250


@given(st.fractions(), st.integers(0, 80))
def test_rounding_has_a_direction(value: Fraction, bits: int) -> None:
    low, high = dyadic_below(value, bits), dyadic_above(value, bits)
    assert low <= value <= high
    assert high - low in {Fraction(0), Fraction(1, 1 << bits)}
    assert Fraction(float_below(value)) <= value <= Fraction(float_above(value))


def test_rounding_beyond_the_floats() -> None:
    huge, tiny = Fraction(10) ** 400, Fraction(1, 10**400)
    assert float_above(huge) == math.inf
    assert float_below(huge) == math.nextafter(math.inf, 0)
    assert float_below(-huge) == -math.inf
    assert float_above(tiny) == math.nextafter(0.0, 1.0)
    assert float_below(tiny) == 0.0


@given(
    st.fractions(), st.fractions(min_value=0), st.integers(-3000, 3000), st.integers(-3000, 3000),
    st.sampled_from([2, 53, 54, 128, 1200]),
)  # fmt: skip
def test_a_float_above_a_ball_is_the_float_above_its_end(
    middle: Fraction, width: Fraction, exponent: int, width_exponent: int, bits: int
) -> None:
    with ball_precision(bits):
        value = (ball(middle) * flint.arb(2) ** exponent).union(
            (ball(middle) + ball(width) * flint.arb(2) ** width_exponent) * flint.arb(2) ** exponent
        )
        exact = ball(middle) * flint.arb(2) ** exponent
    for one in (value, -value, exact, exact.mid(), flint.arb(0)):
        end = rational_bounds(one)[1]
        assert float_above_ball(one) == float_above(end) >= end


@pytest.mark.parametrize("value", [flint.arb("nan"), flint.arb("inf"), flint.arb(0, "inf")])
def test_a_float_above_a_ball_without_ends_is_refused(value: flint.arb) -> None:
    with pytest.raises(ArithmeticError, match="without finite ends"):
        float_above_ball(value)


@given(st.fractions(), st.integers(20, 200))
def test_rational_bounds_enclose(value: Fraction, bits: int) -> None:
    with ball_precision(bits):
        low, high = rational_bounds(ball(value))
    assert low <= value <= high


def test_infinite_balls_have_no_bounds() -> None:
    with pytest.raises(ArithmeticError):
        rational_bounds(flint.arb.pos_inf())


def test_precision_is_restored_and_owned_by_one_thread_at_a_time() -> None:
    before = flint.ctx.prec
    seen: list[bool] = []

    def work(bits: int) -> None:
        for _ in range(300):
            with ball_precision(bits):
                seen.append(flint.ctx.prec == bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 99, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(seen)
    assert flint.ctx.prec == before


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_too_long_to_write_out_do_not_fill_the_memory(sign: int) -> None:
    with ball_precision(64):
        tiny, immense = sign * ball(-(10**12)).exp(), sign * ball(10**12).exp()
        least = sign * Fraction(1, 1 << (1 << 20))
        assert rational_bounds(tiny) == (min(least, Fraction(0)), max(least, Fraction(0)))
        with pytest.raises(ArithmeticError, match="too large"):
            rational_bounds(immense)

"""PayWhatYouGet: what is left, what is refused and what was promised at the start."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import pytest
from tests.support.refusals import refusal

from podium.errors import BudgetExceeded, InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.limited_domain import PrivateKBar
from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet, Remaining
from podium.privacy.events import BottomEvent, LimitedDomainCall, Selection
from podium.privacy.theorems.bounded_range import bounded_range_rho
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

HALF = Fraction(1, 2)
CLEAR = Histogram({"a": 900, "b": 600, "c": 300}, known=False)
EMPTY = Histogram({}, known=False)


def plan(k_star: int = 4, l_star: int = 3) -> PayWhatYouGet:
    return PayWhatYouGet(k_star, l_star, "0.5", "0.01")


def test_the_promise_is_known_from_the_start_and_does_not_change() -> None:
    session = plan()
    cost = session.guarantee.cost
    assert cost.epsilon == 2
    assert cost.rho == 4 * bounded_range_rho(HALF)
    assert cost.delta == 1 - 1 / Fraction(101, 100) ** 3
    assert cost.delta < sum(event.delta for event in session.worst_case) < Fraction(3, 100)
    before = session.guarantee
    session.top(CLEAR, k=2, k_bar=3, bits=ReplayableBits(1))
    assert session.guarantee == before


def test_items_and_bottom_are_charged() -> None:
    session = plan()
    bits = ReplayableBits(1)
    assert session.remaining == Remaining(selections=4, calls=3)
    assert session.top(CLEAR, k=2, k_bar=3, bits=bits).outcome == ("a", "b")
    assert session.remaining == (2, 2)
    assert session.top(EMPTY, k=2, k_bar=3, bits=bits).outcome == (BOTTOM,)
    assert session.remaining == (1, 1)
    assert session.paid.events == (
        LimitedDomainCall("0.01"), Selection(HALF), Selection(HALF), LimitedDomainCall("0.01"), BottomEvent(HALF),
    )  # fmt: skip


def test_a_private_k_bar_is_charged() -> None:
    session = plan()
    session.top(CLEAR, k=2, k_bar=PrivateKBar(5), bits=ReplayableBits(1))
    assert session.remaining == (1, 2)


def test_more_than_is_left_is_refused_at_no_cost() -> None:
    session = plan(k_star=3, l_star=2)
    with pytest.raises(BudgetExceeded) as caught:
        session.top(CLEAR, k=4, k_bar=5)
    assert str(caught.value) == (
        "this release may cost selections=4 but this plan has selections=3 left (short by 1). Ask for k=3 or fewer."
    )
    with pytest.raises(BudgetExceeded) as caught:
        session.top(CLEAR, k=3, k_bar=PrivateKBar(5))
    assert str(caught.value) == (
        "this release may cost selections=4 but this plan has selections=3 left (short by 1). Ask for k=2 or fewer."
    )
    assert session.remaining == (3, 2)
    session.top(CLEAR, k=2, k_bar=3, bits=ReplayableBits(1))
    with pytest.raises(BudgetExceeded) as caught:
        session.top(CLEAR, k=1, k_bar=PrivateKBar(5))
    assert str(caught.value) == (
        "this release may cost selections=2 but this plan has selections=1 left (short by 1). "
        "Plan with a larger k_star."
    )


def test_calls_run_out_too() -> None:
    session = plan(k_star=9, l_star=1)
    session.top(EMPTY, k=2, k_bar=3, bits=ReplayableBits(1))
    with pytest.raises(BudgetExceeded) as caught:
        session.top(EMPTY, k=1, k_bar=3)
    assert str(caught.value) == (
        "this release may cost calls=1 but this plan has calls=0 left (short by 1). Plan with a larger l_star."
    )
    assert session.remaining == (8, 0)


def test_a_bad_question_costs_nothing_and_a_failing_one_everything() -> None:
    session = plan()
    with pytest.raises(InvalidArgument, match="k_bar=1"):
        session.top(CLEAR, k=2, k_bar=1)
    assert session.remaining == (4, 3)
    cut = Histogram.top_rows(["a"], [5], next_count=4)
    with pytest.raises(InvalidArgument, match="rows that were read"):
        session.top(cut, k=2, k_bar=3)
    assert session.remaining == (2, 2)


def test_threads_together_never_pass_the_plan() -> None:
    session = plan(k_star=20, l_star=50)
    refused = []

    def ask() -> None:
        for _ in range(10):
            try:
                session.top(CLEAR, k=2, k_bar=3)
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    symbols = [event for event in session.paid.events if not isinstance(event, LimitedDomainCall)]
    assert len(symbols) == 20 - session.remaining.selections <= 20
    assert session.remaining.selections < 2
    assert len(session.paid.events) - len(symbols) == 50 - session.remaining.calls
    assert refused


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, 1, "0.01"), "k_star=0 is not valid. Allowed: an integer, 1 or more."),
        ((1, 0, 1, "0.01"), "l_star=0 is not valid. Allowed: an integer, 1 or more."),
        ((1, 1, 0, "0.01"), "epsilon_per_item=0 is not valid. Allowed: a number above 0."),
        (
            (1, 1, 1, 0),
            (
                "delta=0 is not valid. Allowed: a number with 0 < value < 1. "
                "An unknown domain cannot be private with delta=0."
            ),
        ),
    ],
)
def test_what_is_refused(arguments: Any, text: str) -> None:
    assert refusal(lambda: PayWhatYouGet(*arguments)) == text

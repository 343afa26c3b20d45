"""What is kept of chains: nothing that a search would not find."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.ledger.bookkeeping.gaussian_books import GaussianBooks
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.bookkeeping.priced import KeptByIdentity, priced_events
from podium.privacy import Selection
from podium.privacy.gaussian import GaussianLimits, chain, steps_of
from podium.privacy.rounding import above

EVENTS = (Selection("0.1"),) * 12
LIMITS = GaussianLimits.of(1, "1e-6")


@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), min_size=1, max_size=6))
def test_terms_are_those_of_a_search(asked: list[tuple[int, bool]]) -> None:
    """One after the other against the same books, so that every answer may come from the one before."""
    books = GaussianBooks(LIMITS)
    charge = Charged.of(EVENTS, reserve=True)
    for part, session in asked:
        held = Sum(mu_squared=above(LIMITS.mu_squared * part / 1000))
        expected = chain(steps_of(EVENTS), books.remaining(held).mu_squared or Fraction(0), one_shot=not session)
        fresh = GaussianBooks(LIMITS)
        assert books.reserve(charge, held, session=session) == fresh.reserve(charge, held, session=session)
        if expected is not None:
            assert books.reserve(charge, held, session=session)["chain"] == expected.to_dict()
        assert (books.refusal(charge, held, session=session) is None) == (
            fresh.refusal(charge, held, session=session) is None
        )


def test_two_totals_have_prices_of_their_own() -> None:
    small, large = GaussianBooks(GaussianLimits.of("0.3", "1e-6")), GaussianBooks(LIMITS)
    charge = Charged.of(EVENTS, reserve=True)
    chains = [books.reserve(charge, Sum())["chain"] for books in (small, large, small, large)]
    assert chains[:2] == chains[2:]
    assert chains[0] != chains[1]


def test_equal_objects_are_not_the_same_and_few_are_kept() -> None:
    calls = itertools.count(1)
    kept = KeptByIdentity(lambda _: next(calls))
    one, other = [1], [1]
    assert [kept(one), kept(one), kept(other), kept(one)] == [1, 1, 2, 1]
    several = [[number] for number in range(1000)]
    for each in several:
        kept(each)
    assert len(kept._values) <= 64


def test_a_total_is_told_apart_from_an_equal_one() -> None:
    """Not by its value: equal ones share nothing but their prices."""
    first, second = priced_events(Fraction(1, 4), EVENTS), priced_events(Fraction(1, 4), EVENTS)
    assert first is not second
    assert first.offer(Fraction(0), session=False).terms == second.offer(Fraction(0), session=False).terms


@pytest.mark.parametrize("session", [False, True])
def test_what_does_not_fit_is_charged_at_prices_that_hold_whatever_is_left(session: bool) -> None:
    books = GaussianBooks(LIMITS)
    charge = Charged.of(EVENTS, reserve=True)
    full = Sum(mu_squared=LIMITS.mu_squared * 2)
    assert books.reserve(charge, full, session=session) == books.reserve(charge, Sum(), session=True)

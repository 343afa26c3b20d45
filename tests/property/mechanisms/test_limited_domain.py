"""What must not matter: the order of rows, the names of items, how the histogram was written down."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram
from podium.mechanisms.base import Mechanism
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.limited_domain.private_k_bar import _blocks, first_rows
from podium.release import BOTTOM

ITEMS = ("a", "b", "c", "d", "e")
counts_of_items = st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 6), max_size=5)

MECHANISMS: list[Mechanism] = [
    LimitedDomain(2, 3, "0.5", "0.05"),
    LimitedDomain(2, 2, "0.5", "0.05", max_items_per_user=1),
    LimitedDomain(2, PrivateKBar(4), "0.5", "0.05"),
    LimitedDomain(1, 2, "0.5", "0.05", max_items_per_user=2, noise="laplace"),
]
STRICT: list[Mechanism] = [LimitedDomain(2, 3, "0.5", "0.05", strict=True), FixedThreshold(3, "0.5", "0.05")]
every = pytest.mark.parametrize("mechanism", MECHANISMS + STRICT, ids=repr)


def distribution(mechanism: Mechanism, counts: dict[Any, int]) -> dict[Any, float]:
    return mechanism.distribution(Histogram(counts, known=False))


def renamed(outcome: Any, names: dict[Any, Any]) -> Any:
    kept = [symbol if symbol is BOTTOM else names[symbol] for symbol in outcome]
    return frozenset(kept) if isinstance(outcome, frozenset) else tuple(kept)


@every
@settings(max_examples=25)
@given(data=st.data(), counts=counts_of_items)
def test_the_order_of_rows_does_not_matter(mechanism: Mechanism, data: st.DataObject, counts: dict[str, int]) -> None:
    shuffled = dict(data.draw(st.permutations(list(counts.items()))))
    assert distribution(mechanism, shuffled) == pytest.approx(distribution(mechanism, counts), rel=1e-12)


@every
@settings(max_examples=25)
@given(counts=counts_of_items)
def test_new_names_in_the_same_order_change_nothing_but_names(mechanism: Mechanism, counts: dict[str, int]) -> None:
    names = {item: (10 * place, "x") for place, item in enumerate(ITEMS)}
    again = distribution(mechanism, {names[item]: count for item, count in counts.items()})
    assert again == pytest.approx({renamed(o, names): p for o, p in distribution(mechanism, counts).items()}, rel=1e-12)


@pytest.mark.parametrize("mechanism", STRICT, ids=repr)
@settings(max_examples=25)
@given(data=st.data(), counts=counts_of_items)
def test_above_the_cut_any_new_names_will_do(mechanism: Mechanism, data: st.DataObject, counts: dict[str, int]) -> None:
    names = dict(zip(ITEMS, data.draw(st.permutations(ITEMS)), strict=True))
    again = distribution(mechanism, {names[item]: count for item, count in counts.items()})
    assert again == pytest.approx({renamed(o, names): p for o, p in distribution(mechanism, counts).items()}, rel=1e-12)


@every
@settings(max_examples=25)
@given(counts=counts_of_items)
def test_only_the_top_rows_matter(mechanism: Mechanism, counts: dict[str, int]) -> None:
    """Items without users, the statement of a domain, and everything below rank k_bar+1 change nothing."""
    limit = mechanism.max_rows if isinstance(mechanism, LimitedDomain) else 3
    expected = distribution(mechanism, counts)
    rows = Histogram(counts).top(limit)
    cut = Histogram.top_rows(rows.items, rows.counts, next_count=rows.next_count)
    assert mechanism.distribution(cut) == pytest.approx(expected, rel=1e-12)
    assert mechanism.distribution(Histogram(counts, domain=ITEMS)) == pytest.approx(expected, rel=1e-12)


@every
@settings(max_examples=25)
@given(counts=counts_of_items)
def test_a_distribution_is_a_distribution(mechanism: Mechanism, counts: dict[str, int]) -> None:
    found = distribution(mechanism, counts)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert all(chance > 0 for chance in found.values())


@given(st.lists(st.integers(1, 5), max_size=40), st.integers(0, 4), st.integers(1, 12), st.integers(0, 60))
def test_the_blocks_of_a_private_k_bar(counts: list[int], after: int, k: int, more: int) -> None:
    """Within a block the count of rank i+1 and the power of two below i are the same."""
    limit = k + more
    histogram = Histogram(dict(enumerate([*counts, *([1] * after)])), known=False)
    rows = histogram.top(limit)
    starts, shared = _blocks(rows, k, limit)
    assert starts[0] == k
    ends = [*starts[1:].tolist(), limit + 1]
    for start, end, count in zip(starts.tolist(), ends, shared.tolist(), strict=True):
        assert start < end <= limit + 1
        for i in range(start, end):
            assert first_rows(rows, i).next_count == count
            assert i.bit_length() == start.bit_length()


@given(st.fractions(min_value="1/100", max_value=5), st.fractions(min_value="1/10000", max_value="1/2"))
def test_more_epsilon_and_more_delta_lower_the_margin(epsilon: Fraction, delta: Fraction) -> None:
    margin = LimitedDomain(1, 2, epsilon, delta).margin
    assert LimitedDomain(1, 2, 2 * epsilon, delta).margin < margin
    assert LimitedDomain(1, 2, epsilon, delta * Fraction(3, 2)).margin < margin
    assert LimitedDomain(1, 2, epsilon, delta, max_items_per_user=1).margin < margin

"""Groups that share a race are drawn as groups by themselves: against the exact product, and other scales."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.support.distributions import assert_three_way

from podium.histogram import Histogram, item_order
from podium.mechanisms.groups import finding
from podium.mechanisms.groups.finding import find_in_groups
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.weights import Weights
from podium.randomness.replay import ReplayableBits

TALLIES = [("X", (6,), (2,)), ("Y", (6, 2), (1, 1)), ("Z", (3,), (1,))]
_SECOND = Fraction(3, 2)


def stage(scale: Fraction, k: int) -> TruncatedGaussianHistogram:
    return TruncatedGaussianHistogram(k=k, sigma=scale, delta="0.1", weights=Weights.bounded(1))


def drawn(bits: ReplayableBits) -> tuple[Any, ...]:
    """X and Z share a race, Y has a stage of its own."""
    found = find_in_groups(TALLIES, lambda group: stage(Fraction(2) if group != "Y" else 2 * _SECOND, 9), bits=bits)
    return tuple(sorted(((one.group, one.places) for one in found), key=lambda one: item_order(one[0])))


def product(scale: Fraction) -> dict[Any, float]:
    joint: dict[Any, float] = {(): 1.0}
    for group, counts, sizes in TALLIES:
        members = {(count, rank): count for count, size in zip(counts, sizes, strict=True) for rank in range(size)}
        wide = 2 * scale * (_SECOND if group == "Y" else 1)
        alone = stage(wide, 9).distribution(Histogram(members, known=False))
        joint = {
            (*lists, *(((group, outcome),) if outcome else ())): p * q
            for lists, p in joint.items()
            for outcome, q in alone.items()
        }
    return joint


def test_groups_that_share_a_race_are_drawn_as_by_themselves() -> None:
    bits = ReplayableBits(3)
    assert_three_way((drawn(bits) for _ in range(3_000)), product, scale=Fraction(1))


def test_a_group_with_more_items_than_places_takes_part_alone() -> None:
    many = [("X", (500,), (40,)), ("Y", (500,), (3,))]
    found = {one.group: one for one in find_in_groups(many, lambda _: stage(Fraction(1), 5))}
    assert len(found["X"].places) == 5
    assert sorted(found["Y"].places) == [(500, 0), (500, 1), (500, 2)]
    assert list(found["X"].values) == sorted(found["X"].values, reverse=True)


def test_groups_beyond_a_race_begin_another(monkeypatch: Any) -> None:
    monkeypatch.setattr(finding, "_MAX_GROUPS", 3)
    tallies = [(place, (500,), (1,)) for place in range(8)]
    found = list(find_in_groups(tallies, lambda group: None if group == 4 else stage(Fraction(1), 5)))
    assert sorted((one.group for one in found), key=item_order) == [0, 1, 2, 3, 5, 6, 7]
    # The places of a group begin with 0, however many groups with the same count came before.
    assert {one.places for one in found} == {((500, 0),)}

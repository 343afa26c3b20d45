"""Choices in turn are without replacement."""

from __future__ import annotations

import pytest

from podium.randomness import choose
from podium.randomness.replay import ReplayableBits


@pytest.mark.parametrize("seed", range(5))
def test_who_was_chosen_is_not_chosen_again(seed: int) -> None:
    """The first weighs e^50 times as much as the others, and still comes once only, as often as it has members."""
    assert choose([50, 0, 0], k=3, rate=1, bits=ReplayableBits(seed)).groups[0] == 0
    assert sorted(choose([50, 0, 0], k=3, rate=1, bits=ReplayableBits(seed)).groups) == [0, 1, 2]
    twice = choose([50, 0], k=3, rate=1, multiplicities=[2, 1], bits=ReplayableBits(seed))
    assert (twice.groups, sorted(twice.members)) == ((0, 0, 1), [0, 0, 1])

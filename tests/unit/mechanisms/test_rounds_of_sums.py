"""Rounds on sums of contributions: the same run as on counts where everybody contributes the whole clip."""

from __future__ import annotations

import pytest
from tests.support.measures import AmountsTable, Table

from podium.errors import InvalidArgument
from podium.mechanisms import AdaptiveTopK
from podium.privacy import actual_cost, worst_case
from podium.randomness.replay import ReplayableBits
from podium.release import Release

CLIP = 12
COUNTS: Table = [
    {item: 1 for item in range(30) if (user * 7919 + item * 104729) % 1000 < 900 // (item + 1)} for user in range(3000)
]


def run(mechanism: AdaptiveTopK, table: Table, clip: int, seed: int = 5) -> Release:
    bits = ReplayableBits(seed)
    return mechanism.release(AmountsTable(table, bits=bits).at_clip(clip), bits=bits)


@pytest.mark.parametrize("counts", [False, True])
def test_contributions_of_the_whole_clip_are_counts_in_its_units(counts: bool) -> None:
    plain, wide = (AdaptiveTopK(5, "0.5", "1e-6", counts=counts, clip=clip) for clip in (1, CLIP))
    amounts = [dict.fromkeys(user, 100) for user in COUNTS]
    left, right = run(plain, COUNTS, 1), run(wide, amounts, CLIP)
    assert left.outcome == right.outcome
    assert left.items[0] == 0
    assert left.paid == right.paid
    if counts:
        for count, total in zip(left.values or (), right.values or (), strict=True):
            assert abs(CLIP * count - total) <= CLIP
    assert "clip" not in left.parameters
    assert right.parameters["clip"] == str(CLIP)


def test_amounts_decide_and_no_list_pays_more_than_was_reserved() -> None:
    """Item 9 has few users and large amounts, item 0 many and small ones."""
    table = [{item: 12 if item == 9 else 1 for item in user} for user in COUNTS]
    for seed in range(3):
        mechanism = AdaptiveTopK(3, 2, "1e-6", counts=True, clip=CLIP)
        release = run(mechanism, table, CLIP, seed)
        assert 9 in release.items[:2]
        paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
        assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)


def test_a_clip_is_a_positive_integer() -> None:
    for clip in (0, 1.5):
        with pytest.raises(InvalidArgument, match="clip"):
            AdaptiveTopK(3, 2, "1e-6", clip=clip)  # type: ignore[arg-type]

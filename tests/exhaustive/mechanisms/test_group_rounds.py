"""Small worlds of rounds in groups, and of pairs of all groups in one histogram.

Of rounds two discoveries in each group, the second where the first found nothing.
"""

from __future__ import annotations

from typing import Any

import flint
import pytest
from tests.support.groups import GroupWorld, by_group, check_groups, worst_of_groups
from tests.support.worlds import PRECISION, DistributionOf, SmallDistribution, SmallHistogram

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.gaussian.in_rounds import FIRST
from podium.mechanisms.groups.composite_pairs import GroupedComposite
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.weights import Weights
from podium.privacy import Guarantee, total
from podium.privacy.events import Event

PAIRS = ("Xa", "Xb", "Ya")
LIFT = {"Xa": 2, "Ya": 1}


def rounds(groups: int, *, known: int | None = None, clip: int = 1) -> GroupedRounds:
    """Rounds whose discoveries divide mu^2 = 2 and delta = .1 among the groups of a user, who has one item in each."""
    return GroupedRounds.dividing(3, 2, "0.1", groups_per_user=groups, known=known, max_items_per_user=1, clip=clip)


def stages(inner: AdaptiveTopK) -> tuple[TruncatedGaussianHistogram, TruncatedGaussianHistogram]:
    """What runs in a group in which nothing is found: a tenth of mu^2, then all the rest."""
    return inner.stage(FIRST, discovery=1), inner.stage(1 - FIRST, discovery=2)


def found(stage: TruncatedGaussianHistogram, histogram: Histogram) -> dict[Any, flint.arb]:
    """The distribution on counts, each of which every user adds 1 to, or on sums of amounts."""
    one = stage.weights.weight(1)
    counts = histogram.top(100)
    weighted = {item: int(n) * one for item, n in zip(counts.items, counts.counts, strict=True) if n}
    if not weighted:
        return {(): flint.arb(1)}
    return stage.distribution(Histogram(weighted, known=False), exact=True)


def transcripts(mechanism: GroupedRounds, *, show_rows: bool = False) -> DistributionOf:
    """What is released of unknown groups: those in which something was found, and in which round."""
    first, second = stages(mechanism.inner)

    def of_group(histogram: Histogram) -> dict[Any, flint.arb]:
        alone: dict[Any, flint.arb] = {}
        for outcome, chance in found(first, histogram).items():
            if outcome:
                alone[1, outcome] = chance
                continue
            for later, part in found(second, histogram).items():
                alone[2, later] = chance * part
        return alone

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        joint: dict[Any, flint.arb] = {(): flint.arb(1)}
        with ball_precision(PRECISION):
            for group, histogram in by_group(counts).items():
                hidden = () if not (show_rows and sum(histogram.top(9).counts)) else ((group,),)
                joint = {
                    (*lists, *(((group, one),) if one[1] else hidden)): p * q
                    for lists, p in joint.items()
                    for one, q in of_group(histogram).items()
                }
                merged: dict[Any, flint.arb] = {}
                for lists, p in joint.items():
                    merged[lists] = merged.get(lists, flint.arb(0)) + p
                joint = merged
        return joint

    return distribution


def paid_for(mechanism: GroupedRounds, groups: int) -> Guarantee:
    """What both discoveries of this many groups cost."""
    events: tuple[Event, ...] = tuple(event for stage in stages(mechanism.inner) for event in stage.worst_case)
    return total(events * groups)


@pytest.mark.parametrize("groups", [1, 2])
def test_rounds_of_all_groups_keep_the_promise(groups: int) -> None:
    """Also where the histories of groups differ, and where one user makes a group appear."""
    mechanism = rounds(groups)
    pairs = PAIRS if groups == 1 else ("Xa", "Ya")
    for lift in ({}, LIFT):
        world = GroupWorld(pairs, 1, groups, groups, lift)
        check_groups(transcripts(mechanism), world, paid_for(mechanism, groups))
        check_groups(transcripts(mechanism), world, mechanism.guarantee)


@pytest.mark.parametrize("groups", [1, 2])
def test_rounds_on_sums_of_all_groups_keep_the_promise(groups: int) -> None:
    """Users add 1, 2 or 3 at a clip of 3: not more than the clip in any group is what the price is for."""
    mechanism = rounds(groups, clip=3)
    for lift in ({}, {"Xa": 5, "Ya": 2}):
        world = GroupWorld(("Xa", "Ya"), 1, groups, groups, lift, most=3)
        check_groups(transcripts(mechanism), world, paid_for(mechanism, groups))
        check_groups(transcripts(mechanism), world, mechanism.guarantee)


@pytest.mark.parametrize("groups", [1, 2])
def test_amounts_above_the_clip_are_rejected(groups: int) -> None:
    """A clip that is applied to the noise and not to the amounts, or the other way round."""
    mechanism = rounds(groups, clip=2)
    world = GroupWorld(("Xa", "Ya"), 1, groups, groups, {"Xa": 3, "Ya": 3}, most=3)
    assert worst_of_groups(transcripts(mechanism), world, paid_for(mechanism, groups)).violated


def test_what_is_charged_for_a_hidden_group_is_needed() -> None:
    """For nothing, or for the first discovery alone, the second could be had without paying."""
    mechanism = rounds(1)
    world = GroupWorld(PAIRS, 1, 1, 1, LIFT)
    first, _ = stages(mechanism.inner)
    assert worst_of_groups(transcripts(mechanism), world, total(first.worst_case)).violated
    assert worst_of_groups(transcripts(mechanism), world, Guarantee.approximate("0.001", "0.01")).violated


def test_two_groups_with_the_budget_of_one_are_rejected() -> None:
    mechanism = rounds(1)
    world = GroupWorld(("Xa", "Ya"), 1, 2, 2, {"Xa": 2, "Ya": 2})
    assert worst_of_groups(transcripts(mechanism), world, paid_for(mechanism, 1)).violated
    check_groups(transcripts(mechanism), world, paid_for(mechanism, 2))


def test_a_bound_over_all_groups_is_paid_for_in_as_few_groups() -> None:
    """Whoever has one pair of all groups is in one of them, so that two groups cost what one costs."""
    mechanism = rounds(1)
    for lift in ({}, {"Xa": 2, "Ya": 2}):
        check_groups(transcripts(mechanism), GroupWorld(("Xa", "Ya"), 1, 2, 1, lift), paid_for(mechanism, 1))
    # A bound within each group leaves one pair in each.
    within = GroupWorld(("Xa", "Ya"), 1, 2, 2, {"Xa": 2, "Ya": 2})
    assert worst_of_groups(transcripts(mechanism), within, mechanism.guarantee).violated


def test_a_group_that_is_shown_because_it_has_rows_is_rejected() -> None:
    mechanism = rounds(1)
    world = GroupWorld(("Xa",), 1, 1)
    worst = worst_of_groups(transcripts(mechanism, show_rows=True), world, mechanism.guarantee)
    assert worst.violated
    assert worst.excess > 0.8


def together(most: int) -> GroupedComposite:
    """Weights 1 for users with up to this many pairs of all groups."""
    inner = TruncatedGaussianHistogram(k=1, sigma=1, delta="0.05", weights=Weights.bounded(most))
    return GroupedComposite(1, inner)


def lists_of(mechanism: GroupedComposite) -> DistributionOf:
    """The first item of every group in which one passes."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        joint: dict[Any, flint.arb] = {(): flint.arb(1)}
        with ball_precision(PRECISION):
            for group, histogram in by_group(counts).items():
                alone = found(mechanism.inner, histogram)
                joint = {
                    (*lists, *(((group, one),) if one else ())): p * q
                    for lists, p in joint.items()
                    for one, q in alone.items()
                }
        return joint

    return distribution


def test_pairs_of_all_groups_keep_the_promise_of_their_weights() -> None:
    """Whoever is in two groups is paid for by weights that count the pairs of both, and by no others."""
    pairs = ("Xa", "Xb", "Ya")
    for lift in ({}, {"Xa": 3, "Ya": 2}):
        world = GroupWorld(pairs, 1, 2, 2, lift)
        check_groups(lists_of(together(2)), world, together(2).guarantee)
        assert worst_of_groups(lists_of(together(1)), world, together(1).guarantee).violated
    alone = GroupWorld(pairs, 1, 2, 1, {"Xa": 3, "Ya": 2})
    check_groups(lists_of(together(1)), alone, together(1).guarantee)

"""One clip for all groups: what it costs, and that lists at any clip cost the same."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import cast

import pytest
from tests.support.groups import with_and_without_a_clip

from podium.errors import InvalidArgument
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.groups.chosen_clip import GroupedAmounts
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import Amounts
from podium.privacy import LaplaceNoise, Selection, actual_cost
from podium.release import RankedList, Receipt, Release

DELTA = Fraction(1, 1000)


def lists(groups: int = 1, known: int | None = None) -> GroupedTopK:
    return GroupedTopK.selections(2, 5, 1, DELTA, groups_per_user=groups, known=known, max_items_per_user=3)


def mechanism(groups: int = 1, known: int | None = None) -> GroupedAmounts:
    return GroupedAmounts(Fraction(1, 50), lists(groups, known))


@pytest.mark.parametrize("groups", [1, 3])
def test_the_clip_is_added_once_to_what_the_lists_cost(groups: int) -> None:
    amounts = mechanism(groups)
    both, alone = with_and_without_a_clip(amounts)
    assert both.rho == alone.rho + amounts.choice.event.rho
    assert both.rho == pytest.approx(float(alone.rho + amounts.rho_clip), rel=1e-6)


@pytest.mark.parametrize("clip", [1, 64])
def test_lists_at_a_clip_are_those_in_units_of_it(clip: int) -> None:
    """The same margin in clips, the same price, the same shares of delta."""
    amounts = mechanism(2, 4)
    at = amounts.at(clip)
    assert at.worst_case == amounts.inner.worst_case
    assert at.margin == clip * amounts.margin
    assert (at.delta, at.groups_per_user, at.known) == (amounts.inner.delta, 2, 4)


def released(amounts: GroupedAmounts, *items: str) -> Release:
    selection = cast(LimitedDomain, amounts.at(1).inner)
    return selection.release_of(items, stopped=len(items) < amounts.k)


@pytest.mark.parametrize("found", [(), ("a",), ("a", "b")])
def test_the_clip_is_charged_whatever_comes_out(found: tuple[str, ...]) -> None:
    amounts = mechanism()
    shown = [("X", released(amounts, *found))] if found else []
    release = amounts.gather(shown, (4, 16), values=True, per=("land",))
    assert release.paid.events[0] == amounts.choice.event
    assert sum(isinstance(event, Selection) for event in release.paid.events) == len(found)
    assert release.paid.events[1:] == amounts.at(4).gather(shown).paid.events
    assert (release.parameters["clip"], release.parameters["value_clip"]) == ("4", "16")
    assert release.per == ("land",)


def test_the_values_of_a_group_are_a_part_of_what_it_costs() -> None:
    amounts = mechanism()
    one = released(amounts, "a", "b")
    dear = replace(one, paid=Receipt((*one.paid.events, LaplaceNoise("0.5", discrete=True))))
    release = amounts.gather([("X", one), ("Y", dear)], (1, 1))
    assert actual_cost(release.paid.events).rho == actual_cost((amounts.choice.event, *dear.paid.events)).rho
    assert release.lists["Y"] == RankedList(("a", "b"), 2)


def test_what_is_known_of_the_groups_divides_the_amounts() -> None:
    """With more lists each has less, so that noise weighs more and the clip is smaller; values are clipped later."""
    amounts = Amounts((400.0, 300.0, 200.0, 100.0, 60.0, 40.0), (900.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    clips = [mechanism(1, known).clips_for(amounts)[0] for known in (1, 100)]
    assert clips[0] > clips[1]
    selecting, measuring = mechanism(1, 1).clips_for(amounts, Fraction(4))
    assert measuring >= selecting == clips[0]


def test_nothing_known_is_a_clip_of_one() -> None:
    assert mechanism().clips_for(Amounts((0.0,) * 41, (0.0,) * 41), Fraction(4)) == (1, 1)


def test_other_lists_have_no_clip() -> None:
    for inner in (GroupedTopK(ExponentialTopK(1, 1), known=2), mechanism().at(2)):
        with pytest.raises(InvalidArgument, match="units of the clip"):
            GroupedAmounts("0.1", inner)

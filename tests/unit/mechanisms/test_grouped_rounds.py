"""Rounds in every group: what each pays, what all together pay, and that groups share their queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.support.groups import GroupTables

from podium.histogram import Item
from podium.mechanisms.gaussian.adaptive import OF_DELTA, AdaptiveTopK
from podium.mechanisms.groups.composite_pairs import GroupedComposite
from podium.mechanisms.groups.costliest import costliest_rounds
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.groups.lockstep import FoundItems
from podium.planning.memory_table import PairsReader
from podium.privacy import CorrelatedNoise, GaussianNoise, actual_cost, worst_case
from podium.privacy.events import Event, HiddenItems
from podium.release import GroupedRelease

CROWD = [(user, item) for item in range(20) for user in range(7 * item, 7 * item + 410 - 8 * item)]
"""Neighbouring items differ by few users: a border to measure."""


def table(pairs: list[tuple[int, int]]) -> PairsReader:
    users, items = zip(*pairs, strict=True) if pairs else ((), ())
    return PairsReader(list(users), list(items))


def groups(number: int = 2) -> GroupTables:
    return GroupTables({f"C{place}": table(CROWD) for place in range(number)})


def cost(*events: Event) -> tuple[Fraction, Fraction]:
    """What these events add up to: rho and delta."""
    paid = actual_cost(events)
    return paid.rho, paid.delta


def asked(mechanism: GroupedRounds, reader: GroupTables, listed: tuple[str, ...] = ()) -> GroupedRelease:
    return mechanism.gather(*mechanism.run(reader), listed=listed)


def test_every_group_of_a_user_has_an_equal_part() -> None:
    for most, known, parts in ((1, None, 1), (3, None, 3), (3, 2, 2)):
        mechanism = GroupedRounds.dividing(5, 6, "0.06", groups_per_user=most, known=known)
        assert mechanism.inner == AdaptiveTopK(5, Fraction(6, parts), Fraction(6, 100 * parts))
        assert cost(*mechanism.worst_case) == (Fraction(3), Fraction(6, 100))
    one = GroupedRounds.dividing(5, 6, "0.06")
    assert worst_case(one.worst_case) == worst_case(one.inner.worst_case)
    assert one.guarantee == one.inner.guarantee


@pytest.mark.parametrize("counts", [False, True])
def test_groups_share_their_queries(counts: bool) -> None:
    mechanism = GroupedRounds.dividing(4, 30, "1e-3", counts=counts)
    for number in (2, 12):
        reader = groups(number)
        release = asked(mechanism, reader)
        assert set(release.lists) == {f"C{place}" for place in range(number)}
        assert {len(found.items) for found in release.lists.values()} == {4}
        # At most three that find, three borders with two questions each, and the counts.
        assert len(reader.calls) <= 9 + counts
        assert reader.calls.count("discover") <= 3


def test_a_list_is_that_of_its_group_alone() -> None:
    """With hardly any noise: ties excluded, every list is the true one."""
    mechanism = GroupedRounds.dividing(6, 10**6, "1e-3")
    other = [(user, item) for item in range(30, 42) for user in range(300 - 11 * (item - 30))]
    release = asked(mechanism, GroupTables({"X": table(CROWD), "Y": table(other), "Z": table([(1, 5), (2, 5)])}))
    assert {group: found.items for group, found in release.lists.items()} == {
        "X": (0, 1, 2, 3, 4, 5),
        "Y": (30, 31, 32, 33, 34, 35),
        "Z": (5,),
    }


def nothing_found(inner: AdaptiveTopK) -> tuple[Event, ...]:
    """What a group costs in which nothing is found: a tenth and the rest, with their shares of delta."""
    _, release = GroupedRounds(inner).run(GroupTables({}))
    return release.paid.events


def test_nothing_found_costs_two_discoveries() -> None:
    inner = AdaptiveTopK(3, 2, "0.1")
    events = nothing_found(inner)
    assert [type(event) for event in events] == [GaussianNoise, HiddenItems] * 2
    assert [event.delta for event in events[1::2]] == [inner.delta * OF_DELTA[0], inner.delta * OF_DELTA[1]]
    assert float(actual_cost(events).rho) == pytest.approx(1)
    assert actual_cost(events).rho <= inner.mu_squared / 2


@pytest.mark.parametrize("most", [1, 2, 3])
def test_hidden_groups_do_not_show_in_the_charge(most: int) -> None:
    """Where nothing is found the charge is that of an empty database, and no more groups than paid for are charged."""
    # An item of one user is found with probability delta.
    mechanism = GroupedRounds.dividing(3, "0.02", "1e-15", groups_per_user=most)
    hidden = {f"H{place}": table([(place, 1)]) for place in range(5)}
    paid = [asked(mechanism, GroupTables(tables)).paid.events for tables in ({}, hidden)]
    assert paid[0] == paid[1]
    assert cost(*paid[0])[0] == most * cost(*nothing_found(mechanism.inner))[0]


def test_a_list_that_was_cheap_does_not_lower_the_charge() -> None:
    """One discovery finds all there is of X and Y, but the groups that are not shown had two."""
    mechanism = GroupedRounds.dividing(1, 40, "1e-3")
    clear = [(user, 0) for user in range(900)] + [(user, 1) for user in range(40)]
    release = asked(mechanism, GroupTables({"X": table(clear)}))
    _, without = mechanism.run(GroupTables({}))
    assert cost(*release.paid.events)[0] >= cost(*without.paid.events)[0]
    assert cost(*release.paid.events)[1] >= cost(*without.paid.events)[1]


def test_known_groups_are_charged_as_often_as_they_are() -> None:
    shown = {
        "X": (GaussianNoise(1), HiddenItems("0.01")),
        "Y": (GaussianNoise(2), HiddenItems("0.03")),
        "Z": (GaussianNoise(4),),
    }
    nothing = (GaussianNoise(3), HiddenItems("0.02"))
    for number, others, rho, delta in (
        (1, 0, Fraction(1, 2), "0.03"),
        (2, 0, Fraction(5, 8), "0.04"),
        (2, 5, Fraction(5, 8), "0.05"),
        (3, 1, Fraction(5, 8) + Fraction(1, 18), "0.06"),
    ):
        assert cost(*costliest_rounds(shown, number, others=others, nothing=nothing)) == (rho, Fraction(delta))


def test_listed_groups_are_all_shown_and_those_without_items_are_paid_for() -> None:
    mechanism = GroupedRounds.dividing(3, 30, "1e-3", groups_per_user=2, known=3)
    release = asked(mechanism, groups(2), listed=("C0", "C1", "XX"))
    assert [len(found.items) for found in release.lists.values()] == [3, 3, 0]
    assert release.lists["XX"] == release.nothing
    alone = GroupedRounds.dividing(3, 30, "1e-3", groups_per_user=2, known=1)
    empty = asked(alone, GroupTables({}), listed=("XX",))
    assert empty.paid.rho == cost(*nothing_found(alone.inner))[0]


def test_counts_of_all_lists_have_one_noise() -> None:
    mechanism = GroupedRounds.dividing(4, 30, "1e-3", counts=True)
    short = [(user, item) for item in range(2) for user in range(300)]
    release = asked(mechanism, GroupTables({"X": table(CROWD), "Y": table(short)}))
    assert [len(found.values or ()) for found in release.lists.values()] == [4, 2]
    assert release.value_kind == "counts"
    whole = mechanism.inner.noise_of_counts(4)
    assert release.parameters["count_items"] == "4"
    assert release.parameters["count_sigma"] == str(whole.sigma)
    (counted,) = (event for event in release.paid.events if isinstance(event, CorrelatedNoise))
    assert counted == whole.event
    assert release.paid.rho <= 15
    assert float(whole.event.rho) == pytest.approx(7.5, rel=1e-3)


def test_all_groups_together_cost_what_was_given() -> None:
    mechanism = GroupedComposite.spending(3, "0.5", "1e-6", max_items_per_user=100)
    rho, delta = cost(*mechanism.worst_case)
    assert delta == Fraction(1, 10**6)
    assert Fraction(1, 4) * Fraction(999, 1000) < rho <= Fraction(1, 4)
    found = {"X": FoundItems(("a", "b", "c", "d"), (Fraction(9),) * 4)}
    release = mechanism.gather({group: one.items[:3] for group, one in found.items()}, listed=("Y", "X"))
    assert [(group, one.items) for group, one in release.lists.items()] == [("X", ("a", "b", "c")), ("Y", ())]
    assert release.lists["Y"] == release.nothing
    assert release.paid.events == mechanism.worst_case


class FoundLate:
    """A reader in which X is found in one of the discoveries; ``read`` are the stages that its rows went through."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0
        self.read: list[Any] = []

    def discover(self, stage_of: Callable[[Item], Any | None], without: object) -> Iterator[tuple[Item, FoundItems]]:
        self.calls += 1
        if (stage := stage_of("X")) is not None:
            self.read.append(stage)
            if len(self.read) == self.at:
                counts = (stage.count_threshold + 10**6, stage.count_threshold + 10**3)
                yield "X", FoundItems(("a", "b"), counts)

    def sizes(self, *_: object) -> Any:
        raise AssertionError("nothing is near the border")

    sums = sizes


@pytest.mark.parametrize(
    ("k", "at", "reads"),
    [
        pytest.param(3, 2, 2, id="found late: what found nothing has read it"),
        pytest.param(1, 1, 1, id="settled: what goes on for others does not read it"),
    ],
)
def test_a_group_pays_for_every_discovery_that_read_it(k: int, at: int, reads: int) -> None:
    reader = FoundLate(at)
    shown, _ = GroupedRounds(AdaptiveTopK(k, 2, "0.1")).run(reader)
    assert (len(reader.read), reader.calls) == (reads, 2)
    assert shown["X"].paid.events == tuple(event for stage in reader.read for event in stage.worst_case)

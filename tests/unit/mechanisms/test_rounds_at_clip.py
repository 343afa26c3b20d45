"""Rounds in every group at a clip that was paid for: what it costs, and that the clip is added once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.groups import GroupTables, with_and_without_a_clip

from podium.errors import InvalidArgument
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.groups.rounds_at_clip import GroupedRoundsAtClip
from podium.mechanisms.measures.amounts import Amounts
from podium.planning.memory_table import PairsReader
from podium.privacy import CorrelatedNoise, actual_cost, worst_case
from podium.randomness.replay import ReplayableBits
from podium.release import GroupedRelease

AMOUNTS = Amounts((400.0, 300.0, 200.0, 100.0, 60.0, 40.0), (900.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def table(*readers: int) -> PairsReader:
    pairs = [(user, item) for item, number in enumerate(readers) for user in range(number)]
    users, items = zip(*pairs, strict=True)
    return PairsReader(list(users), list(items))


def mechanism(
    groups: int = 1, known: int | None = None, *, values: object = None, mu_squared: int = 60, delta: str = "1e-3"
) -> GroupedRoundsAtClip:
    rounds = GroupedRounds.dividing(3, mu_squared, delta, groups_per_user=groups, known=known)
    return GroupedRoundsAtClip(Fraction(1, 50), rounds, mu_squared_for_values=values)  # type: ignore[arg-type]


def asked(one: GroupedRoundsAtClip, tables: dict[str, PairsReader], listed: tuple[Any, ...] = ()) -> GroupedRelease:
    """As the curator asks: sums are numbers of users here, who all add 1."""
    shown, nothing = one.at(4).run(GroupTables(tables))
    if one.mu_squared_for_values is not None:
        sums = {
            group: tuple(tables[str(group)].counts[np.asarray(found.items, dtype=np.int64)])
            for group, found in shown.items()
        }
        shown = one.measured(shown, {group: tuple(map(int, some)) for group, some in sums.items()}, 16)
    return one.gather(shown, nothing, (4, 16), listed=listed)


@pytest.mark.parametrize("values", [None, 7])
@pytest.mark.parametrize("groups", [1, 3])
def test_the_clip_is_added_once_and_values_for_each_group_of_a_user(groups: int, values: int | None) -> None:
    one = mechanism(groups, values=values)
    both, alone = with_and_without_a_clip(one)
    assert both.rho == alone.rho + one.choice.event.rho + groups * Fraction(values or 0) / 2
    assert one.choice.event.rho == pytest.approx(float(one.rho_clip), rel=1e-6)


@pytest.mark.parametrize("clip", [1, 64])
def test_rounds_at_a_clip_are_those_in_units_of_it(clip: int) -> None:
    one = mechanism(2, 4)
    at = one.at(clip)
    assert at.worst_case == one.inner.worst_case
    assert at.inner.first_threshold == clip * one.inner.inner.first_threshold
    assert (at.inner.delta, at.groups_per_user, at.known, at.inner.clip) == (one.inner.inner.delta, 2, 4, clip)


@pytest.mark.parametrize("values", [None, 7])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_hidden_groups_do_not_show_in_the_charge(groups: int, values: int | None) -> None:
    """Where nothing is found all of the rounds and the clip are charged, and no values."""
    # An item of one user is found with probability delta.
    one = mechanism(groups, values=values, mu_squared=3, delta="1e-15")
    hidden = {f"H{place}": table(1) for place in range(5)}
    (first, *rest), again = (asked(one, tables).paid.events for tables in ({}, hidden))
    assert (first, *rest) == again
    assert first == one.choice.event
    paid, most = actual_cost(rest), worst_case(one.inner.worst_case)
    assert paid.rho <= most.rho
    assert float(paid.rho) == pytest.approx(float(most.rho))


def test_values_are_a_part_of_what_a_group_costs() -> None:
    one = mechanism(2, values=7)
    # Nothing is left over where no more than k items are found, so X is the dearest.
    release = asked(one, {"X": table(900, 600, 300), "Y": table(500), "Z": table(700, 400)})
    assert {group: found.items for group, found in release.lists.items()} == {"X": (0, 1, 2), "Y": (0,), "Z": (0, 1)}
    counted = [event for event in release.paid.events if isinstance(event, CorrelatedNoise)]
    # Of the three groups that were measured, the two dearest are charged.
    assert len(counted) == 2
    whole = one.noise_of_values(16)
    assert counted[0] == whole.event
    assert float(whole.event.rho) == pytest.approx(3.5, rel=1e-3)
    said = {"clip": "4", "value_clip": "16", **whole.parameters}
    assert {name: release.parameters[name] for name in said} == said
    assert release.value_kind == "counts"
    assert release.paid.rho <= worst_case(one.worst_case).rho
    values = dict(zip(release.lists["X"].items, release.lists["X"].values or (), strict=True))
    # Eight standard deviations.
    far = 8 * float(whole.variance) ** 0.5
    assert [float(values[item]) for item in range(3)] == pytest.approx([900, 600, 300], abs=far)


def test_the_noise_of_values_is_that_of_k_of_them_in_units_of_their_clip() -> None:
    """Also where fewer came out: of two values of three."""
    one, bits, clip = mechanism(2, values=7), ReplayableBits(3), 1 << 20
    shown, _ = one.at(4).run(GroupTables({"X": table(900, 600)}))
    drawn = [
        float(value - 5 * clip)
        for _ in range(500)
        for value in one.measured(shown, {"X": (5 * clip, 5 * clip)}, clip, bits=bits)["X"].values or ()
    ]
    # Three counts that cost mu^2 = 7 together, of which one user adds 1 to each.
    expected = clip * (3**0.5 + 1) / (2 * 7**0.5)
    assert len(drawn) == 1000
    assert 0.9 < float(np.std(drawn)) / expected < 1.1


def test_listed_groups_are_all_shown() -> None:
    one = mechanism(2, 3, values=7)
    release = asked(one, {"X": table(900, 600, 300, 20)}, ("X", "LI", "FR"))
    assert {group: len(found.items) for group, found in release.lists.items()} == {"X": 3, "LI": 0, "FR": 0}
    assert release.lists["LI"] == release.nothing
    assert release.lists["LI"].values == ()


def test_what_is_known_of_the_groups_divides_the_amounts() -> None:
    """With more lists each has less, so that noise weighs more and the clip is smaller; values are clipped later."""
    clips = [mechanism(1, known, mu_squared=2).clips_for(AMOUNTS)[0] for known in (1, 100)]
    assert clips[0] > clips[1]
    selecting, measuring = mechanism(1, 1, mu_squared=2, values=1).clips_for(AMOUNTS)
    assert measuring >= selecting == clips[0]
    # No clip is above what the source has kept.
    assert mechanism(1, 1, mu_squared=2, values=1).clips_for(AMOUNTS, 2) == (2, 2)


def test_nothing_known_is_a_clip_of_one() -> None:
    assert mechanism(values=1).clips_for(Amounts((0.0,) * 41, (0.0,) * 41)) == (1, 1)


def test_rounds_have_no_clip_and_no_counts_of_their_own() -> None:
    for inner in (AdaptiveTopK(2, 1, "0.1", clip=2), AdaptiveTopK(2, 1, "0.1", counts=True)):
        with pytest.raises(InvalidArgument, match="units of the clip"):
            GroupedRoundsAtClip("0.1", GroupedRounds(inner))

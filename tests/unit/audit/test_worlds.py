"""Small worlds: every histogram, every neighbour, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from podium.audit import World
from podium.audit.exact.worlds import replacements
from podium.errors import InvalidArgument


def test_a_world_enumerates_everything_that_one_user_can_do() -> None:
    world = World(4, 3)
    pairs = [(counts, more) for counts in world.histograms() for more in world.neighbours(counts)]
    assert (len(world.histograms()), len(pairs)) == (256, 3840)
    assert all(more[item] - counts[item] in (0, 1) for counts, more in pairs for item in counts)


def test_a_bound_on_items_limits_the_neighbours() -> None:
    world = World(("x", "y", "z"), 1, max_items_per_user=1)
    assert [sum(more.values()) for more in world.neighbours({"x": 0, "y": 0, "z": 0})] == [1, 1, 1]


def test_a_lift_moves_the_world() -> None:
    world = World(2, 1, lift={"a": 7})
    assert world.histograms() == [{"a": 7, "b": 0}, {"a": 7, "b": 1}, {"a": 8, "b": 0}, {"a": 8, "b": 1}]
    assert str(world) == "2 items, counts 0 to 1, a from 7; one user with any number of items added or removed"


def test_replacement_is_removal_and_addition_at_once() -> None:
    found = {tuple(other.values()) for other in replacements({"a": 1, "b": 0})}
    assert found == {(0, 0), (2, 0), (1, 1), (0, 1), (2, 1)}
    assert list(World(2, 1, relation="replace").neighbours({"a": 1, "b": 0})) == list(replacements({"a": 1, "b": 0}))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"items": 0}, "items=0 is not valid. Allowed: 1 to 26 items, or their names."),
        ({"items": ("a", "a")}, "items=('a', 'a') is not valid. Allowed: distinct names, at least one."),
        ({"largest": -1}, "largest=-1 is not valid. Allowed: an integer, 0 or more."),
        ({"relation": "swap"}, "relation='swap' is not valid. Allowed: 'add' or 'replace'."),
        ({"items": 1, "lift": {"b": 1}}, "lift={'b': 1} is not valid. Allowed: counts for the items a."),
    ],
)
def test_bad_worlds(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        World(**arguments)
    assert str(caught.value) == text

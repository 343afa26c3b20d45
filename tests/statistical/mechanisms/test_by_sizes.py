"""An end-to-end audit of the automatic path: the loss that runs on neighbouring small tables show is within the claim.

Not being caught proves nothing by itself, so each audit is made twice: of the mechanism, and of one that spends eight
times the epsilon that it claims, or thirty times its delta. The second must be caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import pytest
from scipy import stats

from podium.mechanisms import SizedKnownTopK, SizedTopK
from podium.planning.memory_table import PairsReader
from podium.randomness.replay import ReplayableBits
from podium.release import Release

Table = list[tuple[int, int]]

EPSILON, DELTA = 1, "0.02"
RUNS = 300
MISTAKE = 1e-10

ALONE = [(user, user % 2) for user in range(21)]
"""Item 0 has 11 users and item 1 has 10, and nobody has both: a user more makes them equal."""
CROWD = [(user, user % 2) for user in range(400)]
"""So many users with one item that the sizes choose Laplace noise."""
UNIQUE = [(9999, item) for item in (7, 8, 9)]


def share_of(event: Callable[[Release], Hashable], mechanism: Any, table: Table, seed: int) -> int:
    bits = ReplayableBits(seed)
    size = getattr(mechanism, "domain_size", None)
    reader = PairsReader([user for user, _ in table], [item for _, item in table], bits=bits, domain_size=size)
    return sum(bool(event(mechanism.release(reader, bits=bits))) for _ in range(RUNS))


def epsilon_shown(event: Callable[[Release], Hashable], mechanism: Any, here: Table, there: Table) -> float:
    """A lower bound on epsilon at DELTA, wrong with probability at most 2 * MISTAKE (Clopper & Pearson 1934)."""
    hits, misses = share_of(event, mechanism, here, 1), share_of(event, mechanism, there, 2)
    least = stats.beta.ppf(MISTAKE, hits, RUNS - hits + 1) if hits else 0.0
    most = stats.beta.ppf(1 - MISTAKE, misses + 1, RUNS - misses) if misses < RUNS else 1.0
    return math.log((least - float(DELTA)) / most) if least > float(DELTA) else -math.inf


def second_wins(release: Release) -> bool:
    return release.items[:1] == (1,)


def own_item_shows(release: Release) -> bool:
    return any(item in {7, 8, 9} for item in release.items)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("factor", "caught"), [(1, False), (8, True)])
def test_which_item_comes_first_shows_no_more_than_epsilon(k: int, factor: int, caught: bool) -> None:
    mechanism = SizedTopK(k, EPSILON * factor, DELTA)
    assert (epsilon_shown(second_wins, mechanism, [*ALONE, (50, 1)], ALONE) > EPSILON) is caught


@pytest.mark.parametrize(("k", "table"), [(5, ALONE), (5, CROWD), (2, ALONE)])
def test_items_of_one_user_come_out_as_rarely_as_delta_says(k: int, table: Table) -> None:
    mechanism = SizedTopK(k, EPSILON, DELTA)
    assert epsilon_shown(own_item_shows, mechanism, table + UNIQUE, table) <= EPSILON


def test_thirty_times_the_delta_is_caught() -> None:
    mechanism = SizedTopK(5, EPSILON, "0.6")
    assert epsilon_shown(own_item_shows, mechanism, CROWD + UNIQUE[:1], CROWD) > EPSILON


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("delta", [0, DELTA])
@pytest.mark.parametrize(("factor", "caught"), [(1, False), (8, True)])
def test_a_known_domain_shows_no_more_than_epsilon(k: int, delta: Any, factor: int, caught: bool) -> None:
    mechanism = SizedKnownTopK(k, EPSILON * factor, delta, domain_size=12)
    assert (epsilon_shown(second_wins, mechanism, [*ALONE, (50, 1)], ALONE) > EPSILON) is caught

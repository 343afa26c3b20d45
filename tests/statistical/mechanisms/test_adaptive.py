"""An end-to-end audit of the rounds: the loss that runs on neighbours show is never above the claim.

Not being caught proves nothing by itself, so each audit is made twice: of the mechanism, and of one that spends four
times what it claims (every noise scale halved), or five times its delta. The second must be caught.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import pytest
from scipy import stats

from podium.mechanisms import AdaptiveTopK
from podium.planning.memory_table import PairsReader
from podium.randomness.replay import ReplayableBits
from podium.release import Release

Table = list[tuple[int, int]]

EPSILON = 1
"""The claim is audited as (EPSILON, delta) with the delta that the guarantee gives there."""
LOOKS, RUNS = 80, 800
"""Runs that choose the event, and other runs on which its probability is bounded."""
MISTAKE = 1e-8

CROWD = [(user, user % 2) for user in range(120)]
UNIQUE = [(9999, item) for item in (7, 8, 9)]


def outcomes(mechanism: AdaptiveTopK, table: Table, runs: int, seed: int) -> list[Hashable]:
    users, items = [user for user, _ in table], [item for _, item in table]
    bits = ReplayableBits(seed)
    reader = PairsReader(users, items, bits=bits)
    return [seen(mechanism.release(reader, bits=bits)) for _ in range(runs)]


def seen(release: Release) -> Hashable:
    """What the audit looks at: the best item, and whether one came out that only one user has."""
    return release.items[:1], any(item not in {0, 1} for item in release.items)


def telling_event(here: list[Hashable], there: list[Hashable]) -> set[Hashable]:
    """The outcomes that are at least twice as likely here, as far as these runs say."""
    hits, misses = Counter(here), Counter(there)
    return {outcome for outcome in hits if hits[outcome] > 2 * misses[outcome]}


def epsilon_shown(event: set[Hashable], here: list[Hashable], there: list[Hashable], delta: float) -> float:
    """A lower bound on epsilon at ``delta``, wrong with probability at most 2 * MISTAKE (Clopper & Pearson 1934)."""
    hits, misses = (sum(outcome in event for outcome in side) for side in (here, there))
    least = stats.beta.ppf(MISTAKE, hits, len(here) - hits + 1) if hits else 0.0
    most = stats.beta.ppf(1 - MISTAKE, misses + 1, len(there) - misses)
    return math.log((least - delta) / most) if least > delta else -math.inf


def audited(run: AdaptiveTopK, table: Table, neighbour: Table, *deltas: float) -> list[float]:
    """For each delta the largest epsilon that the runs show there, in either order."""
    looks = [outcomes(run, side, LOOKS, seed) for seed, side in ((1, table), (2, neighbour))]
    runs = [outcomes(run, side, RUNS, seed) for seed, side in ((3, table), (4, neighbour))]
    events = [telling_event(looks[0], looks[1]), telling_event(looks[1], looks[0])]
    return [max(epsilon_shown(events[i], runs[i], runs[1 - i], delta) for i in (0, 1)) for delta in deltas]


def claimed_delta(claim: AdaptiveTopK) -> float:
    return float(claim.guarantee.delta(epsilon=EPSILON))


def border(mu_squared: Fraction) -> AdaptiveTopK:
    """Two items with 60 users each and one place: nearly all is spent on which of them comes first."""
    return AdaptiveTopK(1, mu_squared, "0.03", max_items_per_user=2)


def hidden(delta: Fraction) -> AdaptiveTopK:
    return AdaptiveTopK(5, "0.25", delta, max_items_per_user=3)


def test_the_border_shows_no_more_than_is_claimed() -> None:
    claim = border(Fraction(1))
    shown, without_delta = audited(claim, CROWD, [*CROWD, (9999, 0)], claimed_delta(claim), 0.0)
    assert shown <= EPSILON
    # The event is one that tells the tables apart.
    assert without_delta > 0.2


def test_half_the_noise_is_caught_at_the_border() -> None:
    (shown,) = audited(border(Fraction(4)), CROWD, [*CROWD, (9999, 0)], claimed_delta(border(Fraction(1))))
    assert shown > EPSILON


@pytest.mark.parametrize("factor", [1, 5])
def test_items_of_one_user_come_out_as_rarely_as_delta_says(factor: int) -> None:
    claim = hidden(Fraction(15, 100))
    shown, without_delta = audited(hidden(claim.delta * factor), CROWD, CROWD + UNIQUE, claimed_delta(claim), 0.0)
    assert (shown > EPSILON) is (factor == 5)
    assert without_delta > 0.2

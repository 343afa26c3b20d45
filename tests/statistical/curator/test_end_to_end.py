"""From rows in a file to what comes out: distributed by the exact law of the planned mechanism.

These draws use the secure source of random bits, as the product does, so they cannot be replayed. A test that the
product passes fails by chance with probability below 1e-9, and lacks power with a probability below 1e-9 too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_bound

import podium
from podium import Budget, Curator, Histogram
from podium.estimates import MeasureTogether
from podium.mechanisms import LimitedDomain, NoisyTopK, RisingTopK
from podium.mechanisms.base import describe
from podium.planning.facts import Facts
from podium.planning.question_budget import question_budget
from podium.planning.strategy import Strategy, strategy_for
from podium.sources import Source, open_source

COUNTS = {"a": 9, "b": 8, "c": 7, "d": 2, "e": 1}
HERE = "country = 'DE'"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    """Every pair twice, and rows that must not count: without a user, without an item, from elsewhere."""
    rows = [(user, item, "DE") for item, count in COUNTS.items() for user in range(count)] * 2
    rows += [(user, "e", "FR") for user in range(100, 200)]
    unknown: list[tuple[int | None, str | None, str]] = [(None, "d", "DE")] * 30
    unknown += [(user, None, "DE") for user in range(200, 230)]
    columns = zip(*rows, *unknown, strict=True)
    path = tmp_path_factory.mktemp("events") / "events.parquet"
    pq.write_table(pa.table(dict(zip(("user_id", "article", "country"), map(list, columns), strict=True))), path)
    opened = open_source(path)
    yield opened
    opened.close()


def planned(facts: Facts, **budget: Any) -> Strategy:
    return strategy_for(facts, question_budget(facts, **budget))


def draws(source: Source, number: int, plan: Strategy, **options: Any) -> Iterator[podium.Release]:
    for _ in range(number):
        release = podium.top(source, item="article", user="user_id", where=HERE, k=plan.facts.k, **options)
        stated = {name: value for name, value in describe(plan.mechanism).items() if value != "None"}
        assert release.parameters.items() >= stated.items()
        yield release


def limited(delta: Fraction) -> Callable[[Fraction], Mapping[Any, float]]:
    histogram = Histogram(COUNTS, known=False)
    return lambda scale: LimitedDomain(2, 3, scale, delta).distribution(histogram)


def test_an_unknown_domain(source: Source) -> None:
    budget = {"epsilon": 2, "delta": "0.002"}
    plan = planned(Facts(k=2, k_bar=3), **budget)
    assert isinstance(plan.mechanism, LimitedDomain)
    assert plan.epsilon_per_item is not None
    outcomes = (release.outcome for release in draws(source, 1000, plan, k_bar=3, **budget))
    assert_three_way(
        outcomes, limited(plan.delta_per_call), scale=plan.epsilon_per_item, judge=p_bound, look=100, fewest=200
    )


def test_an_unknown_domain_through_a_ledger(source: Source, tmp_path: Path) -> None:
    """Each question is asked under a condition of its own, true of all rows, or it would be answered free of charge."""
    budget = Budget(epsilon=300, delta="0.99", items=1000, questions=500)
    with Curator(source, dataset="events", user="user_id", ledger=tmp_path / "l.db", budget=budget) as curator:
        totals, asked = curator.status.totals, itertools.count(1)
        outcomes = (
            curator.top("article", k=2, k_bar=3, where=f"{HERE} AND user_id <> {10_000 + next(asked)}").outcome
            for _ in range(400)
        )
        law = limited(totals.delta_per_call)
        assert_three_way(outcomes, law, scale=totals.epsilon_per_item, judge=p_bound, look=50, fewest=100)
        assert curator.status.questions_asked == next(asked) - 1
        assert curator.status.failures == 0


SEEN = {"a": 9, "b": 8}
UNSEEN = [f"nobody {number}" for number in range(60)]


def seen(outcome: Any) -> tuple[str, ...]:
    """The items that nobody has are alike, so that the law has few outcomes."""
    return tuple("nobody" if item in UNSEEN else item for item in outcome)


def lumped(law: Mapping[Any, float]) -> dict[Hashable, float]:
    found: dict[Hashable, float] = {}
    for outcome, chance in law.items():
        found[seen(outcome)] = found.get(seen(outcome), 0.0) + chance
    return found


@pytest.mark.parametrize(
    ("budget", "law"),
    [
        ({"epsilon": "0.4", "delta": "0.01"}, lambda scale: RisingTopK(1, scale)),
        ({"epsilon": "0.5", "delta": 0}, lambda scale: NoisyTopK(1, scale)),
    ],
)
def test_a_known_domain(source: Source, budget: dict[str, Any], law: Callable[[Fraction], Any]) -> None:
    domain = [*SEEN, *UNSEEN]
    plan = planned(Facts(k=1, domain_size=62), **budget)
    scale = plan.mechanism.unit if isinstance(plan.mechanism, RisingTopK) else plan.epsilon_per_item
    assert scale is not None
    assert plan.mechanism == law(scale)
    histogram = Histogram(SEEN, domain=domain)
    outcomes: list[Any] = []

    def drawn() -> Iterator[Any]:
        for release in draws(source, 800, plan, domain=domain, **budget):
            outcomes.append(release.outcome)
            yield seen(release.outcome)

    def at(scale: Fraction) -> Mapping[Hashable, float]:
        return lumped(law(scale).distribution(histogram))

    assert_three_way(drawn(), at, scale=scale, judge=p_bound, look=50, fewest=200)
    # Among the items that nobody has, each is as likely as any other. The comparison may end after few draws.
    outcomes += [release.outcome for release in draws(source, 400, plan, domain=domain, **budget)]
    named = [UNSEEN.index(item) // 15 for outcome in outcomes for item in outcome if item in UNSEEN]
    assert len(named) >= 50
    assert p_bound(named, dict.fromkeys(range(4), 1 / 4)) > FALSE_ALARM


def difference(sigma: Fraction) -> Mapping[Hashable, float]:
    """Of two numbers with their own noise, each rounded to an integer: noise that they share drops out.

    Rounding makes the shared part show by e^(-2 pi^2 sigma^2), far below anything that draws could tell.
    """
    ends = stats.norm.cdf((np.arange(-200, 202) - 0.5) / float(sigma))
    single = np.diff(ends)
    both = np.convolve(single, single[::-1])
    return {place - 400: float(mass) for place, mass in enumerate(both) if mass > 0}


def test_counts(source: Source) -> None:
    """With as many places as items all are chosen, and each is measured once."""
    domain = [*COUNTS, *UNSEEN[: 33 - len(COUNTS)]]
    budget = {"epsilon": 5, "delta": "0.01"}
    plan = planned(Facts(k=33, counts=True, domain_size=33), **budget)
    assert isinstance(plan.measure, MeasureTogether)
    noise = plan.measure.noise_for(33)
    assert noise.sigma > 2

    def differences() -> Iterator[int]:
        """Sixteen from each release, of disjoint pairs: independent of each other."""
        for release in draws(source, 150, plan, counts=True, domain=domain, **budget):
            errors = [
                int(value) - COUNTS.get(str(item), 0)
                for item, value in zip(release.items, release.values or (), strict=True)
            ]
            yield from (one - other for one, other in zip(errors[:32:2], errors[1:32:2], strict=True))

    assert_three_way(differences(), difference, scale=noise.sigma, judge=p_bound, look=16 * 10, fewest=16 * 40)

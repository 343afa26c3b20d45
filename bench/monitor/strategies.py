"""Ways to keep a list up to date inside one budget, on streams in memory, with the product's exact mechanisms."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bench.monitor.correlated import noisy_counts
from bench.monitor.streams import Stream
from podium.curator.monitor.periods import Found
from podium.histogram import Histogram
from podium.ledger import Budget, Totals
from podium.mechanisms import ExponentialTopK
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import run_strategy
from podium.planning.question_budget import QuestionBudget, RoundsBudget, question_budget
from podium.planning.schedule.schedule_plan import DEFAULT_MAX_ITEMS_PER_USER
from podium.planning.schedule.shares import RemainingBudget, Sharing, candidates_for, stage_for
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import Guarantee, Limits, bounded_range_rho
from podium.release import Release

__all__ = [
    "GROWING_ONLY",
    "STRATEGIES",
    "Outcome",
    "Question",
    "correlated",
    "even",
    "even_sums",
    "every_period",
    "monitor",
    "strategies_for",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One period: the share of the true list that came back, and the share of the budget that is left after it."""

    recall: float
    left: float


@dataclass(frozen=True, slots=True)
class Question:
    """How many items, within which total for the whole schedule."""

    k: int
    epsilon: str
    delta: str


def monitor(stream: Stream, question: Question, *, remeasure: int | None = None) -> list[Outcome]:
    """What TopKMonitor does for unit='user': find now and then, choose from what was found, carry what is left.

    A growing or long window is not measured in every period unless ``remeasure`` is 1; its last list is repeated.
    Windows that do not overlap are asked about in rounds, each for itself, while that brings back enough.
    """
    limits = Limits.of(Guarantee.approximate(question.epsilon, question.delta))
    sharing = Sharing(stream.periods, span=stream.span, remeasure=remeasure, in_rounds=True)
    rho, delta = limits.rho or Fraction(0), limits.delta
    whole = rho
    found = Found()
    listed: tuple[Any, ...] = ()
    outcomes = []
    for period in range(stream.periods):
        reader = PairsReader(*stream.window(period), salt=period)
        counts = reader.counts
        if not sharing.has_list(period):
            outcomes.append(Outcome(_share(listed, counts, question.k), float(rho / whole)))
            continue
        if sharing.asks_in_rounds(question.k, searches=found.searches, lists=found.lists, items=found.items):
            share, part = sharing.for_rounds(period, RemainingBudget(None, rho, delta))
            facts, rounds = Facts(k=question.k), RoundsBudget(mu_squared=2 * share, delta=part)
            release = run_strategy(strategy_for(facts, rounds), reader)
            found.add_list(release)
            rho, delta, listed = rho - release.paid.rho, delta - part, release.items
            outcomes.append(Outcome(_share(listed, counts, question.k), float(rho / whole)))
            continue
        domain: tuple[Any, ...] = found.domain(candidates_for(question.k))
        if sharing.searches(period, done=found.searches, short=len(domain) < question.k):
            stage = stage_for(
                question.k, DEFAULT_MAX_ITEMS_PER_USER, *sharing.for_finding(period, RemainingBudget(None, rho, delta))
            )
            found.add_search(reader.discover(stage, ()))
            rho, delta = rho - sum(event.rho for event in stage.worst_case), delta - stage.delta
            domain = found.domain(candidates_for(question.k))
        k, listed = min(question.k, len(domain)), ()
        if k:
            single = sharing.per_item(period, RemainingBudget(None, rho, delta), question.k)
            named = Histogram({item: int(counts[item]) if item < len(counts) else 0 for item in domain})
            release = ExponentialTopK(k, single).release(named)
            rho, listed = rho - release.paid.rho, release.items
        outcomes.append(Outcome(_share(listed, counts, question.k), float(rho / whole)))
    return outcomes


def every_period(stream: Stream, question: Question) -> list[Outcome]:
    """TopKMonitor with a new list in every period."""
    return monitor(stream, question, remeasure=1)


def correlated(stream: Stream, question: Question) -> list[Outcome]:
    """A simulation of noise that is correlated over time; only for growing windows."""
    limits = Limits.of(Guarantee.approximate(question.epsilon, question.delta))
    noisy, threshold = noisy_counts(stream, limits.rho or Fraction(0), limits.delta, seed=secrets.randbits(64))
    released = np.zeros(noisy.shape[1], dtype=bool)
    outcomes = []
    for period in range(stream.periods):
        # An item that came back once is public from then on.
        released |= noisy[period] > threshold[period]
        named = np.flatnonzero(released)
        listed = named[np.argsort(-noisy[period][named])][: question.k]
        counts = PairsReader(*stream.window(period)).counts
        left = 1 - (period + 1) / stream.periods
        outcomes.append(Outcome(_share(tuple(listed), counts, question.k), left))
    return outcomes


def even(stream: Stream, question: Question) -> list[Outcome]:
    """``podium.top`` again and again, with epsilon and delta divided by the number of periods."""
    facts = Facts(k=question.k)
    epsilon, delta = Fraction(question.epsilon) / stream.periods, Fraction(question.delta) / stream.periods
    return _repeated(stream, strategy_for(facts, question_budget(facts, epsilon=epsilon, delta=delta)))


def even_sums(stream: Stream, question: Question) -> list[Outcome]:
    """``Curator.top`` again and again: the plan of a budget for k items in every period, whose sums of rho are kept."""
    facts = Facts(k=question.k)
    totals = Totals.of(
        Budget(
            epsilon=question.epsilon,
            delta=question.delta,
            items=question.k * stream.periods,
            questions=stream.periods,
        )
    )
    single, call = totals.epsilon_per_item, totals.delta_per_call
    if facts.adaptive:
        rho = facts.k * bounded_range_rho(single)
        return _repeated(stream, strategy_for(facts, RoundsBudget(mu_squared=2 * rho, delta=call / (1 + call))))
    return _repeated(stream, strategy_for(facts, QuestionBudget(epsilon_per_item=single, delta_per_call=call)))


def _repeated(stream: Stream, plan: Strategy) -> list[Outcome]:
    """Whatever a period does not use is lost: its part of the budget is gone."""
    outcomes = []
    for period in range(stream.periods):
        reader = PairsReader(*stream.window(period), salt=period)
        found = _recall(run_strategy(plan, reader), reader, plan.facts.k)
        outcomes.append(Outcome(found, 1 - (period + 1) / stream.periods))
    return outcomes


def _recall(release: Release, reader: PairsReader, k: int) -> float:
    return _share(release.items, np.asarray(reader.counts), k)


def _share(listed: tuple[Any, ...], counts: Any, k: int) -> float:
    """The share of the true top k of these counts that is listed, as ``prediction.recall`` counts ties."""
    places = min(k, int(np.count_nonzero(counts)))
    if places == 0:
        return 1.0
    last = np.partition(counts, -places)[-places]
    found = np.array(listed, dtype=np.int64)
    return int(np.count_nonzero(counts[found[found < len(counts)]] >= last)) / places


STRATEGIES: dict[str, Callable[[Stream, Question], list[Outcome]]] = {
    "TopKMonitor": monitor,
    "TopKMonitor, a new list every period": every_period,
    "Curator.top, sums split evenly": even_sums,
    "podium.top, epsilon split evenly": even,
}
GROWING_ONLY: dict[str, Callable[[Stream, Question], list[Outcome]]] = {"correlated noise, simulated": correlated}


def strategies_for(stream: Stream) -> dict[str, Callable[[Stream, Question], list[Outcome]]]:
    """The strategies that are compared on this stream."""
    return {**STRATEGIES, **GROWING_ONLY} if stream.span is None else STRATEGIES

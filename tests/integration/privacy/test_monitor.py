"""Schedules on small worlds, exhaustively: the law of whole transcripts on neighbours keeps the promise, or breaks it.

A transcript is what a schedule releases: in each period the items that were found, in order, and the list. Its law is
put together from the exact laws of the mechanisms and from the rules that the product runs (``Sharing``, ``stage_for``,
``merge_domain``), so shares depend on what came out exactly as they do there. Variants that break one rule are caught.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import exp
from typing import Literal

import pytest

from podium.curator.monitor.periods import merge_domain
from podium.histogram import Histogram, Scores
from podium.mechanisms import ExponentialTopK, TruncatedGaussianHistogram, Weights
from podium.mechanisms.measures.clipped_sums import grid_bits_of
from podium.mechanisms.measures.quantised import quantise
from podium.planning.schedule.shares import RemainingBudget, Sharing, candidates_for, stage_for
from podium.privacy import Guarantee, Limits, zcdp_delta
from podium.privacy.costs import actual_cost

Rows = tuple[str, ...]
"""For each period the items of one user, as a text: "aab" is two events of a and one of b."""
Counts = tuple[tuple[str, int], ...]
Transcript = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
Mistake = Literal[
    "rounds if many", "measured if changed", "domain from rows", "free if usual", "empty finding free",
    "counts all rows", "clips periods",
]  # fmt: skip

MOST = 4
CLAIM = Guarantee.approximate(2, "0.1")
LIMITS = Limits.of(CLAIM)


@dataclass(frozen=True)
class Rules:
    """What a schedule does; ``clip`` ranks by events, of which a user adds at most so many.

    A ``growing`` schedule has a ``span`` of all its periods. With ``rounds`` lists have rounds of their own at first;
    a single round with a threshold, at the same price, is in their place. A ``mistake`` breaks one rule.
    """

    periods: int
    span: int = 1
    k: int = 1
    alone: bool = False
    known: bool = False
    clip: int | None = None
    growing: bool = False
    remeasure: int | None = None
    rounds: bool = False
    mistake: Mistake | None = None


@dataclass(frozen=True)
class State:
    rho: Fraction
    delta: Fraction
    found: tuple[tuple[str, ...], ...] = ()
    lists: tuple[tuple[str, ...], ...] = ()
    transcript: Transcript = ()

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        return (*self.lists, *self.found)


def window(users: tuple[Rows, ...], first: int, last: int, rules: Rules) -> list[dict[str, int]]:
    """What each user adds to each item: 1, or the number of events, clipped."""
    added = []
    for rows in users:
        spans = rows[max(0, first) : last + 1]
        if rules.mistake == "clips periods":
            clipped = Counter[str]()
            for span in spans:
                clipped.update({item: min(number, rules.clip or 1) for item, number in Counter(span).items()})
            added.append(dict(clipped))
            continue
        events = Counter("".join(spans))
        most = len("".join(spans)) if rules.mistake == "counts all rows" else rules.clip or 1
        added.append({item: min(number, most) for item, number in events.items()})
    return added


def counted(added: list[dict[str, int]], weights: Weights | None, domain: tuple[str, ...] | None) -> Counts:
    counts = dict.fromkeys(domain or (), 0)
    for items in added:
        for item, number in items.items():
            if domain is None or item in counts:
                counts[item] = counts.get(item, 0) + number * (1 if weights is None else weights.weight(len(items)))
    return tuple(sorted(counts.items()))


@lru_cache(maxsize=4096)
def outcomes(
    mechanism: TruncatedGaussianHistogram | ExponentialTopK, counts: Counts, clip: int | None = None
) -> dict[Rows, float]:
    if not counts:
        return {(): 1.0}
    known = isinstance(mechanism, ExponentialTopK)
    table: Histogram | Scores = Histogram(dict(counts), known=known)
    if clip is not None and isinstance(mechanism, ExponentialTopK):
        bits = grid_bits_of(mechanism.epsilon_per_item)
        rounded = {item: quantise(number, clip=clip, bits=bits) for item, number in counts}
        table = Scores(rounded, rises_by=1 << bits)
    found = mechanism.distribution(table)
    return {tuple(str(item) for item in outcome): chance for outcome, chance in found.items()}


def transcripts(users: tuple[Rows, ...], rules: Rules) -> dict[Transcript, float]:
    law: dict[Transcript, float] = {}
    states = {State(LIMITS.rho or Fraction(0), LIMITS.delta): 1.0}
    for period in range(rules.periods):
        after: dict[State, float] = {}
        for state, chance in states.items():
            for reached, part in _period(users, rules, period, state):
                after[reached] = after.get(reached, 0.0) + chance * part
        states = after
    for state, chance in states.items():
        law[state.transcript] = law.get(state.transcript, 0.0) + chance
    return law


def _period(users: tuple[Rows, ...], rules: Rules, period: int, state: State) -> Iterator[tuple[State, float]]:
    if not _measures(users, rules, period):
        repeated = state.transcript[-1][1]
        yield replace(state, transcript=(*state.transcript, (("repeated",), repeated))), 1.0
        return
    if _asks_in_rounds(users, rules, period, state):
        yield from _in_rounds(users, rules, period, state)
        return
    for found, chance in _found(users, rules, period, state):
        named = merge_domain(found.named, candidates_for(rules.k))
        domain = ("a", "b") if rules.known else tuple(map(str, named))
        now = window(users, period + 1 - rules.span, period, rules)
        if rules.mistake == "domain from rows":
            domain = tuple(sorted(frozenset().union(*now)))
        names = found.found[-1] if len(found.found) > len(state.found) else ()
        left, sharing, place = _purse(rules, period, found, state)
        if not domain or (left.rho or 0) < Fraction(1, 10**6):
            yield replace(found, transcript=(*state.transcript, (names, ()))), chance
            continue
        mechanism = ExponentialTopK(min(rules.k, len(domain)), sharing.per_item(place, left, rules.k))
        rho = actual_cost(mechanism.worst_case).rho
        for listed, part in outcomes(mechanism, counted(now, None, domain), rules.clip).items():
            paid = Fraction(0) if rules.mistake == "free if usual" and listed == ("a",) else rho
            yield replace(found, rho=found.rho - paid, transcript=(*state.transcript, (names, listed))), chance * part


def _asks_in_rounds(users: tuple[Rows, ...], rules: Rules, period: int, state: State) -> bool:
    if rules.mistake == "rounds if many":
        return len(counted(window(users, period, period, rules), None, None)) > 1
    items = sum(map(len, state.lists))
    return _sharing(rules).asks_in_rounds(rules.k, searches=len(state.found), lists=len(state.lists), items=items)


def _in_rounds(users: tuple[Rows, ...], rules: Rules, period: int, state: State) -> Iterator[tuple[State, float]]:
    rho, delta = _sharing(rules).for_rounds(period, RemainingBudget(None, state.rho, state.delta))
    rounds = TruncatedGaussianHistogram(k=rules.k, rho=rho, delta=delta, weights=Weights.spread(MOST))
    cost = actual_cost(rounds.worst_case)
    left = replace(state, rho=state.rho - cost.rho, delta=state.delta - cost.delta)
    sets = window(users, period, period, rules)
    for listed, chance in outcomes(rounds, counted(sets, rounds.weights, None)).items():
        told = (*state.transcript, (("in rounds",), listed))
        yield replace(left, lists=(*state.lists, listed), transcript=told), chance


def _measures(users: tuple[Rows, ...], rules: Rules, period: int) -> bool:
    if rules.mistake == "measured if changed" and period:
        now, before = (counted(window(users, 0, last, rules), None, None) for last in (period, period - 1))
        return max(now, key=lambda pair: pair[1]) != max(before, key=lambda pair: pair[1])
    return _sharing(rules).has_list(period)


def _sharing(rules: Rules) -> Sharing:
    span = None if rules.growing else 1
    return Sharing(
        rules.periods, known=rules.known, span=span, remeasure=rules.remeasure, in_rounds=rules.rounds,
        rediscover=_often(rules),
    )  # fmt: skip


def _purse(rules: Rules, period: int, now: State, before: State) -> tuple[RemainingBudget, Sharing, int]:
    if rules.mistake in {"free if usual", "empty finding free"}:
        # Whoever expects to be paid back may as well use all that there is.
        return RemainingBudget(None, now.rho, now.delta), Sharing(1, known=rules.known), 0
    if not rules.alone:
        return RemainingBudget(None, now.rho, now.delta), _sharing(rules), period
    part = RemainingBudget.of(LIMITS, rules.span)
    used = before.rho - now.rho, before.delta - now.delta
    return (
        RemainingBudget(None, (part.rho or Fraction(0)) - used[0], part.delta - used[1]),
        Sharing(1, known=rules.known),
        0,
    )


def _often(rules: Rules) -> int | None:
    return None if rules.known or rules.growing or rules.rounds else 2


def _found(users: tuple[Rows, ...], rules: Rules, period: int, state: State) -> Iterator[tuple[State, float]]:
    short = len(merge_domain(state.named, candidates_for(rules.k))) < rules.k
    used_up = state.rho < Fraction(1, 10**6) or not state.delta
    searches = _sharing(rules).searches(period, done=len(state.found), short=short) or (rules.alone and short)
    if rules.known or rules.mistake == "domain from rows" or used_up or not searches:
        yield state, 1.0
        return
    left, sharing, place = _purse(rules, period, state, state)
    share = (state.rho, state.delta) if rules.mistake == "empty finding free" else sharing.for_finding(place, left)
    stage = stage_for(rules.k, MOST, *share, clip=rules.clip or 1)
    # Where a period's rows are protected, rows of others must not share a user's weight with them.
    sets = window(users, period if rules.alone else period + 1 - rules.span, period, rules)
    cost = actual_cost(stage.worst_case)
    for names, chance in outcomes(stage, counted(sets, stage.weights, None)).items():
        free = rules.mistake == "empty finding free" and not names
        rho, delta = (Fraction(0), Fraction(0)) if free else (cost.rho, cost.delta)
        yield replace(state, rho=state.rho - rho, delta=state.delta - delta, found=(*state.found, names)), chance


def divergence(p: dict[Transcript, float], q: dict[Transcript, float], epsilon: float) -> float:
    return sum(max(0.0, chance - exp(epsilon) * q.get(told, 0.0)) for told, chance in p.items())


def allowed(epsilon: float) -> float:
    rho = LIMITS.rho or Fraction(0)
    return float(LIMITS.delta + (1 - LIMITS.delta) * zcdp_delta(rho, Fraction(epsilon)))


def excess(with_user: tuple[Rows, ...], without: tuple[Rows, ...], rules: Rules) -> float:
    """By how much the worst of both directions is above the promise; at most 0 if it is kept."""
    one, other = transcripts(with_user, rules), transcripts(without, rules)
    assert sum(one.values()) == pytest.approx(1, abs=1e-9)
    pairs = [(p, q, epsilon) for p, q in ((one, other), (other, one)) for epsilon in (0.0, 0.5, 1.0, 2.0)]
    return max(divergence(p, q, epsilon) - allowed(epsilon) for p, q, epsilon in pairs)


def bases(periods: int) -> list[tuple[Rows, ...]]:
    """Other users, who come every period: none, a few with a, more with both."""
    return [(), (("a",) * periods,) * 3, (("ab",) * periods,) * 4 + (("b",) * periods,) * 3]


@pytest.mark.parametrize("rules", [Rules(2), Rules(2, span=2), Rules(2, span=2, k=2)])
def test_two_periods_keep_the_promise_for_a_whole_user(rules: Rules) -> None:
    for base, rows in product(bases(2), product(("", "a", "b", "ab"), repeat=2)):
        assert excess((*base, rows), base, rules) <= 1e-9


@pytest.mark.parametrize("rules", [Rules(3), Rules(3, span=3), Rules(3, known=True)])
def test_three_periods_keep_the_promise_for_a_whole_user(rules: Rules) -> None:
    base = bases(3)[1]
    for rows in product(("a", "b"), ("", "ab"), ("a", "ab")):
        assert excess((*base, rows), base, rules) <= 1e-9


@pytest.mark.parametrize("k", [1, 2])
def test_lists_in_rounds_of_their_own_keep_the_promise_for_a_whole_user(k: int) -> None:
    """Some transcripts have rounds throughout, others go over to finding and choosing, by what was released."""
    rules = Rules(3, k=k, rounds=True)
    base = (("ab",) * 3,) * 8
    ways = {tuple(names == ("in rounds",) for names, _ in told) for told in transcripts(base, rules)}
    assert {(True, True, True), (True, False, False)} <= ways
    for rows in product(("a", "b"), ("", "ab"), ("a", "ab")):
        for others in (base, bases(3)[1]):
            assert excess((*others, rows), others, rules) <= 1e-9


def test_rounds_because_many_items_are_there_are_caught() -> None:
    """Which way a list is found is told, so it must not depend on rows."""
    base, user = (("a", "a"),), ("b", "b")
    assert excess((*base, user), base, Rules(2, rounds=True)) <= 1e-9
    assert excess((*base, user), base, Rules(2, rounds=True, mistake="rounds if many")) > 0.3


GROWING = [Rules(3, span=3, growing=True), Rules(3, span=3, growing=True, remeasure=2)]


@pytest.mark.parametrize("rules", [*GROWING, Rules(6, span=6, growing=True, known=True)])
def test_growing_windows_keep_the_promise_where_some_periods_repeat_the_last_list(rules: Rules) -> None:
    base = bases(rules.periods)[1]
    for rows in product(("a", "b"), ("", "ab"), ("ab",)):
        held = (*rows, *(rows[-1:] * (rules.periods - 3)))
        assert excess((*base, held), base, rules) <= 1e-9


def test_a_list_that_is_measured_again_only_if_the_rows_changed_is_caught() -> None:
    """Whether a period repeats a list is told, so it must not depend on rows."""
    rules = Rules(2, span=2, growing=True, known=True)
    base, user = (("a", ""), ("", "b")), ("", "b")
    assert excess((*base, user), base, rules) <= 1e-9
    assert excess((*base, user), base, replace(rules, mistake="measured if changed")) > 0.3


@pytest.mark.parametrize("span", [1, 2])
def test_rows_of_one_period_keep_the_promise_for_that_unit(span: int) -> None:
    """The user stays, with rows in the other periods; those of one period go."""
    rules, base = Rules(3, span=span, alone=True), bases(3)[1]
    for first, second, gone in product(("a", "ab"), ("b", "ab"), (0, 1)):
        rows = (first, second, "a")
        fewer = (*rows[:gone], "", *rows[gone + 1 :])
        assert excess((*base, rows), (*base, fewer), rules) <= 1e-9


@pytest.mark.parametrize("rules", [Rules(2, clip=2), Rules(2, span=2, clip=3), Rules(2, span=2, known=True, clip=2)])
def test_lists_by_events_keep_the_promise_for_a_whole_user(rules: Rules) -> None:
    """More events than the clip in one period, or only in a window of two."""
    for base, rows in product(bases(2)[:2], product(("", "a", "bbb", "aabbbb"), repeat=2)):
        assert excess((*base, rows), base, rules) <= 1e-9


@pytest.mark.parametrize("span", [1, 2])
def test_lists_by_events_keep_the_promise_for_rows_of_one_period(span: int) -> None:
    rules, base = Rules(3, span=span, alone=True, clip=2), bases(3)[1]
    for first, second, gone in product(("a", "aab"), ("bbb", "aabb"), (0, 1)):
        rows = (first, second, "a")
        fewer = (*rows[:gone], "", *rows[gone + 1 :])
        assert excess((*base, rows), (*base, fewer), rules) <= 1e-9


def test_events_that_are_not_clipped_by_list_are_caught() -> None:
    """A user with more events than the clip, or with as many in each period of a window."""
    base = (("a",) * 6,) * 2
    fair = Rules(6, known=True, clip=2)
    heavy, steady = ("bbbbbbbb",) * 6, ("bb",) * 6
    assert excess((*base, heavy), base, fair) <= 1e-9
    assert excess((*base, heavy), base, replace(fair, mistake="counts all rows")) > 0.05
    assert excess((*base, steady), base, replace(fair, span=6)) <= 1e-9
    assert excess((*base, steady), base, replace(fair, span=6, mistake="clips periods")) > 0.05


def test_that_unit_promises_less_to_a_whole_user() -> None:
    """Whoever appears in every period loses more than the promise of one: that is why the owner must choose."""
    base, user = (("a",) * 6,), ("b",) * 6
    assert excess((*base, user), base, Rules(6, known=True)) <= 1e-9
    assert excess((*base, user), base, Rules(6, alone=True, known=True)) > 0.05


def test_a_domain_that_was_not_released_is_caught() -> None:
    """An item that one user alone has is in the list if candidates come from rows."""
    base, user = (("a", "a"),), ("b", "b")
    assert excess((*base, user), base, Rules(2)) <= 1e-9
    assert excess((*base, user), base, Rules(2, mistake="domain from rows")) > 0.3


def test_a_refund_that_depends_on_what_was_not_paid_for_is_caught() -> None:
    """Selections that were executed are paid for, whatever they told."""
    base, user = (("a",) * 6,), ("b",) * 6
    assert excess((*base, user), base, Rules(6, known=True, mistake="free if usual")) > 0.05


def test_an_empty_round_that_costs_nothing_is_caught() -> None:
    """That nothing was found is told too, like a bottom symbol."""
    found = []
    for others in (1, 2):
        base, user = (("a",) * 16,) * others, ("a",) * 16
        found.append(excess((*base, user), base, Rules(16, mistake="empty finding free")))
        assert excess((*base, user), base, Rules(3)) <= 1e-9
    assert min(found) > 0.05


def test_weights_of_a_window_are_not_for_rows_of_a_period() -> None:
    """A user who loses the rows of one period spreads more weight over the rest: the counts move by more than 1."""
    weights = Weights.spread(100)

    def moved(with_rows: frozenset[str], without: frozenset[str]) -> Fraction:
        def vector(items: frozenset[str]) -> dict[str, Fraction]:
            return {item: Fraction(weights.weight(len(items)), weights.unit) for item in items}

        one, other, nothing = vector(with_rows), vector(without), Fraction(0)
        return sum(((one.get(item, nothing) - other.get(item, nothing)) ** 2 for item in {*one, *other}), nothing)

    week = frozenset(map(str, range(100)))
    assert moved(week, frozenset()) <= weights.sensitivity_squared <= 1
    # One item of an earlier day, ninety-nine of today's.
    assert moved(week, frozenset({"0"})) > Fraction(17, 10)

"""Whatever is planned can be drawn: no question fails, after it was reserved, for a reason that was public before."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import AdaptiveTopK, RefinedTopK, SizedKnownTopK, SizedTopK
from podium.mechanisms.groups.chosen_clip import GroupedAmounts
from podium.mechanisms.groups.composite_pairs import GroupedComposite
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.groups.rounds_at_clip import GroupedRoundsAtClip
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.question_budget import QuestionBudget, RoundsBudget, divided_budget, question_budget
from podium.planning.strategy import Strategy, strategy_for
from podium.release import Release

EXPONENTS = (-310, -31, -30, -20, -13, -12, -6, 0, 3, 8, 9, 10, 310)
SIZES = (None, 12, 13, 1000, 2**40, 2**63 - 1)
PAIRS = [(user, (user * step) % 12) for user in range(40) for step in (1, 5, 7)]


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """Public facts and a budget, most of them at an edge."""
    size = draw(st.sampled_from(SIZES))
    known = size is not None
    return {
        "size": size,
        "k": draw(st.sampled_from([1, 2, 10, 11, 12] if size in (12, 13) else [1, 2, 10, 11, 40])),
        "counts": draw(st.booleans()),
        "mechanism": draw(st.sampled_from(["auto"] if known else ["auto", "limited-domain", "adaptive"])),
        "ordered": draw(st.booleans()),
        "epsilon": f"{draw(st.integers(1, 9))}e{draw(st.sampled_from(EXPONENTS))}",
        "delta": draw(st.sampled_from(["0", "1e-101", "1e-100", "1e-6", "0.999"])),
        "ledger": draw(st.booleans()),
    }


def planned(asked: dict[str, Any]) -> Strategy:
    names = ("k", "counts", "mechanism", "ordered")
    facts = Facts(domain_size=asked["size"], **{name: asked[name] for name in names})
    if asked["ledger"]:
        divided = divided_budget(facts, epsilon=asked["epsilon"], delta=asked["delta"])
        plan = strategy_for(facts, replace(divided, guarantee=None, theorem=None))
    else:
        plan = strategy_for(facts, question_budget(facts, epsilon=asked["epsilon"], delta=asked["delta"]))
    # What a dry run and a reservation say of it belongs to the plan.
    assert plan.describe()
    assert plan.cost_sentence()
    assert plan.guarantee.sentence()
    assert plan.worst_case
    return plan


def answered(plan: Strategy) -> Release:
    """What ``curator.answer`` does with rows, on a table of 12 items; of a known domain nobody has the others."""
    size = plan.facts.domain_size
    if isinstance(plan.mechanism, AdaptiveTopK | RefinedTopK | SizedKnownTopK | SizedTopK):
        users, items = ([pair[place] for pair in PAIRS] for place in (0, 1))
        return plan.mechanism.release(PairsReader(users, items, domain_size=size))
    if size is None:
        histogram = Histogram.top_rows(list("abcdefghijkl"), list(range(12, 0, -1)), next_count=0)
    else:
        tally = {**dict.fromkeys(range(1, 13), 1), 0: size - 12}
        histogram = Histogram.from_counts_of_counts(tally, lambda count, rank: (count, rank))
    assert not isinstance(
        plan.mechanism, MeasuredTopK | GroupedAmounts | GroupedComposite | GroupedRounds | GroupedRoundsAtClip
    )
    release = plan.mechanism.release(histogram)
    if plan.measure is None or not release.items:
        return release
    places: list[Any] = list(release.items)
    counts = histogram if size is None else Histogram({place: place[0] for place in places})
    return replace(release, values=plan.measure.release(counts, release.items).values, value_kind="counts")


@settings(max_examples=25)
@given(asked=questions())
def test_planned_means_drawn(asked: dict[str, Any]) -> None:
    try:
        plan = planned(asked)
    except InvalidArgument:
        return
    release = answered(plan)
    assert len(release.items) <= asked["k"]
    assert Release.from_json(release.to_json()).outcome == release.outcome


@pytest.mark.parametrize(
    ("epsilon", "delta", "message"),
    [
        ("1e-31", 0, "epsilon='1e-31' is not valid. Allowed: a number from 1e-30 to 1e9 where delta is 0."),
        ("1e20", "1e-6", "epsilon='1e20' is not valid. Allowed: a number from 1e-12 to 1e9 where delta is above 0."),
        ("1e-13", "1e-6", "epsilon='1e-13' is not valid. Allowed: a number from 1e-12 to 1e9 where delta is above 0."),
        ("1", "1e-101", "delta='1e-101' is not valid. Allowed: 0, or a number of at least 1e-100 and below 1."),
        ("1e-8", "1e-100", "epsilon=1/100000000 is not valid. Allowed: 1e-7 or more with counts, k=10 and delta="),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_the_least(epsilon: str, delta: Any, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        question_budget(Facts(k=10, domain_size=10, counts=True), epsilon=epsilon, delta=delta)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "budget",
    [
        QuestionBudget(epsilon_per_item=Fraction(10**101)),
        QuestionBudget(epsilon_per_item=Fraction(1, 10**106)),
        RoundsBudget(mu_squared=Fraction(10**31), delta=Fraction(1, 10**6)),
        RoundsBudget(mu_squared=Fraction(1, 10**61), delta=Fraction(1, 10**6)),
    ],
)
def test_what_follows_from_a_budget_has_limits_too(budget: Any) -> None:
    with pytest.raises(InvalidArgument, match="It follows from the budget"):
        strategy_for(Facts(k=20), budget)

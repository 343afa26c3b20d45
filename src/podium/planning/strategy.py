"""Strategies: the mechanism, its parameters and what to expect of it, from public facts only.

A strategy never sees a row. Its predictions, how far a count must stand out and what the answer can cost, follow from
the noise, k and the size of the domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from podium.exact import dyadic_above
from podium.mechanisms.base import Mechanism, describe
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.reader import Reads
from podium.planning.facts import MAX_SHORT_KNOWN_LIST, Facts
from podium.planning.limits import require_noise
from podium.planning.mechanism_choice import ORDERED_BY_COUNTS, Choice
from podium.planning.paths import (
    IN_ROUNDS,
    LONG_SIZED_PATHS,
    ONCE,
    SHORT_SIZED_PATHS,
    SIZED_PATHS,
    WHY_SHORT,
    WHY_SIZED,
)
from podium.planning.question_budget import AnyBudget, QuestionBudget, RoundsBudget, WholeBudget
from podium.planning.reach import MISS_PROBABILITY, REACH_BITS, log_over, round_up
from podium.privacy import Event, GaussianNoise, Guarantee, Theorem, bounded_range_rho, total, worst_case
from podium.privacy.rounding import display

if TYPE_CHECKING:
    from podium.estimates import MeasureCounts, MeasureOthers, MeasureTogether
    from podium.mechanisms.by_sizes.sized_known import SizedKnownTopK
    from podium.mechanisms.by_sizes.sized_topk import SizedTopK
    from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
    from podium.mechanisms.gaussian.refined import RefinedTopK
    from podium.mechanisms.groups.chosen_clip import GroupedAmounts
    from podium.mechanisms.groups.composite_pairs import GroupedComposite
    from podium.mechanisms.groups.grouped_rounds import GroupedRounds
    from podium.mechanisms.groups.rounds_at_clip import GroupedRoundsAtClip
    from podium.mechanisms.measures.measured_topk import MeasuredTopK
    from podium.ranking import MeasureScores, RankingMethod

    AnyMechanism: TypeAlias = (
        Mechanism
        | AdaptiveTopK
        | GroupedAmounts
        | GroupedComposite
        | GroupedRounds
        | GroupedRoundsAtClip
        | MeasuredTopK
        | RefinedTopK
        | SizedKnownTopK
        | SizedTopK
    )

__all__ = ["DEFAULT_MAX_ITEMS_PER_USER", "Strategy", "found_sentence", "strategy_for", "strategy_in_rounds"]

DEFAULT_MAX_ITEMS_PER_USER = 1_000
_READ_IN_ROUNDS = (Reads.ROUNDS, Reads.GROUPS_IN_ROUNDS, Reads.GROUPS_IN_ROUNDS_AT_CLIP)
_ROOT_OF_TEN = Fraction(316228, 100000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A mechanism, what it can cost, and the reason for it; ``ranking`` turns comparisons into scores."""

    facts: Facts
    mechanism: AnyMechanism
    guarantee: Guarantee
    why: str
    reach: Fraction
    reach_sentence: str
    measure: MeasureCounts | MeasureTogether | None = None
    epsilon_per_item: Fraction | None = None
    """None where items have no epsilon of their own."""
    delta_per_call: Fraction = Fraction(0)
    theorem: Theorem | None = None
    pure: bool = False
    ranking: RankingMethod | None = None
    ordered: bool = True
    paths: str = ""
    """Which way is taken when, and how often the table is counted."""
    others: MeasureOthers | None = None
    """What is measured beside the list, once it is public."""
    scores: MeasureScores | None = None
    """What measures the scores of a ranking; then ``measure`` is None."""
    whole: bool = False
    """Whether the mechanism uses up (epsilon, delta) as a whole, so that rho says little."""

    @property
    def second_phase(self) -> MeasureCounts | MeasureScores | MeasureTogether | None:
        """What measures the items that were selected, whichever it is."""
        return self.scores if self.measure is None else self.measure

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The events to reserve before data is read, in an order that no answer leaves: one list is counted last."""
        counts = () if self.second_phase is None else self.second_phase.worst_case(self.facts.k)
        groups = 1 if self.facts.groups is None else self.facts.groups.most
        beside = () if self.others is None else self.others.events
        return (*counts * (groups - 1), *self.mechanism.worst_case, *counts, *beside * groups)

    @property
    def rows(self) -> int | None:
        """How many rows to read from an unknown domain; None if only counts of counts are read."""
        if self.mechanism.reads in (Reads.GROUPS, Reads.GROUPS_AT_CLIP):
            return self.facts.rows if self.facts.hides else None
        return self.facts.rows if self.mechanism.reads is Reads.TOP_ROWS else None

    def describe(self) -> str:
        """The mechanism and its parameters, with decimal numbers."""
        shown = {name: value for name, value in describe(self.mechanism).items() if value != "None"}
        parameters = ", ".join(f"{name}={_decimal(value)}" for name, value in shown.items())
        step = self.second_phase
        counts = "" if step is None else f", then {step.describe_noise(self.facts.k)}"
        counts += "" if self.others is None else f", then {self.others.describe_noise()}"
        return f"{type(self.mechanism).__name__}({parameters}){counts}"

    def cost_sentence(self) -> str:
        """The most that the answer can cost, and the least."""
        most = worst_case(self.worst_case)
        may_end = self.facts.hides or self.facts.at_least is not None
        if self.pure and most.epsilon is not None:
            return f"epsilon {display(most.epsilon)}, {'if k items come back' if may_end else 'whatever comes out'}"
        if self.whole:
            loss, slack = self.guarantee.epsilon(), self.guarantee.cost.delta
            return f"epsilon {display(loss)} and delta {display(slack)}, whatever comes out"
        text = f"rho {display(most.rho)}" + (f" and delta {display(most.delta)}" if most.delta else "")
        if self.mechanism.reads is Reads.GROUPS_TOGETHER:
            return f"{text}, whatever comes out"
        if self.epsilon_per_item is None or self.mechanism.reads in _READ_IN_ROUNDS:
            # Counts use up what rounds leave.
            less = "nothing is found" if self.facts.counts else "the list is settled before all rounds are run"
            return f"{text}; less rho if {less}"
        if not may_end:
            return f"{text}, whatever comes out"
        groups = self.facts.groups
        if groups is not None:
            # Everything but selections and counts is paid whatever comes out: the choice of a clip.
            always = [event for event in self.mechanism.worst_case if isinstance(event, GaussianNoise)]
            least = total(always).cost.rho if always else Fraction(0)
            least += groups.most * (bounded_range_rho(self.epsilon_per_item) + self._always_beside)
            return f"{text} for all groups together; rho {display(least)} if nothing comes out of any"
        least = bounded_range_rho(self.epsilon_per_item) + self._always_beside
        return f"{text} if k items come back; rho {display(least)} if none does"

    @property
    def _always_beside(self) -> Fraction:
        """The rho of what is measured beside a list that has no item; of unknown groups no empty list is shown."""
        hidden = self.facts.groups is not None and self.facts.groups.known is None
        return Fraction(0) if self.others is None or hidden else total(self.others.events).cost.rho


def strategy_for(facts: Facts, budget: AnyBudget) -> Strategy:
    """The mechanism for these facts within this budget; noise that cannot be drawn is refused."""
    if facts.groups is not None:
        from podium.planning.grouped import grouped_strategy  # noqa: PLC0415 - most questions have one list

        return grouped_strategy(facts, facts.groups, budget)
    if facts.measure is not None:
        from podium.planning.measured import measured_strategy  # noqa: PLC0415 - most questions rank by users

        return measured_strategy(facts, budget)
    if isinstance(budget, WholeBudget):
        return _undecided_strategy(facts, budget)
    if isinstance(budget, RoundsBudget):
        require_noise(mu_squared=budget.mu_squared)
        return _rounds_strategy(facts, budget) if facts.domain_size is None else _refined_strategy(facts, budget)
    require_noise(epsilon_per_item=budget.epsilon_per_item)
    unknown = facts.domain_size is None
    choice = _choose_limited_domain(facts, budget) if unknown else _choose_known_domain(facts, budget)
    measure = _measure_for(facts, budget) if facts.counts else None
    worst = (*choice.mechanism.worst_case, *(() if measure is None else measure.worst_case(facts.k)))
    return Strategy(
        facts=facts,
        mechanism=choice.mechanism,
        measure=measure,
        guarantee=budget.guarantee or total(worst),
        why=choice.why,
        reach=choice.reach,
        reach_sentence=choice.reach_sentence,
        epsilon_per_item=budget.epsilon_per_item,
        delta_per_call=budget.delta_per_call if unknown else Fraction(0),
        theorem=None if choice.proves_itself else budget.theorem,
        pure=budget.pure,
        ordered=choice.ordered,
        paths=ONCE,
    )


def _undecided_strategy(facts: Facts, budget: WholeBudget) -> Strategy:
    if facts.domain_size is not None:
        from podium.planning import known_by_sizes  # noqa: PLC0415 - two mechanisms

        known = known_by_sizes.shared_vote_strategy if facts.one_item_each else known_by_sizes.sized_known_strategy
        return known(facts, budget)
    return _one_item_strategy(facts, budget) if facts.one_item_each else _sized_strategy(facts, budget)


def _choose_known_domain(facts: Facts, budget: QuestionBudget) -> Choice:
    from podium.planning.known_domain import choose_for_known_domain  # noqa: PLC0415 - four mechanisms

    return choose_for_known_domain(facts, budget)


def _measure_for(facts: Facts, budget: QuestionBudget) -> MeasureCounts | MeasureTogether:
    from podium.estimates import MeasureCounts, MeasureTogether  # noqa: PLC0415 - only counts are measured

    if budget.sigma is None:
        return MeasureCounts(epsilon_per_item=budget.epsilon_per_count or budget.epsilon_per_item)
    # A question of its own has no use for what a short list leaves over; a ledger gives it back.
    shared = None if budget.guarantee is None else facts.k
    return MeasureTogether(budget.sigma, items=shared, max_items_per_user=facts.max_items_per_user)


def _rounds_strategy(facts: Facts, budget: RoundsBudget) -> Strategy:
    from podium.mechanisms.gaussian.adaptive import AdaptiveTopK  # noqa: PLC0415 - short lists do without rounds

    mechanism = AdaptiveTopK(
        facts.k,
        budget.mu_squared,
        budget.delta,
        max_items_per_user=facts.max_items_per_user or DEFAULT_MAX_ITEMS_PER_USER,
        counts=facts.counts,
    )
    reach = mechanism.first_threshold
    return strategy_in_rounds(
        facts,
        budget,
        mechanism,
        why=(
            "The items are not known beforehand: rounds of Gaussian noise find candidates, settle what is clearly in, "
            "and measure only the border again."
        ),
        reach=reach,
        reach_sentence=found_sentence(reach),
        paths=IN_ROUNDS.format(9 if facts.counts else 8),
    )


def found_sentence(reach: Fraction) -> str:
    """How far an item must reach to be found in rounds."""
    return (
        f"An item is found if it has well over {round_up(reach)} users who have few other items, or well over "
        f"{round_up(_of_busy_users(reach))} who have about ten."
    )


def strategy_in_rounds(
    facts: Facts,
    budget: RoundsBudget,
    mechanism: AnyMechanism,
    *,
    why: str,
    reach: Fraction,
    reach_sentence: str,
    paths: str,
) -> Strategy:
    """A strategy whose mechanism divides one mu^2 among its rounds by itself."""
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=budget.guarantee or total(mechanism.worst_case),
        why=why,
        reach=reach,
        reach_sentence=reach_sentence,
        epsilon_per_item=budget.per_item,
        delta_per_call=budget.delta,
        theorem=budget.theorem,
        paths=paths,
    )


def _of_busy_users(reach: Fraction) -> Fraction:
    """The same reach for an item whose users have about ten others: they count for 1/sqrt(10) each."""
    return dyadic_above(reach * _ROOT_OF_TEN, REACH_BITS)


def _sized_strategy(facts: Facts, budget: WholeBudget) -> Strategy:
    from podium.mechanisms.by_sizes.decision import LONGEST_CALL  # noqa: PLC0415 - very short lists do without
    from podium.mechanisms.by_sizes.sized_topk import SizedTopK  # noqa: PLC0415

    mechanism = SizedTopK(
        facts.k, budget.epsilon, budget.delta, k_bar=facts.rows, max_items_per_user=facts.max_items_per_user
    )
    reach = mechanism.first_threshold
    if mechanism.asks_lead:
        busy, whose, paths = mechanism.limited_domain.margin, "whatever else they have", SHORT_SIZED_PATHS
    else:
        busy = _of_busy_users(mechanism.one_discovery(DEFAULT_MAX_ITEMS_PER_USER).count_threshold)
        whose = "who have about ten"
        paths = SIZED_PATHS if facts.k <= LONGEST_CALL else LONG_SIZED_PATHS
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=mechanism.guarantee,
        why=WHY_SHORT if mechanism.asks_lead else WHY_SIZED,
        reach=reach,
        reach_sentence=(
            f"An item is found if it has well over {round_up(reach)} users who have no other item, or well over "
            f"{round_up(busy)} {whose}."
        ),
        delta_per_call=budget.delta,
        paths=paths,
        whole=True,
    )


def _one_item_strategy(facts: Facts, budget: WholeBudget) -> Strategy:
    from podium.mechanisms import TruncatedLaplaceHistogram  # noqa: PLC0415 - users rarely have one item

    mechanism = TruncatedLaplaceHistogram(
        k=facts.k, epsilon=budget.epsilon, delta=budget.delta, max_items_per_user=facts.max_items_per_user or 1
    )
    reach = mechanism.count_threshold
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=Guarantee.approximate(budget.epsilon, budget.delta),
        why=(
            "The items are not known beforehand, and each user counts with one: Laplace noise on every count has the "
            "lowest threshold there is."
        ),
        reach=reach,
        reach_sentence=f"An item is found if it has well over {round_up(reach)} users.",
        delta_per_call=budget.delta,
        paths=ONCE,
        whole=True,
    )


def _refined_strategy(facts: Facts, budget: RoundsBudget) -> Strategy:
    from podium.mechanisms.gaussian.refined import RefinedTopK  # noqa: PLC0415 - only long lists need it

    mechanism = RefinedTopK(
        facts.k,
        budget.mu_squared,
        max_items_per_user=facts.max_items_per_user or DEFAULT_MAX_ITEMS_PER_USER,
        counts=facts.counts,
    )
    # Two standard deviations of a difference, if everything were spent on it.
    reach = dyadic_above(mechanism.stage(Fraction(1)).count_sigma * Fraction(283, 100), REACH_BITS)
    reason = "counts are wanted" if facts.counts and facts.k <= MAX_SHORT_KNOWN_LIST else "the list is long"
    return strategy_in_rounds(
        facts,
        budget,
        mechanism,
        why=(
            f"The domain is known and {reason}: Gaussian noise ranks all items roughly, and then only the "
            f"border of the list is measured again.{'' if facts.ordered else ORDERED_BY_COUNTS}"
        ),
        reach=reach,
        reach_sentence=(
            f"Items are told apart if their counts differ by well over {round_up(reach)} users who have few other "
            f"items, or well over {round_up(_of_busy_users(reach))} who have about ten."
        ),
        paths=IN_ROUNDS.format(8 if facts.counts else 7),
    )


def _choose_limited_domain(facts: Facts, budget: QuestionBudget) -> Choice:
    """Successive selections among the largest rows (Durfee & Rogers 2019; the reach is their Lemma 8.1)."""
    mechanism = LimitedDomain(
        facts.k,
        facts.rows,
        budget.epsilon_per_item,
        budget.delta_per_call,
        max_items_per_user=facts.max_items_per_user,
        at_least=facts.at_least,
    )
    reach = mechanism.margin + log_over(Fraction(facts.k) / MISS_PROBABILITY, budget.epsilon_per_item)
    return Choice(
        mechanism,
        "The items are not known beforehand, so only the true top "
        f"{facts.rows} compete, against a threshold that hides which items are there; only what passes is paid for.",
        reach,
        f"With probability 0.95 k items come back, if the k-th has {round_up(reach)} more users than "
        f"the item of rank {facts.rows + 1}.",
    )


def _decimal(value: str) -> str:
    return display(Fraction(value)) if "/" in value else value

"""The strategy of a question with a list for each group."""

from __future__ import annotations

from fractions import Fraction

from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts, MeasureTogether
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.groups.chosen_clip import GroupedAmounts
from podium.mechanisms.groups.composite_pairs import GroupedComposite
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.groups.rounds_at_clip import GroupedRoundsAtClip
from podium.planning.facts import Facts, GroupFacts
from podium.planning.limits import require_noise
from podium.planning.measured import reach_of_sums
from podium.planning.measured_budget import CLIP_SHARE, take_clip_share
from podium.planning.question_budget import AnyBudget, QuestionBudget, RoundsBudget
from podium.planning.reach import MISS_PROBABILITY, in_turn_sentence, log_over, round_up
from podium.planning.strategy import DEFAULT_MAX_ITEMS_PER_USER, Strategy, found_sentence, strategy_in_rounds
from podium.privacy import total
from podium.privacy.rounding import display

__all__ = ["grouped_strategy"]

_MAX_ROUNDS = 9
"""Three that find, and three times the sizes and differences at borders."""


def grouped_strategy(facts: Facts, groups: GroupFacts, budget: AnyBudget) -> Strategy:
    """Rounds or selections in every group within this budget; noise that cannot be drawn is refused."""
    if isinstance(budget, RoundsBudget):
        return _together(facts, groups, budget) if groups.per_user is None else _in_rounds(facts, groups, budget)
    if not isinstance(budget, QuestionBudget):
        raise InvalidArgument("mechanism", facts.mechanism, allowed="'auto' where there is a list for each group")
    budget, share = take_clip_share(facts, budget)
    require_noise(epsilon_per_item=budget.epsilon_per_item)
    mechanism: GroupedTopK | GroupedAmounts
    mechanism = _hiding(facts, groups, budget) if facts.hides else _listing(facts, groups, budget)
    if share is not None:
        mechanism = GroupedAmounts(share, mechanism)
    measure = _measure(facts, budget) if facts.counts else None
    counts = () if measure is None else measure.worst_case(facts.k)
    reach, sentence = _reach(facts, mechanism, budget)
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        measure=measure,
        guarantee=budget.guarantee or total((*mechanism.worst_case, *counts * mechanism.most)),
        why=_why(facts, groups, _selecting(facts)),
        reach=reach,
        reach_sentence=sentence,
        epsilon_per_item=budget.epsilon_per_item,
        delta_per_call=budget.delta_per_call if facts.hides else Fraction(0),
        theorem=budget.theorem,
        pure=budget.pure,
        paths=_paths(facts) if share is not None else "One way, which counts the table once, for all groups together.",
    )


def _together(facts: Facts, groups: GroupFacts, budget: RoundsBudget) -> Strategy:
    """One discovery of pairs, for users who are in many groups."""
    most = facts.max_items_per_user or DEFAULT_MAX_ITEMS_PER_USER
    mechanism = GroupedComposite.spending(
        facts.k, budget.mu_squared, budget.delta, max_items_per_user=most, known=groups.known
    )
    require_noise(mu_squared=budget.mu_squared)
    reach = mechanism.inner.count_threshold
    return strategy_in_rounds(
        facts,
        budget,
        mechanism,
        why=(
            "Each user counts in all of their groups, with weights of one length over all of them, so that all groups "
            "together cost what one list costs, however many groups a user is in: Gaussian noise on every pair of "
            "group and item, cut off at the threshold that pairs must pass."
        ),
        reach=reach,
        reach_sentence=f"{found_sentence(reach)} A user's items of all groups count as others.",
        paths="One way, which reads the table once and counts its distinct pairs once, for all groups together.",
    )


def _in_rounds(facts: Facts, groups: GroupFacts, budget: RoundsBudget) -> Strategy:
    rest, share = take_clip_share(facts, budget)
    # At a clip of their own, values are measured after the rounds: as there, with half of what noise has.
    apart = facts.counts and share is not None
    groups = _with_pairs(groups, facts.max_items_per_user)
    rounds = GroupedRounds.dividing(
        facts.k,
        rest.mu_squared / 2 if apart else rest.mu_squared,
        rest.delta,
        groups_per_user=groups.per_user or 1,
        known=groups.known,
        max_items_per_user=facts.max_items_per_user or DEFAULT_MAX_ITEMS_PER_USER,
        counts=facts.counts and not apart,
        clip=1 if facts.measure is None else facts.measure.clip or 1,
    )
    require_noise(mu_squared=rounds.inner.mu_squared)
    mechanism = (
        rounds
        if share is None
        else GroupedRoundsAtClip(share, rounds, mu_squared_for_values=rounds.inner.mu_squared if apart else None)
    )
    reach, sentence = _reach_in_rounds(facts, rounds)
    return strategy_in_rounds(
        facts,
        budget,
        mechanism,
        why=_why(
            facts,
            groups,
            f"{_choosing(facts)}In each, rounds of Gaussian noise find candidates, settle what is clearly in, "
            "and measure only the border again.",
        ),
        reach=reach,
        reach_sentence=f"In each group: {sentence}",
        paths=(
            "One way, which reads the table once and counts its distinct pairs at most "
            f"{_MAX_ROUNDS + facts.counts + (share is not None)} times, for all groups together."
        ),
    )


def _with_pairs(groups: GroupFacts, most: int | None) -> GroupFacts:
    """The same where users are cut to so many pairs before the first round: nobody is in more groups than that."""
    return groups if most is None else groups._replace(per_user=min(groups.per_user or 1, most))


def _reach_in_rounds(facts: Facts, rounds: GroupedRounds) -> tuple[Fraction, str]:
    """What an item must have to be found in a group; a sum in clips."""
    reach = rounds.inner.first_threshold
    if facts.measure is None:
        return reach, found_sentence(reach)
    reach /= rounds.inner.clip
    return reach, reach_of_sums(facts, facts.measure, reach)


def _hiding(facts: Facts, groups: GroupFacts, budget: QuestionBudget) -> GroupedTopK:
    """Limited domains. What a call may fail with is the same for any number of groups: d/(1+d)."""
    delta, measure = budget.delta_per_call, facts.measure
    return GroupedTopK.selections(
        facts.k,
        facts.rows,
        budget.epsilon_per_item,
        delta if groups.most == 1 else delta / (1 + delta),
        groups_per_user=groups.per_user or 1,
        known=groups.known,
        max_items_per_user=facts.max_items_per_user,
        clip=1 if measure is None else (measure.clip or 1) - measure.floor,
        at_least=facts.at_least,
    )


def _listing(facts: Facts, groups: GroupFacts, budget: QuestionBudget) -> GroupedTopK:
    inner = ExponentialTopK(facts.k, budget.epsilon_per_item, at_least=facts.at_least)
    return GroupedTopK(inner, groups.per_user or 1, known=groups.known)


def _measure(facts: Facts, budget: QuestionBudget) -> MeasureCounts | MeasureTogether:
    """The counts of one group; sums in units of the clip."""
    clip = 1 if facts.measure is None else facts.measure.clip or 1
    floor = 0 if facts.measure is None else facts.measure.floor
    if budget.sigma is None:
        single = budget.epsilon_per_count or budget.epsilon_per_item
        return MeasureCounts(epsilon_per_item=single, clip=clip, falls_by=-floor)
    if floor:
        # Shared noise would protect less where sums also fall.
        return MeasureCounts(sigma=budget.sigma, clip=clip, falls_by=-floor)
    # At a clip of their own, values are sums of pairs of which none is cut.
    chosen = facts.measure is not None and facts.measure.clip is None
    most = None if chosen else facts.max_items_per_user
    return MeasureTogether(budget.sigma, items=facts.k, max_items_per_user=most, clip=clip, even=True)


def _selecting(facts: Facts) -> str:
    if not facts.hides:
        return "In each, exponential mechanisms in turn return all k items of the known domain."
    text = f"In each, the true top {facts.rows} compete against a threshold that hides which items are there."
    return f"{_choosing(facts)}{text}"


def _choosing(facts: Facts) -> str:
    """What a clip costs that nobody stated."""
    if facts.measure is None or facts.measure.clip is not None:
        return ""
    return (
        f"{display(CLIP_SHARE * 100)} percent of the question's rho pay for choosing how much of each user counts "
        "(the clip), once for all groups. "
    )


def _paths(facts: Facts) -> str:
    """Where the clip is chosen first."""
    return (
        f"One way, which counts the table {3 if facts.counts else 2} times, from pairs that are computed once, for all "
        "groups together."
    )


def _why(facts: Facts, groups: GroupFacts, how: str) -> str:
    if groups.most == 1:
        price = "Each user counts in one group, so all groups together cost what one list costs"
    else:
        price = (
            f"Each user counts in at most {groups.most} groups, so all of them together cost what so many lists cost"
        )
    shown = (
        "the groups are not known beforehand, and one is shown if an item of it stands out"
        if groups.known is None
        else f"all {groups.known} listed groups are shown"
    )
    return f"{price}; {shown}. {how}"


def _reach(facts: Facts, mechanism: GroupedTopK | GroupedAmounts, budget: QuestionBudget) -> tuple[Fraction, str]:
    single = budget.epsilon_per_item
    if not facts.hides:
        reach = log_over(Fraction(facts.k) / MISS_PROBABILITY * (facts.domain_size or 1), single)
        return reach, f"In each group: {in_turn_sentence(reach)}"
    measure = facts.measure
    span = 1 if measure is None else (measure.clip or 1) - measure.floor
    unit = Fraction(span) if measure is None else span * measure.unit
    reach = (mechanism.margin / span + log_over(Fraction(facts.k) / MISS_PROBABILITY, single)) * unit
    if measure is not None and measure.clip is None:
        return reach, (
            f"With probability 0.95 k items of a group come back, if the sum of its k-th is {round_up(reach / unit)} "
            f"times the clip above that of the group's item of rank {facts.rows + 1}."
        )
    more = f"{round_up(reach)} more users than" if measure is None else f"a sum that is {round_up(reach)} above that of"
    return reach, (
        f"With probability 0.95 k items of a group come back, if its k-th has {more} the group's item of rank "
        f"{facts.rows + 1}."
    )

"""The papers' mechanisms, asked for by name: for a single question, by those who know which one they want."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from podium.errors import InvalidArgument
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.limited_domain.laplace import laplace_cost
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.limited_domain.private_k_bar import PrivateKBar
from podium.mechanisms.sparse_vector.hybrid import HybridTopK, Priority
from podium.planning.facts import Facts
from podium.planning.limits import require_noise
from podium.planning.mechanism_choice import Choice
from podium.planning.question_budget import selections_budget
from podium.planning.reach import MISS_PROBABILITY, log_over, round_up
from podium.planning.strategy import Strategy
from podium.privacy import Guarantee, Theorem

__all__ = ["named_strategy"]

_MAX_HALVINGS, _STEPS = 400, 10


def named_strategy(facts: Facts, guarantee: Guarantee) -> Strategy:
    """The strategy of a question that names a mechanism of a paper; it has the whole guarantee."""
    choice, theorem = _CHOICES[facts.mechanism](facts, guarantee)
    return Strategy(
        facts=facts,
        mechanism=choice.mechanism,
        guarantee=guarantee if guarantee.cost.delta else choice.mechanism.guarantee,
        why=choice.why,
        reach=choice.reach,
        reach_sentence=choice.reach_sentence,
        delta_per_call=guarantee.cost.delta,
        theorem=theorem,
        ordered=choice.ordered,
        paths="One way, which reads the table once.",
        whole=True,
    )


def _selecting(facts: Facts, guarantee: Guarantee, *, strict: bool) -> tuple[Choice, Theorem | None]:
    """The limited domain with another threshold, or with a k_bar that is chosen privately."""
    budget = selections_budget(facts.k if strict else facts.k + 1, guarantee)
    single, call = budget.epsilon_per_item, budget.delta_per_call
    require_noise(epsilon_per_item=single)
    k_bar = facts.rows if strict else PrivateKBar(facts.rows)
    made = LimitedDomain(facts.k, k_bar, single, call, max_items_per_user=facts.max_items_per_user, strict=strict)
    if strict:
        why = "The strictly limited domain was asked for: only items above the first that does not compete take part."
    else:
        why = "A private k_bar was asked for: how many items compete is chosen first, for one selection more."
    return _found(made, made.margin, single, facts.k, why), budget.theorem


def _strict(facts: Facts, guarantee: Guarantee) -> tuple[Choice, Theorem | None]:
    return _selecting(facts, guarantee, strict=True)


def _private_k_bar(facts: Facts, guarantee: Guarantee) -> tuple[Choice, Theorem | None]:
    return _selecting(facts, guarantee, strict=False)


def _laplace(facts: Facts, guarantee: Guarantee) -> tuple[Choice, Theorem | None]:
    """Laplace noise on the rows of the limited domain, whose noisy counts come back."""
    most = facts.max_items_per_user
    if most is None or most > facts.rows:
        raise InvalidArgument(
            "max_items_per_user", most, allowed=f"an integer from 1 to {facts.rows} with mechanism={facts.mechanism!r}",
            hint="Its noise grows with the items of one user, so users with more are cut.",
        )  # fmt: skip
    single = guarantee.epsilon() / most
    require_noise(epsilon_per_item=single)
    made = LimitedDomain(
        facts.k, facts.rows, single, _largest_delta(most, single, guarantee.cost.delta), max_items_per_user=most,
        noise="laplace",
    )  # fmt: skip
    why = "Laplace noise was asked for: noisy counts decide, and come back without a price of their own."
    return _found(made, made.margin, single, facts.k, why), None


def _largest_delta(most: int, single: Fraction, whole: Fraction) -> Fraction:
    """A delta of the mechanism whose failure is at most the whole: nearly the largest."""
    halved = (whole / 2**place for place in range(_MAX_HALVINGS))
    low = next((delta for delta in halved if _failure(most, single, delta) <= whole), Fraction(0))
    high = 2 * low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _failure(most, single, middle) <= whole else (low, middle)
    if not low:
        raise InvalidArgument(
            "delta", str(whole), allowed="a larger delta for so many items per user, or a smaller epsilon",
            hint="Lower max_items_per_user, or say mechanism='limited-domain'.",
        )  # fmt: skip
    return low


def _failure(most: int, single: Fraction, delta: Fraction) -> Fraction:
    try:
        return laplace_cost(most, single, delta).delta
    except InvalidArgument:
        return Fraction(1)


def _fixed_threshold(facts: Facts, guarantee: Guarantee) -> tuple[Choice, Theorem | None]:
    """Independent decisions, each with its part of epsilon and delta: a set."""
    if facts.ordered:
        raise InvalidArgument(
            "ordered", True, allowed=f"False with mechanism={facts.mechanism!r}", hint="It returns a set."
        )
    single = guarantee.epsilon() / facts.k
    require_noise(epsilon_per_item=single)
    made = FixedThreshold(facts.k, single, guarantee.cost.delta / facts.k)
    reach = made.margin + log_over(Fraction(1, 2) / MISS_PROBABILITY, single)
    why = "A fixed threshold was asked for: each of the top k decides by itself whether it stands out."
    sentence = f"An item is found if it has well over {round_up(reach)} more users than the item of rank {facts.k + 1}."
    return Choice(made, why, reach, sentence, ordered=False), None


def _found(made: LimitedDomain, margin: Fraction, single: Fraction, k: int, why: str) -> Choice:
    reach = margin + log_over(Fraction(k) / MISS_PROBABILITY, single)
    sentence = (
        f"An item is found if it has well over {round_up(reach)} more users than the first that does not compete."
    )
    return Choice(made, why, reach, sentence)


def _hybrid(facts: Facts, guarantee: Guarantee) -> tuple[Choice, Theorem | None]:
    """Noisy counts above a public threshold, which is the minimum that was asked for; pure, with gaps."""
    if facts.at_least is None:
        raise InvalidArgument(
            "at_least", None, allowed=f"a number with mechanism={facts.mechanism!r}",
            hint="It is the threshold at which the list is cut: at_least=50.",
        )  # fmt: skip
    epsilon = guarantee.epsilon()
    require_noise(epsilon_per_item=epsilon / facts.k)
    first: Priority = "estimates" if facts.mechanism == "hybrid-estimates" else "identities"
    made = HybridTopK(facts.at_least, facts.k, epsilon, first=first)
    reach = log_over(Fraction(facts.k) / MISS_PROBABILITY * (facts.domain_size or 1), epsilon / facts.k)
    why = f"A hybrid was asked for ({first} first): the k largest noisy counts, cut at a noisy threshold, with gaps."
    sentence = f"Items with well over {round_up(reach)} users more than {facts.at_least} are above the threshold."
    return Choice(made, why, reach, sentence), None


_Named = Callable[[Facts, Guarantee], tuple[Choice, Theorem | None]]
_CHOICES: Mapping[str, _Named] = MappingProxyType(
    {
        "limited-domain-laplace": _laplace,
        "limited-domain-strict": _strict,
        "limited-domain-private-k-bar": _private_k_bar,
        "fixed-threshold": _fixed_threshold,
        "hybrid": _hybrid,
        "hybrid-estimates": _hybrid,
    }
)

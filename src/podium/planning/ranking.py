"""Scores and mechanism of a ranking, chosen from public facts and synthetic comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, dyadic_above, rational_bounds
from podium.mechanisms import ExponentialTopK, NoisyTopK, OneshotLaplace
from podium.mechanisms.base import Mechanism
from podium.planning.facts import Facts
from podium.planning.limits import require_noise
from podium.planning.question_budget import QuestionBudget
from podium.planning.simulation import gumbel_noise, tournament
from podium.planning.strategy import Strategy
from podium.privacy import total
from podium.privacy.rounding import display
from podium.ranking import METHODS, Borda, ComparisonGraph, MeasureScores, RankingMethod, Spectral, Wins

__all__ = ["MECHANISMS", "MIXINGS", "RankingFacts", "ranking_strategy"]

MECHANISMS = ("auto", "exponential", "noisy")
MIXINGS = (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2))
"""Restart probabilities of the random walk: a small one is more accurate, a large one needs less noise."""
_MISS_PROBABILITY = Fraction(1, 20)
_MIN_ADVANTAGE = 0.05
_TOURNAMENTS, _RUNS, _MAX_EDGES = 10, 20, 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFacts:
    """The public facts of a ranking. ``mixing`` and ``normalisation`` belong to the spectral method."""

    graph: ComparisonGraph
    k: int
    comparisons_per_pair: int
    max_comparisons_per_user: int | None = None
    method: str = "auto"
    mixing: Number | None = None
    normalisation: int | None = None
    mechanism: str = "auto"
    ordered: bool = True
    scores: bool = False

    def __post_init__(self) -> None:
        if self.method not in ("auto", *METHODS):
            raise InvalidArgument("method", self.method, allowed=", ".join(map(repr, ("auto", *METHODS))))
        if self.mechanism not in MECHANISMS:
            raise InvalidArgument("mechanism", self.mechanism, allowed=", ".join(map(repr, MECHANISMS)))
        if self.scores and not self.ordered:
            raise InvalidArgument(
                "scores",
                True,
                allowed="False for a set (ordered=False)",
                hint="Noisy scores put the items in an order: ask for the ranked list, which ordered=True is.",
            )
        for name in ("mixing", "normalisation"):
            if getattr(self, name) is not None and self.method not in ("auto", "spectral"):
                allowed = f"None with method={self.method!r}: it belongs to 'spectral'"
                raise InvalidArgument(name, getattr(self, name), allowed=allowed)

    @property
    def question(self) -> Facts:
        """The facts as those of a question about a known domain."""
        size = len(self.graph.items)
        return Facts(
            k=self.k, domain_size=size, max_items_per_user=self.max_comparisons_per_user, ordered=self.ordered,
            counts=self.scores,
        )  # fmt: skip

    def candidates(self) -> tuple[RankingMethod, ...]:
        """The methods to choose from; of equally good ones the first is taken."""
        counted = (self.graph, self.comparisons_per_pair, self.max_comparisons_per_user)
        found: list[RankingMethod] = []
        if self.method in ("auto", "spectral"):
            found += self._spectral()
        if self.method in ("auto", "borda"):
            found.append(Borda(*counted))
        if self.method in ("auto", "wins"):
            found.append(Wins(*counted))
        return tuple(found)

    def _spectral(self) -> list[Spectral]:
        """One for each mixing that can be computed precisely enough; the largest always can."""
        if self.mixing is not None:
            return [self._with_mixing(self.mixing)]
        found = []
        for mixing in MIXINGS[:-1]:
            with suppress(InvalidArgument):
                found.append(self._with_mixing(mixing))
        return [*found, self._with_mixing(MIXINGS[-1])]

    def _with_mixing(self, mixing: Number) -> Spectral:
        return Spectral(
            self.graph,
            self.comparisons_per_pair,
            self.max_comparisons_per_user,
            mixing=mixing,
            normalisation=self.normalisation,
        )


def ranking_strategy(facts: RankingFacts, budget: QuestionBudget) -> Strategy:
    """The scores that find most of the true top k on synthetic comparisons, and the mechanism for them."""
    question = facts.question
    require_noise(epsilon_per_item=budget.epsilon_per_item)
    method, why = _method(facts, budget.epsilon_per_item)
    mechanism, how = _mechanism(facts, method, budget)
    measure = _measure(facts, method, budget) if facts.scores else None
    worst = (*mechanism.worst_case, *(() if measure is None else measure.worst_case(facts.k)))
    reach = (
        _log_above(Fraction(facts.k * len(facts.graph.items)) / _MISS_PROBABILITY)
        * method.span
        / budget.epsilon_per_item
    )
    sentence = (
        f"Every item returned has, with probability 0.95, a score at most {display(reach)} below the k-th "
        f"({method.unit})."
    )
    return Strategy(
        facts=question,
        mechanism=mechanism,
        guarantee=budget.guarantee or total(worst),
        why=f"{why} {how}",
        reach=reach,
        reach_sentence=sentence,
        epsilon_per_item=budget.epsilon_per_item,
        theorem=budget.theorem if facts.ordered else None,
        pure=budget.pure,
        ranking=method,
        scores=measure,
        ordered=facts.ordered,
    )


def _mechanism(facts: RankingFacts, method: RankingMethod, budget: QuestionBudget) -> tuple[Mechanism, str]:
    """The general, not monotone mechanisms: one user moves scores up and down."""
    k, single = facts.k, budget.epsilon_per_item
    if not facts.ordered:
        return _set_mechanism(facts, method, budget)
    if facts.mechanism == "noisy" and not budget.pure:
        raise InvalidArgument("mechanism", "noisy", allowed="'auto' or 'exponential' where the budget has a delta")
    if budget.pure and facts.mechanism != "exponential":
        noisy = NoisyTopK(k, k * single, noise="exponential", gaps=False, monotone=False)
        return noisy, "One round of exponential noise gives the order for a pure budget."
    return ExponentialTopK(k, single, monotone=False), "Exponential mechanisms in turn return all k items in order."


def _measure(facts: RankingFacts, method: RankingMethod, budget: QuestionBudget) -> MeasureScores:
    """The budget of k counts, as one release of k scores."""
    if budget.sigma is not None:
        return MeasureScores.within(method, facts.k, rho=Fraction(facts.k) / (2 * budget.sigma**2))
    single = budget.epsilon_per_count
    if single is None:
        raise InvalidArgument("scores", True, allowed="a budget that was calibrated for scores")
    return MeasureScores.within(method, facts.k, epsilon=facts.k * single)


def _set_mechanism(facts: RankingFacts, method: RankingMethod, budget: QuestionBudget) -> tuple[Mechanism, str]:
    """Oneshot noise for a set; the approximate scale where its theorem holds and it is smaller."""
    if facts.mechanism != "auto":
        raise InvalidArgument(
            "mechanism", facts.mechanism, allowed="'auto' with ordered=False", hint="A set has one mechanism."
        )
    if budget.guarantee is None and not budget.pure:
        raise InvalidArgument(
            "ordered",
            False,
            allowed="True where a ledger adds up rho",
            hint="Laplace noise for a set costs epsilon^2/2 there, which is more than selections in turn.",
        )
    if budget.guarantee is None:
        return OneshotLaplace(facts.k, facts.k * budget.epsilon_per_item, monotone=False), _ONCE
    epsilon, delta = budget.guarantee.epsilon(), budget.guarantee.cost.delta
    pure = OneshotLaplace(facts.k, epsilon, monotone=False)
    if not (0 < delta <= Fraction(1, 20) and epsilon <= Fraction(1, 5)):
        return pure, _ONCE
    # 8 s sqrt(k ln(m/delta)) against k span: the span is 2 s, or s where scores only rise.
    least = (8 * method.moves_each / method.span) ** 2 * _log_above(Fraction(len(facts.graph.items)) / delta)
    if facts.k <= least:
        return pure, _ONCE
    return OneshotLaplace(facts.k, epsilon, delta=delta, monotone=False), _ONCE


_ONCE = "Laplace noise once on every score gives the k items as a set."


def _method(facts: RankingFacts, epsilon_per_item: Fraction) -> tuple[RankingMethod, str]:
    candidates = facts.candidates()
    if len(candidates) == 1:
        return candidates[0], f"Scores: {_scores_name(candidates[0])}, as asked."
    found = _simulate_recall(facts, candidates, epsilon_per_item)
    places = range(len(candidates))
    best_of = [
        max((place for place in places if candidates[place].name == name), key=lambda place: found[place])
        for name in dict.fromkeys(method.name for method in candidates)
    ]
    first = candidates[max(best_of, key=lambda place: found[place])]
    best = candidates[
        max(best_of, key=lambda place: found[place] - _MIN_ADVANTAGE * isinstance(candidates[place], Wins))
    ]
    passed_over = "" if first is best else "; wins follow how often an item is compared, and must be clearly better"
    compared = ", ".join(f"{facts.k * found[place]:.1f} by {_scores_name(candidates[place])}" for place in best_of)
    return best, (
        f"On synthetic Bradley-Terry-Luce comparisons for these public facts, of the true top {facts.k} one finds "
        f"{compared}: so {_scores_name(best)}{passed_over}."
    )


def _scores_name(method: RankingMethod) -> str:
    if isinstance(method, Spectral):
        return f"spectral scores (mixing {display(Fraction(method.mixing))})"
    return {"borda": "average shares of wins", "wins": "wins"}[method.name]


def _simulate_recall(
    facts: RankingFacts, candidates: Sequence[RankingMethod], epsilon_per_item: Fraction
) -> list[float]:
    """The share of the true top k that each method finds, on the same synthetic comparisons and noise."""
    graph = facts.graph
    edges = np.array(graph.edges, dtype=np.int64)
    size, number = len(graph.items), max(2, min(_TOURNAMENTS, _MAX_EDGES // len(edges)))
    shares = np.zeros(len(candidates))
    for seed in range(number):
        made = tournament(edges, items=size, comparisons_per_pair=facts.comparisons_per_pair, seed=seed)
        noise = gumbel_noise((_RUNS, size), seed=seed)
        best = set(np.argsort(-made.weights)[: facts.k].tolist())
        tally = np.concatenate([made.first, made.second])
        for place, method in enumerate(candidates):
            scores = np.array([float(value) for value in method.values(tally)])
            noisy = scores + float(method.span / epsilon_per_item) * noise
            chosen = np.argpartition(-noisy, facts.k - 1, axis=1)[:, : facts.k]
            shares[place] += sum(len(best & set(row)) for row in chosen.tolist()) / (facts.k * _RUNS * number)
    return [float(share) for share in shares]


def _log_above(ratio: Fraction) -> Fraction:
    with ball_precision(96):
        return dyadic_above(rational_bounds(ball(ratio).log())[1], 10)

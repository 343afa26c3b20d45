"""The sparse vector technique with free gaps: which queries are above a threshold, in the order they are asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, cast, get_args

import flint

from podium.errors import BudgetExceeded, InvalidArgument
from podium.exact import Number, exact_fraction, flag, positive_integer
from podium.histogram import Item, KnownDomain, Scores, item_order
from podium.mechanisms.base import Distribution
from podium.mechanisms.domain import domain_size, list_scores
from podium.mechanisms.sparse_vector.distribution import Found, sparse_density, sparse_distribution
from podium.mechanisms.sparse_vector.scales import Branch, GapScales, SparseNoise, SparsePlan, sparse_plan
from podium.mechanisms.sparse_vector.threshold_budget import AboveThreshold, Movement, movement_of, resolve_theta
from podium.privacy.events import PureMechanism
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, NoisyNumber, geometric, grid_bits_for
from podium.release import Receipt, Release

__all__ = ["Answer", "Found", "SparseVector", "SparseVectorSession"]

_MAX_BRANCHES = 16
_MAX_QUERIES = 1 << 22


class Answer(NamedTuple):
    """The answer to one query: ``branch`` 0 is below the threshold; else its number, and the gap to the threshold."""

    branch: int
    gap: Fraction | None

    @property
    def above(self) -> bool:
        """Whether the query was found above the threshold."""
        return self.branch > 0


@dataclass(frozen=True, slots=True, init=False)
class SparseVector(AboveThreshold):
    """Which queries lie above a public threshold, in the order they are asked, with the gaps to it for free.

    Use
        Questions come one at a time, and only those above a public threshold matter.
    Shape
        known queries; in the order asked; gaps
    Guarantee
        epsilon-DP for the whole run. An outcome costs theta*epsilon, and for each query found above what its branch
        costs: eps1 = (1-theta)*epsilon/k for branch 1, half of the previous for each further one; queries below are
        free. At least k queries can be found; asking stops when less than eps1 is left. Neighbours: one
        user added or removed (``monotone=False``: or replaced).
    Distribution
        T~ = threshold + noise of scale reach/eps0, drawn once. A query q is tested with branch m, m-1, ..., 1 in turn,
        each with noise of its own of scale span/eps_j: it passes if q~ - T~ is at least a margin, two standard
        deviations of that noise, none for branch 1. The first branch that passes is the answer, with the gap
        q~ - T~. Exponential noise has its mean taken off. Geometric noise gives integer gaps; there the difference
        of the means is taken off only up to the next integer: ``plan().gap_bias`` is left for the report to take off.
        The outcome is the sequence of (item, branch) found; all other items asked are below.
        Real gaps are rounded down to multiples of 2^-20, or at most 2^-31 of noise above 2^12 (Laplace margins up):
        ``density`` is that of the ideal real-valued mechanism, of which the release is post-processing.
    Symbols
        threshold = T; k; epsilon = eps; theta = eps0/eps; branches = m (1: plain, 2: adaptive, eps2 = eps1/2).
        Counts: reach 1, span 1 (2 unless monotone). Scores: reach = max(rises_by, falls_by), span = their sum.
    Source
        Ding, Wang, Xiao, Zhang & Kifer 2021, Algorithms 1-3 and Theorem 2; any number of branches and asymmetric
        scores: docs/proofs/thresholds-and-gaps.md.
    Assumes
        Each user moves each query by at most what is stated; the order of the queries does not depend on the data,
        except through earlier answers.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/thresholds-and-gaps.md", "Theorem 1")
    theorem: ClassVar[str] = "Ding et al. 2021, Theorem 2 (adaptive sparse vector with gap), for any number of branches"

    threshold: Fraction
    k: int
    epsilon: Fraction
    branches: int
    noise: SparseNoise
    theta: Fraction
    monotone: bool

    def __init__(
        self,
        threshold: Number,
        k: int,
        epsilon: Number,
        *,
        adaptive: bool = True,
        branches: int | None = None,
        noise: SparseNoise = "exponential",
        theta: Number | None = None,
        monotone: bool = True,
    ) -> None:
        self._put(threshold, k, epsilon)
        put = object.__setattr__
        put(self, "branches", _require_branches(branches, adaptive=flag(adaptive, "adaptive")))
        if noise not in get_args(SparseNoise):
            raise InvalidArgument("noise", noise, allowed="one of " + ", ".join(get_args(SparseNoise)))
        put(self, "noise", noise)
        put(self, "monotone", flag(monotone, "monotone"))
        put(self, "theta", resolve_theta(theta, self.k, monotone=monotone))
        if noise == "geometric" and self.threshold.denominator != 1:
            raise InvalidArgument(
                "threshold",
                threshold,
                allowed="an integer where the noise is geometric",
                hint="Counts are integers, so rounding the threshold up changes nothing.",
            )

    @property
    def adaptive(self) -> bool:
        """Whether queries far above the threshold cost less than others."""
        return self.branches > 1

    def plan(self, *, rises_by: Number = 1, falls_by: Number | None = None) -> SparsePlan:
        """The public scales, prices and margins for queries that one more user moves by -falls_by to rises_by.

        Unless stated, monotone queries do not fall, and others fall as far as they rise.
        """
        return self._plan(Movement.from_bounds(rises_by, falls_by, monotone=self.monotone))

    @property
    def values_are_leads(self) -> bool:
        """Each released value says how far its item is above the noisy threshold."""
        return True

    def gap_scales(
        self, items: Sequence[Item], *, rises_by: Number = 1, falls_by: Number | None = None
    ) -> list[GapScales]:
        """The noise in the gap of each item found, at the current precision."""
        plan = self.plan(rises_by=rises_by, falls_by=falls_by)
        numbers = [number for _, number in cast("Sequence[Found]", items)]
        return [
            GapScales(plan.noise, plan.branch(number).scale, plan.threshold_scale, plan.gap_bias(number))
            for number in numbers
        ]

    def _plan(self, movement: Movement) -> SparsePlan:
        if self.noise == "geometric" and (movement.reach.denominator != 1 or movement.span.denominator != 1):
            raise InvalidArgument(
                "rises_by", movement.rises_by, allowed="integers, falls_by too, where the noise is geometric"
            )
        return sparse_plan(self.noise, self.epsilon, self.theta, self.k, self.branches, movement)

    def open(
        self, *, rises_by: Number = 1, falls_by: Number | None = None, bits: BitSource | None = None
    ) -> SparseVectorSession:
        """Draw the threshold and wait for queries, which may be chosen after seeing earlier answers."""
        return SparseVectorSession(self, self.plan(rises_by=rises_by, falls_by=falls_by), bits=bits)

    def answers(
        self,
        queries: Iterable[Number],
        *,
        rises_by: Number = 1,
        falls_by: Number | None = None,
        bits: BitSource | None = None,
    ) -> Iterator[Answer]:
        """Answer a stream of queries one by one, until it ends or less than eps1 is left."""
        session = self.open(rises_by=rises_by, falls_by=falls_by, bits=bits)
        for value in queries:
            yield session.ask(value)
            if not session.is_open:
                return

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Ask for the count of every item of a known domain, in the order of the items themselves."""
        session = SparseVectorSession(self, self._data_plan(histogram), bits=bits)
        for item, score in _in_order(histogram):
            if not session.is_open:
                break
            session.ask(score, name=item)
        return session.release()

    def cost(self, outcome: Sequence[tuple[Item, int]]) -> Fraction:
        """What an outcome costs: the threshold, and the branch of each item found."""
        eps1 = (1 - self.theta) * self.epsilon / self.k
        return self.theta * self.epsilon + sum((eps1 / (1 << (branch - 1)) for _, branch in outcome), Fraction(0))

    def _data_plan(self, data: KnownDomain) -> SparsePlan:
        if self.noise == "geometric" and isinstance(data, Scores):
            raise InvalidArgument(
                "histogram",
                "scores",
                allowed="a histogram of counts where the noise is geometric",
                hint="Use noise='exponential' for scores.",
            )
        return self._plan(movement_of(data, monotone=self.monotone))

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        plan = self._data_plan(histogram)
        list_scores(histogram.groups(), outcomes=self._max_outcomes(histogram))
        return sparse_distribution(plan, self.threshold, _in_order(histogram), self.epsilon)

    def _max_outcomes(self, data: KnownDomain) -> int:
        """At least as many as there are: any set of items that the cheapest answers can pay for, in any branches."""
        size, paid = domain_size(data.groups()), self.k << (self.branches - 1)
        return sum(math.comb(size, found) * self.branches**found for found in range(min(size, paid) + 1))

    def _density(
        self, histogram: KnownDomain, outcome: Sequence[tuple[Item, int]], values: list[Fraction]
    ) -> Callable[[], flint.arb]:
        """The joint density of an outcome and its gaps (geometric noise: the probability)."""
        if len(values) != len(outcome):
            raise InvalidArgument("values", list(values), allowed=f"one gap for each of {len(outcome)} items found")
        if any(not 1 <= branch <= self.branches for _, branch in outcome):
            raise InvalidArgument(
                "outcome", outcome, allowed=f"pairs of an item and a branch from 1 to {self.branches}"
            )
        plan, queries = self._data_plan(histogram), _in_order(histogram)
        return lambda: sparse_density(plan, self.threshold, queries, self.epsilon, outcome, values)


class SparseVectorSession:
    """An open sparse vector: the noisy threshold is drawn, queries are answered as they come.

    ``remaining`` is what is left of epsilon; once it is below the price of a full answer, no query is asked any more.
    """

    def __init__(self, mechanism: SparseVector, plan: SparsePlan, *, bits: BitSource | None = None) -> None:
        self._mechanism = mechanism
        self._plan = plan
        self._duel = _Integers(mechanism, plan, bits) if plan.noise == "geometric" else _Reals(mechanism, plan, bits)
        self._found: list[Found] = []
        self._gaps: list[Fraction] = []
        self._asked = 0
        self._spent = plan.threshold_price

    @property
    def asked(self) -> int:
        """How many queries were answered."""
        return self._asked

    @property
    def remaining(self) -> Fraction:
        """What is left of epsilon."""
        return self._mechanism.epsilon - self._spent

    @property
    def is_open(self) -> bool:
        """Whether another query may be asked."""
        return self.remaining >= self._plan.price

    @property
    def paid(self) -> Receipt:
        """What the answers so far cost."""
        return Receipt((PureMechanism(self._spent, reserved=self._mechanism.epsilon),))

    def ask(self, value: Number, *, name: Item | None = None) -> Answer:
        """Whether the query with this true value is above the noisy threshold, and by how much.

        ``name`` is how ``release`` calls the query if it is found; its position in the stream unless given.
        """
        if not self.is_open:
            raise BudgetExceeded(
                "epsilon",
                self._plan.price,
                self.remaining,
                budget="this sparse vector",
                hint="Open a new one with a budget of its own.",
            )
        item = self._asked if name is None else name
        answer = self._test(_require_query(value, whole=self._plan.noise == "geometric"))
        self._asked += 1
        if answer.gap is not None:
            self._found.append(Found(item, answer.branch))
            self._gaps.append(answer.gap)
            self._spent += self._plan.branch(answer.branch).price
        return answer

    def _test(self, value: Fraction) -> Answer:
        for branch in self._plan.branches:
            gap = self._duel.gap(value, branch)
            if gap is not None:
                return Answer(branch.number, gap)
        return Answer(0, None)

    def release(self) -> Release:
        """All answers so far as one release: what was found, with its gaps; whatever else was asked is below."""
        return self._mechanism._make_release(
            tuple(self._found), self.paid.events, k=self._mechanism.k, values=tuple(self._gaps), value_kind="gaps"
        )


class _Reals:
    """Queries against one real threshold, by revealing digits of both until the answer is certain."""

    def __init__(self, mechanism: SparseVector, plan: SparsePlan, bits: BitSource | None) -> None:
        self._noise = plan.noise
        self._bits = bits
        self._grid = grid_bits_for(max(branch.scale for branch in plan.branches), mechanism.grid_bits)
        level = mechanism.threshold - plan.threshold_center
        self._threshold = NoisyNumber(level, scale=plan.threshold_scale, noise=plan.noise, bits=bits)

    def gap(self, value: Fraction, branch: Branch) -> Fraction | None:
        query = NoisyNumber(value - branch.center, scale=branch.scale, noise=self._noise, bits=self._bits)
        if not query.exceeds(self._threshold, by=branch.margin):
            return None
        return query.lead(self._threshold, grid_bits=self._grid)


class _Integers:
    """Whole-number queries against one whole-number threshold."""

    def __init__(self, mechanism: SparseVector, plan: SparsePlan, bits: BitSource | None) -> None:
        self._bits = bits
        self._threshold = mechanism.threshold + self._draw(plan.threshold_scale)

    def _draw(self, scale: Fraction) -> int:
        return int(geometric(epsilon=1 / scale, bits=self._bits)[0])

    def gap(self, value: Fraction, branch: Branch) -> Fraction | None:
        gap = value - branch.center + self._draw(branch.scale) - self._threshold
        return gap if gap >= branch.margin else None


def _require_query(value: Number, *, whole: bool) -> Fraction:
    try:
        number = exact_fraction(value, "value")
    except InvalidArgument:
        number = None
    if number is None or (whole and number.denominator != 1):
        # The value itself is private; that it is of the wrong kind is a fact about the caller's code.
        kind = "an integer, because the noise is geometric" if whole else "an exact number"
        raise InvalidArgument("value", "a query value of the wrong kind", allowed=kind) from None
    return number


def _require_branches(branches: int | None, *, adaptive: bool) -> int:
    if branches is None:
        return 2 if adaptive else 1
    number = positive_integer(branches, "branches")
    if number > _MAX_BRANCHES or (number > 1 and not adaptive):
        allowed = f"an integer from 1 to {_MAX_BRANCHES}" if adaptive else "1, or None, where adaptive=False"
        raise InvalidArgument("branches", branches, allowed=allowed)
    return number


def _in_order(data: KnownDomain) -> list[tuple[Item, Fraction]]:
    """All items of a known domain with their scores, in an order that does not depend on the data."""
    groups = data.groups()
    size = domain_size(groups)
    if size > _MAX_QUERIES:
        raise InvalidArgument(
            "histogram",
            f"a domain of {size} items",
            allowed=f"at most {_MAX_QUERIES} items, because they are asked one by one",
            hint="Use HybridTopK, which treats items that nobody has together.",
        )
    return sorted(zip(*list_scores(groups, outcomes=1), strict=True), key=lambda query: item_order(query[0]))

"""The exact audit: every pair of a small world, the exact privacy profile against the claimed one, certified.

The report says what is proved: the stated distribution keeps the claim on this world, or here is a pair on which
it does not. That a mechanism is private for all inputs takes a proof; that its sampler has the
distribution that it states, and shows nothing beside its outcome, is that of the audits that sample.
"""

from __future__ import annotations

import inspect
import math
import multiprocessing
import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

from podium.audit.exact.claims import Comparison, Finding, Kind, comparison, headline
from podium.audit.exact.divergence import PRECISION, SLACK, ExactDistribution, extreme_ratios, hockey_stick
from podium.audit.exact.rough import OutcomeTable, paired_values
from podium.audit.exact.worlds import SmallHistogram, World
from podium.audit.reports import ExactReport, ProfilePoint
from podium.audit.targets.inputs import mechanism_input
from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, positive_integer, rational_bounds
from podium.privacy.guarantee import Guarantee

__all__ = [
    "DistributionOf",
    "WorstPair",
    "as_distribution",
    "cache_distribution",
    "exact_audit",
    "picklable",
    "worst_pair",
]

DistributionOf: TypeAlias = Callable[[SmallHistogram], ExactDistribution]

_GRID = 20
_REACH = Fraction(5, 4)
_FLOAT_ERROR = 1e-9
_LARGE_EPSILON = 50.0


def as_distribution(subject: Any) -> DistributionOf:
    """The exact distribution of anything with ``distribution``, or of a function from counts to a distribution.

    A ``distribution`` that gives floats is taken at its word: each float stands for a ball of relative radius 2^-47.
    """
    if not hasattr(subject, "distribution"):
        if not callable(subject):
            raise InvalidArgument(
                "subject", type(subject).__name__, allowed="a mechanism with distribution(), or a distribution"
            )
        return lambda counts: _in_balls(subject(counts))

    options = {"exact": True} if "exact" in inspect.signature(subject.distribution).parameters else {}

    def distribution(counts: SmallHistogram) -> ExactDistribution:
        return _in_balls(subject.distribution(mechanism_input(subject, counts), **options))

    return distribution


def _in_balls(distribution: Mapping[Any, Any]) -> ExactDistribution:
    if all(isinstance(value, flint.arb) for value in distribution.values()):
        return distribution
    return {outcome: _in_ball(value) for outcome, value in distribution.items()}


def _in_ball(value: Any) -> flint.arb:
    if isinstance(value, flint.arb):
        return value
    if isinstance(value, (Fraction, int)):
        with ball_precision(PRECISION):
            return ball(value)
    return flint.arb(float(value), abs(float(value)) * 2.0**-47)


def cache_distribution(distribution: DistributionOf) -> DistributionOf:
    """The same distribution, computed once per histogram; and checked to be one: its probabilities sum to 1."""
    known: dict[tuple[tuple[str, int], ...], ExactDistribution] = {}
    table = OutcomeTable()

    def lookup(counts: SmallHistogram) -> ExactDistribution:
        key = tuple(counts.items())
        if key not in known:
            known[key] = table.tabulate(distribution(counts))
            with ball_precision(PRECISION):
                total = sum(known[key].values(), flint.arb(0))
                if not abs(total - 1) < ball(SLACK):
                    raise InvalidArgument(
                        "distribution",
                        f"a distribution that sums to {float(total.mid()):.6g}, not to 1",
                        allowed="probabilities of all outcomes",
                    )
        return known[key]

    return lookup


@dataclass(frozen=True, slots=True)
class WorstPair:
    """The pair on which a claim comes closest to failing, or fails most."""

    finding: Finding
    left: SmallHistogram
    right: SmallHistogram


def worst_pair(distribution: DistributionOf, compare: Comparison, world: World) -> WorstPair:
    """All histograms of a world against all their neighbours, both directions."""
    lookup = cache_distribution(distribution)
    return _worst([_worst_at(lookup, compare, world, counts) for counts in world.histograms()])


def _worst_at(lookup: DistributionOf, compare: Comparison, world: World, counts: SmallHistogram) -> WorstPair:
    here = lookup(counts)
    return _worst([WorstPair(compare(here, lookup(more)), counts, more) for more in world.neighbours(counts)])


def _worst(pairs: Sequence[WorstPair]) -> WorstPair:
    return max(pairs, key=lambda pair: (pair.finding.violated, pair.finding.excess))


def exact_audit(
    subject: Any,
    claim: Guarantee | Number | None = None,
    *,
    world: World | None = None,
    kind: Kind = "guarantee",
    workers: int = 1,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ExactReport:
    """Enumerate a small world: the worst pair, the exact profile against the claimed one, and the margin.

    ``subject`` is anything with ``distribution(histogram)``, or a function from counts to a distribution. ``claim`` is
    its ``guarantee`` unless stated; a number is a pure epsilon. ``kind`` holds log ratios against the pure part or the
    bounded range instead. ``workers`` above 1 runs that many processes, for which the subject must be picklable.
    ``progress(done, histograms)`` reports the progress.
    """
    stated = subject.guarantee if claim is None and hasattr(subject, "guarantee") else claim
    if stated is None:
        raise InvalidArgument(
            "claim", None, allowed="a Guarantee or an epsilon", hint="The subject states none itself."
        )
    guarantee = stated if isinstance(stated, Guarantee) else Guarantee.pure(stated)
    there = world or World(max_items_per_user=getattr(subject, "max_items_per_user", None))
    epsilon, delta = headline(guarantee)
    grid = tuple(epsilon * _REACH * step / _GRID for step in range(_GRID + 1))
    job = _Job(subject, stated if kind != "guarantee" else guarantee, kind, there, grid, delta)
    parts = _run(job, there.histograms(), positive_integer(workers, "workers"), progress)
    total = _merge(parts)
    return ExactReport(
        subject=name or type(subject).__name__,
        claim=guarantee,
        kind=kind,
        world=str(there),
        histograms=len(there.histograms()),
        pairs=total.pairs,
        finding=total.worst.finding,
        left=total.worst.left,
        right=total.worst.right,
        claimed_epsilon=epsilon,
        delta=delta,
        exact_epsilon=total.epsilon,
        profile=tuple(
            ProfilePoint(float(at), found, float(guarantee.delta(epsilon=at)))
            for at, found in zip(grid, total.deltas, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    subject: Any
    claim: Guarantee | Number
    kind: Kind
    world: World
    grid: tuple[Fraction, ...]
    delta: Fraction


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of the world showed: all of it is a maximum, so parts are merged by maxima."""

    worst: WorstPair
    deltas: tuple[float, ...]
    epsilon: float
    pairs: int


def picklable(thing: object) -> bool:
    """Whether it can be sent to another process."""
    try:
        pickle.dumps(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _run(
    job: _Job, histograms: list[SmallHistogram], workers: int, progress: Callable[[int, int], None] | None
) -> list[_Part]:
    if workers == 1:
        lookup = cache_distribution(as_distribution(job.subject))
        parts = []
        for done, counts in enumerate(histograms, start=1):
            parts.append(_part(job, [counts], lookup))
            if progress is not None:
                progress(done, len(histograms))
        return parts
    if not picklable(job):
        raise InvalidArgument("workers", workers, allowed="1 where the subject cannot be pickled")
    # Neighbours mostly lie in the same stretch of a world in lexicographic order, so few distributions are computed
    # twice.
    size = -(-len(histograms) // workers)
    stretches = [histograms[start : start + size] for start in range(0, len(histograms), size)]
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(_part, [job] * len(stretches), stretches))


def _part(job: _Job, histograms: list[SmallHistogram], lookup: DistributionOf | None = None) -> _Part:
    lookup = lookup or cache_distribution(as_distribution(job.subject))
    compare = comparison(job.claim, job.kind)
    factors = np.exp(np.minimum([float(epsilon) for epsilon in job.grid], _LARGE_EPSILON))
    worst: list[WorstPair] = []
    deltas = np.zeros(len(job.grid))
    epsilon, pairs = 0.0, 0
    for counts in histograms:
        worst.append(_worst_at(lookup, compare, job.world, counts))
        for more in job.world.neighbours(counts):
            for p, q in ((lookup(counts), lookup(more)), (lookup(more), lookup(counts))):
                here, there = paired_values(p, q)
                deltas = np.maximum(deltas, _profile(p, q, here, there, factors, job.grid, deltas))
                epsilon = max(epsilon, _epsilon_needed(p, q, here, there, job.delta, epsilon))
            pairs += 1
    return _Part(_worst(worst), tuple(deltas.tolist()), epsilon, pairs)


def _merge(parts: Sequence[_Part]) -> _Part:
    deltas = tuple(max(column) for column in zip(*(part.deltas for part in parts), strict=True))
    worst = _worst([part.worst for part in parts])
    return _Part(worst, deltas, max(part.epsilon for part in parts), sum(part.pairs for part in parts))


def _profile(
    p: ExactDistribution,
    q: ExactDistribution,
    here: NDArray[np.float64],
    there: NDArray[np.float64],
    factors: NDArray[np.float64],
    grid: tuple[Fraction, ...],
    known: NDArray[np.float64],
) -> NDArray[np.float64]:
    """delta(epsilon) of one ordered pair where it exceeds what is known: upper ends of balls.

    Floats decide only that a pair does not exceed it: their error is far below _FLOAT_ERROR (1 + e^epsilon).
    """
    rough = np.maximum(here[None, :] - factors[:, None] * there[None, :], 0.0).sum(axis=1)
    found = known.copy()
    for i in np.flatnonzero(rough + _FLOAT_ERROR * (1.0 + factors) > known):
        found[i] = max(found[i], _upper(hockey_stick(p, q, grid[i])))
    return found


def _upper(value: flint.arb) -> float:
    top = rational_bounds(value)[1]
    return max(0.0, math.nextafter(float(top), math.inf)) if top > 0 else 0.0


def _epsilon_needed(
    p: ExactDistribution,
    q: ExactDistribution,
    here: NDArray[np.float64],
    there: NDArray[np.float64],
    delta: Fraction,
    known: float,
) -> float:
    """The smallest epsilon at which this ordered pair keeps delta, if above what is known; good to 1e-9."""
    target = float(delta)
    if delta == 0:
        if np.all((there > 0) & (here <= there * math.exp(min(known, _LARGE_EPSILON) - _FLOAT_ERROR))):
            return known
        (_, largest) = extreme_ratios(p, q)[1]
        return max(known, float(largest.mid()))
    if float(here[there == 0.0].sum()) > target:
        return math.inf

    def excess(epsilon: float) -> float:
        return float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum()) - target

    if math.isinf(known) or excess(known) <= 0:
        return known
    low, high = known, known + 1.0
    while excess(high) > 0:
        low, high = high, 2 * high
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high

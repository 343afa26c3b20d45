"""The contestants of the selection bench: podium, the insecure NumPy one-liner, OpenDP. Same noise scale for all."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.workloads import Counts
from podium.randomness.race import race

__all__ = ["EPSILON_PER_ITEM", "SCALE", "OpenDPBudget", "installed", "numpy_job", "opendp_job", "podium_job"]

EPSILON_PER_ITEM = 0.1
SCALE = 10
"""Noise scale of every contestant: 1 / EPSILON_PER_ITEM for counts to which a user adds at most one each."""

_CAUTION = 2.0


def podium_job(counts: Counts, k: int) -> Callable[[], object]:
    """The exact race with Gumbel noise from secure bits."""

    def job() -> tuple[int, ...]:
        chosen = race(counts, k=k, scale=SCALE, noise="gumbel").groups
        assert len(set(chosen)) == k
        return chosen

    return job


def numpy_job(counts: Counts, k: int) -> Callable[[], object]:
    """What people write: floating-point noise from a predictable generator. Fast, and not private."""
    rng = np.random.default_rng(0)

    def job() -> NDArray[np.intp]:
        noisy = counts + rng.gumbel(scale=SCALE, size=len(counts))
        top = np.argpartition(noisy, -k)[-k:]
        return top[np.argsort(-noisy[top])]

    return job


def opendp_job(counts: Counts, k: int) -> Callable[[], object]:
    """OpenDP's noisy top-k for pure DP: the faster of its two, so no ratio here flatters podium.

    Its noise is exponential (permute-and-flip); the Gumbel version for zCDP takes two to three times as long.
    """
    import opendp.prelude as dp  # noqa: PLC0415 - a dev dependency, and slow to import

    dp.enable_features("contrib")
    measurement = dp.m.make_noisy_top_k(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64"),
        dp.max_divergence(),
        k=k,
        scale=float(SCALE),
    )
    return lambda: measurement(counts)


@dataclass(slots=True)
class OpenDPBudget:
    """Decides which cells OpenDP can take part in, from how long it took on smaller ones.

    A call into compiled code cannot be interrupted, so the time is predicted (in proportion to d * k, doubled
    because it grows faster than that) rather than cut off.
    """

    seconds: float
    always: frozenset[tuple[str, int, int]] = frozenset()
    _known: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def repetitions(self, shape: str, d: int, k: int) -> int:
        """How often OpenDP runs in this cell: 0 when it would take too long, 3 when it is quick."""
        if (shape, d, k) in self.always:
            return 1
        expected = self.expected(shape, d, k)
        return min(3, int(self.seconds / expected)) if expected else 3

    def record(self, shape: str, d: int, k: int, seconds: float) -> None:
        """Remember a measured cell."""
        self._known[shape, d, k] = seconds

    def expected(self, shape: str, d: int, k: int) -> float | None:
        """A cautious guess from the largest smaller cell of this shape, if one was measured."""
        smaller = [(e * j, t) for (s, e, j), t in self._known.items() if s == shape and e <= d and j <= k]
        if not smaller:
            return None
        size, seconds = max(smaller)
        return seconds * d * k / size * _CAUTION


def installed() -> bool:
    """Whether OpenDP is there to compare with."""
    return importlib.util.find_spec("opendp") is not None

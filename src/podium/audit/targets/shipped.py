"""The mechanisms of podium as audit targets: an example of each, the inputs it reads, and where it decides."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from podium import mechanisms
from podium.audit.exact.worlds import World
from podium.audit.targets.neighbours import Pair, worst_pairs
from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import (
    AdaptiveTopK,
    CanonicalTopK,
    ExponentialTopK,
    ExponentialWithGap,
    FixedThreshold,
    GaussianSparseHistogram,
    HybridTopK,
    JointTopK,
    LimitedDomain,
    MeasuredTopK,
    Mechanism,
    NoisyTopK,
    OneshotLaplace,
    PayWhatYouGet,
    PermuteAndFlip,
    PrivateKBar,
    RefinedTopK,
    RisingTopK,
    SetUnionThenTopK,
    SharedVoteTopK,
    SizedKnownTopK,
    SizedTopK,
    SparseVector,
    TestedTopK,
    TruncatedGaussianHistogram,
    TruncatedLaplaceHistogram,
)
from podium.privacy.guarantee import Guarantee
from podium.randomness import BitSource

__all__ = ["EXAMPLES", "Sessions", "build", "level_of", "mechanism_names", "pairs_for", "world_for"]

_ITEMS = 3

EXAMPLES: Mapping[str, Any] = {
    "adaptive-top-k": AdaptiveTopK(1, "0.5", "0.05", max_items_per_user=1),
    "canonical-top-k": CanonicalTopK(2, 1),
    "exponential-top-k": ExponentialTopK(2, "0.5"),
    "exponential-with-gap": ExponentialWithGap(1),
    "fixed-threshold": FixedThreshold(2, "0.5", "0.05"),
    "gaussian-sparse-histogram": GaussianSparseHistogram(k=2, sigma=2, delta="0.05", max_items_per_user=1),
    "hybrid-top-k": HybridTopK(2, 2, 1),
    "joint-top-k": JointTopK(2, 1),
    "limited-domain": LimitedDomain(2, 2, "0.5", "0.05"),
    "limited-domain-laplace": LimitedDomain(2, 2, "0.5", "0.05", max_items_per_user=1, noise="laplace"),
    "limited-domain-private-k-bar": LimitedDomain(1, PrivateKBar(2), "0.5", "0.05"),
    "measured-top-k": MeasuredTopK(
        2, rho_clip="0.1", epsilon_per_item="0.5", delta="0.05", k_bar=2, max_items_per_user=1
    ),
    "noisy-top-k": NoisyTopK(2, 1),
    "oneshot-laplace": OneshotLaplace(2, 1),
    "pay-what-you-get": PayWhatYouGet(2, 3, "0.5", "0.05"),
    "permute-and-flip": PermuteAndFlip(1),
    "rising-top-k": RisingTopK(2, "0.1"),
    "set-union-then-top-k": SetUnionThenTopK(1, "0.5", "0.05", 1, sigma=2),
    "refined-top-k": RefinedTopK(1, "0.5", max_items_per_user=1),
    "shared-vote-top-k": SharedVoteTopK(2, 1, max_items_per_user=1),
    "sized-known-top-k": SizedKnownTopK(1, 2, "0.05", domain_size=3, max_items_per_user=1),
    "sized-top-k": SizedTopK(1, 2, "0.05", k_bar=2, max_items_per_user=1),
    "sparse-vector": SparseVector(2, 2, 1),
    "tested-top-k": TestedTopK(2, 1),
    "truncated-gaussian-histogram": TruncatedGaussianHistogram(k=2, sigma=2, delta="0.05", max_items_per_user=1),
    "truncated-laplace-histogram": TruncatedLaplaceHistogram(k=2, epsilon=1, delta="0.05", max_items_per_user=1),
}
"""One of each, small enough to be enumerated and to be sampled in a moment."""


def mechanism_names() -> dict[str, type[Any]]:
    """Every mechanism class by its name with hyphens: limited-domain is LimitedDomain."""
    classes = (getattr(mechanisms, name) for name in mechanisms.__all__)
    found = [cls for cls in classes if hasattr(cls, "guarantee") and cls is not Mechanism]
    return {_hyphenate(cls.__name__): cls for cls in found}


def _hyphenate(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def build(name: str, parameters: Mapping[str, Any]) -> Any:
    """The mechanism of that name with these parameters (None: not given); without any, the example."""
    given = {key: value for key, value in parameters.items() if value is not None}
    key = name if name in EXAMPLES else _hyphenate(name)
    if not given and key in EXAMPLES:
        return EXAMPLES[key]
    known = mechanism_names()
    if key not in known:
        names = ", ".join(sorted({*known, *EXAMPLES}))
        raise InvalidArgument("mechanism", name, allowed=names, hint="Use 'podium mechanisms' to see what each does.")
    accepted = inspect.signature(known[key]).parameters
    foreign = [parameter for parameter in given if parameter not in accepted]
    if foreign:
        raise InvalidArgument(foreign[0], given[foreign[0]], allowed=f"for {key}: {', '.join(accepted)}")
    needed = [item.name for item in accepted.values() if item.default is item.empty and item.name not in given]
    if needed:
        raise InvalidArgument(
            needed[0], None, allowed=f"{key} needs {', '.join(needed)}", hint="Or give no parameters."
        )
    return known[key](**given)


def level_of(mechanism: Any) -> int:
    """The count at which a mechanism decides: its threshold, or the margin that an unknown domain must be above."""
    for name in ("margin", "first_threshold", "count_threshold", "threshold", "reach"):
        place: Fraction | None = getattr(mechanism, name, None)
        if place is not None:
            return max(1, math.ceil(place))
    if isinstance(mechanism, PayWhatYouGet):
        return level_of(LimitedDomain(1, 1, mechanism.epsilon_per_item, mechanism.delta))
    return 1


def _bound_of(mechanism: Any) -> int | None:
    if isinstance(mechanism, GaussianSparseHistogram):
        return mechanism.weights.cap
    bound: int | None = getattr(mechanism, "max_items_per_user", None)
    return bound


def pairs_for(mechanism: Any) -> tuple[Pair, ...]:
    """Neighbours around the place where the mechanism decides."""
    k_bar = getattr(mechanism, "max_rows", None)
    items = _ITEMS if k_bar is None else max(_ITEMS, min(k_bar, 5) + 1)
    return worst_pairs(
        items=items,
        k=getattr(mechanism, "k", None) or 1,
        k_bar=k_bar,
        level=level_of(mechanism),
        max_items_per_user=_bound_of(mechanism),
    )


def world_for(mechanism: Any, *, items: int = _ITEMS, largest: int = 1) -> World:
    """A small world around the place where the mechanism decides."""
    level = level_of(mechanism)
    lift = {"a": level - 1} if level > largest + 1 else {}
    return World(items, largest, max_items_per_user=_bound_of(mechanism), lift=lift)


class Sessions:
    """``PayWhatYouGet`` as a black box: the top 1 is asked for again and again until the plan is used up."""

    def __init__(self, plan: PayWhatYouGet, bits: BitSource | None = None) -> None:
        # Not the plan itself: every session has a fresh one, and a lock cannot be sent to another process.
        self._parameters = (plan.k_star, plan.l_star, plan.epsilon_per_item, plan.delta)
        self._bits = bits

    @property
    def guarantee(self) -> Guarantee:
        """Of the whole transcript."""
        return PayWhatYouGet(*self._parameters).guarantee

    def __call__(self, counts: dict[str, int]) -> tuple[Any, ...]:
        """One whole session."""
        plan = PayWhatYouGet(*self._parameters)
        histogram = Histogram(counts)
        seen: tuple[Any, ...] = ()
        while min(plan.remaining) > 0:
            seen = (*seen, plan.top(histogram, k=1, k_bar=1, bits=self._bits))
        return seen

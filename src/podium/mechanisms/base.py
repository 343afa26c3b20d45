"""What every mechanism is: frozen parameters, a sampler, its exact distribution, and what it costs."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeAlias, overload

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball_precision, exact_fraction, rational_bounds
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee, total
from podium.privacy.proofs import Proof
from podium.randomness import BitSource
from podium.release import Outcome, Receipt, Release, ValueKind

__all__ = [
    "UNSAID",
    "UNSAID_NONE",
    "UNSAID_ZERO",
    "Distribution",
    "Mechanism",
    "certified_ball",
    "certified_floats",
    "describe",
    "guarantee_of",
]

Distribution: TypeAlias = dict[Outcome, flint.arb]

UNSAID: Final = MappingProxyType({"unsaid": 1})
UNSAID_ZERO: Final = MappingProxyType({"unsaid": 0})
UNSAID_NONE: Final = MappingProxyType({"unsaid": None})
"""Metadata of a field that came later: where it is 1 (or 0, or None), receipts read as they did without it."""
_FIRST_PRECISION = 128
_LAST_PRECISION = 8192
_ACCURACY_BITS = 46
"""Floats of a distribution are good to this many bits relative to the largest probability, well over 12 digits."""


class Mechanism(ABC):
    """A private selection.

    Subclasses are frozen dataclasses whose fields are exact. They implement ``_exact_distribution`` (the output
    distribution in balls), ``_run`` (the sampler, through ``podium.randomness``) and ``worst_case`` (the events to
    reserve).
    """

    __slots__ = ()
    proofs: ClassVar[tuple[Proof, ...]] = ()
    """Proofs in this repository; empty if the cited paper has the whole proof."""
    theorem: ClassVar[str]
    reads: ClassVar[Reads] = Reads.COUNTS_OF_COUNTS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    """By which numbers of items users are counted before anything else; None if they are not."""

    @property
    @abstractmethod
    def worst_case(self) -> tuple[Event, ...]:
        """The events that a ledger must reserve before the data is read."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return guarantee_of(self.worst_case)

    @property
    def first_weights(self) -> Weights | None:
        """The weights of the first count, where users spread weight over their items."""
        return None

    @abstractmethod
    def release(self, histogram: Any, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once. ``bits`` is for tests; the default is the secure source."""

    @abstractmethod
    def _exact_distribution(self, histogram: Any) -> Distribution:
        """Every outcome of positive probability, as balls at the current precision."""

    @overload
    def distribution(self, histogram: Any) -> dict[Outcome, float]: ...
    @overload
    def distribution(self, histogram: Any, *, exact: Literal[False]) -> dict[Outcome, float]: ...
    @overload
    def distribution(self, histogram: Any, *, exact: Literal[True]) -> dict[Outcome, flint.arb]: ...
    def distribution(self, histogram: Any, *, exact: bool = False) -> dict[Outcome, float] | dict[Outcome, flint.arb]:
        """The exact output distribution, for small inputs: outcome -> probability.

        Outcomes are as in ``Release.outcome``. ``exact=True`` gives arb balls that contain the true values.
        """
        balls = certified_floats(lambda: self._exact_distribution(histogram))
        return balls if exact else {outcome: float(value.mid()) for outcome, value in balls.items()}

    @overload
    def density(self, histogram: Any, outcome: Any, values: Sequence[Number]) -> float: ...
    @overload
    def density(self, histogram: Any, outcome: Any, values: Sequence[Number], *, exact: Literal[False]) -> float: ...
    @overload
    def density(self, histogram: Any, outcome: Any, values: Sequence[Number], *, exact: Literal[True]) -> flint.arb: ...
    def density(
        self, histogram: Any, outcome: Any, values: Sequence[Number], *, exact: bool = False
    ) -> float | flint.arb:
        """The joint density of an outcome and the values released with it, where a mechanism releases values.

        It is that of the ideal real values, of which the released ones on a public grid are post-processing: a bound on
        its log ratio over neighbours bounds what is released too.
        """
        compute = self._density(histogram, outcome, [exact_fraction(value, "values") for value in values])
        value = certified_ball(compute)
        return value if exact else float(value.mid())

    def _density(self, histogram: Any, outcome: Any, values: list[Fraction]) -> Callable[[], flint.arb]:
        """Check the arguments, and say how to compute the density in balls at the current precision."""
        raise InvalidArgument(
            "values", values, allowed="none: this mechanism releases no values", hint="Use distribution()."
        )

    def _make_release(
        self,
        outcome: Outcome,
        paid: tuple[Event, ...],
        *,
        k: int,
        values: tuple[Fraction, ...] | None = None,
        value_kind: ValueKind | None = None,
    ) -> Release:
        return Release(
            mechanism=type(self).__name__,
            outcome=outcome,
            k=k,
            paid=Receipt(paid),
            guarantee=self.guarantee,
            theorem=self.theorem,
            parameters=describe(self),
            values=values,
            value_kind=value_kind,
        )


@functools.lru_cache(maxsize=256)
def guarantee_of(events: tuple[Event, ...]) -> Guarantee:
    """What holds for a mechanism that may run these events, fixed beforehand: at a delta, the best bound.

    Cached: all releases of a mechanism have one guarantee, which takes as long to compute as a small release.
    """
    return replace(total(events), events=events)


def describe(mechanism: Any) -> dict[str, str]:
    """The parameters as text, exact."""
    values = {item.name: (getattr(mechanism, item.name), item.metadata) for item in fields(mechanism)}
    inner = [value for value, metadata in values.values() if metadata.get("inner")]
    parts = {name: text for part in inner for name, text in {"inner": type(part).__name__, **describe(part)}.items()}
    return parts | {
        name: str(value)
        for name, (value, metadata) in values.items()
        if name not in parts and value != metadata.get("unsaid", ...)
    }


def certified_ball(compute: Callable[[], flint.arb]) -> flint.arb:
    """One number computed in balls, at rising precision until it is as accurate as a float can show."""
    return certified_floats(lambda: {None: compute()})[None]


def certified_floats(compute: Callable[[], Mapping[Any, flint.arb]]) -> dict[Any, flint.arb]:
    """Run a computation in balls at rising precision until every result is as accurate as a float can show."""
    precision = _FIRST_PRECISION
    while True:
        with ball_precision(precision):
            values = dict(compute())
            if all(_is_accurate(value) for value in values.values()) or precision >= _LAST_PRECISION:
                return values
        precision *= 2


def _is_accurate(value: flint.arb) -> bool:
    if not value.is_finite():
        return False
    # Its radius is below 2^-bits of its middle, so its width is below 2^(1-bits) of its larger end.
    if value.rel_accuracy_bits() > _ACCURACY_BITS:
        return True
    low, high = rational_bounds(value)
    return high - low <= max(abs(low), abs(high), Fraction(1, 1 << 200)) / (1 << _ACCURACY_BITS)

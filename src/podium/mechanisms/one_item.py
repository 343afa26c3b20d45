"""What mechanisms share that choose one item of a known domain for one pure epsilon: the winner of a race."""

from __future__ import annotations

from fractions import Fraction

from podium.exact import Number, flag, positive_fraction
from podium.histogram import Item, KnownDomain
from podium.mechanisms.base import Mechanism
from podium.mechanisms.domain import require_items
from podium.privacy.events import Event, PureMechanism
from podium.randomness import BitSource, NoiseName, grid_bits_for, race

__all__ = ["OneItem"]


class OneItem(Mechanism):
    """The item of the largest score plus noise of scale span/epsilon; subclasses are frozen dataclasses of both."""

    __slots__ = ()
    epsilon: Fraction
    monotone: bool

    def __init__(self, epsilon: Number, *, monotone: bool = True) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        object.__setattr__(self, "monotone", flag(monotone, "monotone"))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One pure mechanism: with exponential noise, or with its gap, a selection is not of bounded range epsilon."""
        return (PureMechanism(self.epsilon),)

    def _rate(self, histogram: KnownDomain) -> Fraction:
        return self.epsilon / histogram.span(monotone=self.monotone)

    def _race(
        self, histogram: KnownDomain, noise: NoiseName, *, gap_grid: int | None = None, bits: BitSource | None
    ) -> tuple[Item, tuple[Fraction, ...]]:
        """The winner; with ``gap_grid`` also its lead on a grid of that many bits, if there is another item."""
        groups = histogram.groups()
        require_items(1, groups)
        scale = 1 / self._rate(histogram)
        gap_bits = None if gap_grid is None else grid_bits_for(scale, gap_grid)
        finish = race(
            groups.scores,
            k=1,
            scale=scale,
            noise=noise,
            multiplicities=groups.multiplicities,
            gap_bits=gap_bits,
            bits=bits,
        )
        return groups.name(finish.groups[0], finish.members[0]), finish.gaps

"""Top-k by events or amounts over an unknown domain: a clip, a selection, and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import Number, exact_integer, positive_fraction, positive_integer
from podium.histogram import Item
from podium.mechanisms.base import UNSAID_ZERO, describe
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import MEASURING, Amounts, selection_noise
from podium.mechanisms.measures.clip_choice import RESOLUTION, ClipChoice
from podium.mechanisms.reader import AmountsReader, Reads
from podium.mechanisms.weights import Weights
from podium.privacy import Guarantee, total
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.proofs import Proof
from podium.randomness import BitSource, discrete_gaussian
from podium.release import Receipt, Release

__all__ = ["MeasuredTopK"]

_Measured: TypeAlias = tuple[tuple[Fraction, ...], tuple[Event, ...], dict[str, str]]


@dataclass(frozen=True, slots=True, init=False)
class MeasuredTopK:
    """The k items with the largest sums of what users contribute, where nobody can list the items beforehand.

    Use
        By events or by amounts instead of by users. The clip need not be known.
    Shape
        unknown domain; ordered; no values, or noisy sums
    Guarantee
        delta/(1+delta)-approximate rho-zCDP, rho = rho_clip + k rho(epsilon_per_item) + k/(2 sigma^2), without the
        first where the clip is stated, and without the last where no values are wanted. Neighbours: one user added or
        removed.
    Distribution
        ClipChoice(rho_clip) gives a clip for selecting and one for measuring, unless a clip is stated, which serves for
        both. LimitedDomain(clip=...) selects on sums at the first. CorrelatedCounts adds noise to the sums of what came
        out, at the second; sums that also fall get independent discrete Gaussian noise.
    Symbols
        k; k_bar; epsilon_per_item; delta; max_items_per_user; clip (None: chosen); rho_clip; sigma (noise of one value
        that is measured alone, in units of its clip; None: no values); floor: contributions are at least -floor.
    Source
        docs/proofs/measures.md, Theorem 5.
    Assumes
        The reader clips what it has added up by user and item, and cuts users by a rule that sees only their rows.
    """

    reads: ClassVar[Reads] = Reads.ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    first_weights: ClassVar[Weights | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (Proof("docs/proofs/measures.md", "Theorem 5"),)
    theorem: ClassVar[str] = f"{proofs[0]}: a selection on sums at a clip that is public or was paid for"

    k: int
    k_bar: int
    epsilon_per_item: Fraction
    delta: Fraction
    max_items_per_user: int | None
    clip: int | None
    rho_clip: Fraction | None
    sigma: Fraction | None
    floor: int = field(metadata=UNSAID_ZERO)

    def __init__(
        self,
        k: int,
        k_bar: int,
        epsilon_per_item: Number,
        delta: Number,
        *,
        max_items_per_user: int | None = None,
        clip: int | None = None,
        rho_clip: Number | None = None,
        sigma: Number | None = None,
        floor: int = 0,
    ) -> None:
        put = object.__setattr__
        plain = LimitedDomain(k, k_bar, epsilon_per_item, delta, max_items_per_user=max_items_per_user)
        for name in ("k", "k_bar", "epsilon_per_item", "delta", "max_items_per_user"):
            put(self, name, getattr(plain, name))
        if (clip is None) == (rho_clip is None):
            raise InvalidArgument(
                "clip", clip, allowed="either a clip, or rho_clip to choose one", hint="A stated clip costs nothing."
            )
        put(self, "clip", None if clip is None else positive_integer(clip, "clip"))
        put(self, "rho_clip", None if rho_clip is None else positive_fraction(rho_clip, "rho_clip"))
        put(self, "sigma", None if sigma is None else positive_fraction(sigma, "sigma"))
        put(self, "floor", exact_integer(floor, "floor", minimum=0))
        if self.floor and clip is None:
            raise InvalidArgument("clip", clip, allowed="an integer where amounts may be negative", hint="State it.")

    def selection(self, clip: int) -> LimitedDomain:
        """The selection at this clip; its cost is the same for every clip."""
        return LimitedDomain(
            self.k,
            self.k_bar,
            self.epsilon_per_item,
            self.delta,
            max_items_per_user=self.max_items_per_user,
            clip=clip + self.floor,
        )

    @property
    def choice(self) -> ClipChoice | None:
        """How the clip is chosen, if it is not stated."""
        return None if self.rho_clip is None else ClipChoice(self.rho_clip)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The choice of the clip, k selections in one call, and k values; no clip changes it."""
        choice, values = self.choice, tuple[Event, ...]()
        chosen = () if choice is None else (choice.event,)
        if self.sigma is not None:
            # In units of the noise, so exactly mu^2: fewer values round their sigma anew.
            together = GaussianNoise(1, sensitivity_squared=self._mu_squared(self.k))
            values = (self._signed_event(self.clip or 1),) * self.k if self.floor else (together,)
        return (*chosen, *self.selection(1).worst_case, *values)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    def clips_for(self, amounts: Amounts) -> tuple[int, int]:
        """The clips for selecting and for measuring that follow from released histograms."""
        plain = self.selection(1)
        noise = selection_noise(float(self.epsilon_per_item), float(plain.margin))
        selecting = amounts.best_clip(k=self.k, noise=noise)
        if self.sigma is None:
            return selecting, selecting
        spread = float(CorrelatedCounts.within(self.k, self._mu_squared(self.k)).variance) ** 0.5
        return selecting, amounts.best_clip(k=self.k, noise=spread, bias=MEASURING)

    def release(self, reader: AmountsReader, *, bits: BitSource | None = None) -> Release:
        """Choose the clips unless they are stated, select, and measure what came out."""
        choice = self.choice
        if choice is None:
            paid: tuple[Event, ...] = ()
            selecting = measuring = self.clip or 1
        else:
            amounts = choice.release(reader.clip_histograms(choice.buckets, RESOLUTION), bits=bits)
            paid = (choice.event,)
            selecting, measuring = self.clips_for(amounts)
        found = reader.at_clip(selecting, self.floor).select(self.selection(selecting))
        parameters = {**describe(self), "selecting_clip": str(selecting)}
        values, events, noise = self._measure(reader, found.items, measuring, bits)
        return Release(
            mechanism=type(self).__name__,
            outcome=found.outcome,
            k=self.k,
            paid=Receipt((*paid, *found.paid.events, *events)),
            guarantee=self.guarantee,
            theorem=f"{self.theorem}; {found.theorem}",
            parameters={**parameters, **noise},
            values=values,
            value_kind=None if values is None else "counts",
        )

    def _measure(
        self, reader: AmountsReader, items: tuple[Item, ...], clip: int, bits: BitSource | None
    ) -> tuple[tuple[Fraction, ...] | None, tuple[Event, ...], dict[str, str]]:
        if self.sigma is None:
            return None, (), {}
        if not items:
            return (), (), {"measuring_clip": str(clip)}
        sums = reader.at_clip(clip, self.floor).sums_of(items)
        values, events, noise = self._signed(sums, clip, bits) if self.floor else self._together(sums, clip, bits)
        return values, events, {"measuring_clip": str(clip), **noise}

    def _together(self, sums: Sequence[int], clip: int, bits: BitSource | None) -> _Measured:
        # Values are of sums that nobody is cut in, so a user may be in all of them.
        noise = CorrelatedCounts.within(len(sums), self._mu_squared(len(sums)), clip=clip)
        return noise.measure(sums, bits=bits), (noise.event,), noise.parameters

    def _signed(self, sums: Sequence[int], clip: int, bits: BitSource | None) -> _Measured:
        # Shared noise does not hide a user who raises some sums and lowers others.
        event = self._signed_event(clip)
        draws = discrete_gaussian(variance=event.sigma**2, size=len(sums), bits=bits)
        values = tuple(Fraction(value + int(draw)) for value, draw in zip(sums, draws, strict=True))
        noise = {"noise": "gaussian", "scale": str(event.sigma), "clip": str(clip), "falls_by": str(self.floor)}
        return values, (event,) * len(sums), {f"count_{name}": value for name, value in noise.items()}

    def _mu_squared(self, values: int) -> Fraction:
        return values / (self.sigma or Fraction(1)) ** 2

    def _signed_event(self, clip: int) -> GaussianNoise:
        reach = max(clip, self.floor)
        return GaussianNoise(reach * (self.sigma or 1), sensitivity_squared=reach**2, discrete=True)

"""Top-k by events or amounts: a clip that is stated or paid for, a selection in units of it, and values on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, exact_integer, positive_fraction, positive_integer, probability
from podium.histogram import Item
from podium.mechanisms.base import UNSAID_NONE, describe, guarantee_of
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import Amounts, noise_of_rounds, noise_of_selections
from podium.mechanisms.measures.clip_choice import RESOLUTION, ClipChoice
from podium.mechanisms.measures.clipped_sums import grid_bits_of
from podium.mechanisms.measures.length_choice import NormChoice
from podium.mechanisms.measures.norm_weights import MAX_NORMED_ITEMS, NormWeights
from podium.mechanisms.measures.normed_topk import NormedTopK
from podium.mechanisms.reader import AmountsReader, Reads
from podium.mechanisms.weights import Weights
from podium.privacy import Guarantee, calibrate_sigma
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import Receipt, Release

__all__ = ["MeasuredTopK"]

Finder = AdaptiveTopK | ExponentialTopK | LimitedDomain

_DEFAULT_CAP = 1000
_PER_PLACE = 6
"""Three rounds may find twice as many items as wanted."""
_OF_FINDING = Fraction(9, 10)
"""The share of a Gaussian budget with which the noise of rounds is estimated for the clip."""


@dataclass(frozen=True, slots=True, init=False)
class MeasuredTopK:
    """The k items with the largest sums of what users contribute, each contribution clipped.

    Use
        Items are ranked by events or by the sum of a column; what one user adds to one item is clipped.
    Shape
        any domain; ordered; no values, or noisy sums
    Guarantee
        The sum of its parts: the clip costs rho_clip unless it is stated, the selection what LimitedDomain,
        NormedTopK or ExponentialTopK costs, values mu_squared_for_values. Neighbours: one user added or removed.
    Distribution
        ClipChoice releases noisy histograms, of which public functions are the clip of the selection and that of the
        values. Then one selection in units of the clip: LimitedDomain or, of a known domain, ExponentialTopK on sums
        rounded down to a grid (epsilon_per_item), or NormedTopK (mu_squared), whose clip is the most that a user adds
        to all items together, as a length; a chosen one comes from NormChoice. With a max_items_per_user above 2^20 it
        is AdaptiveTopK. Values are sums at their own clip with CorrelatedCounts noise in units of it; signed ones have
        independent noise.
    Symbols
        k; clip (None: chosen); floor, at least how much a user adds (0, or below it for signed sums); rho_clip;
        epsilon_per_item or mu_squared; delta, k_bar, max_items_per_user as in the selections; known: the domain is;
        at_least, in units: the bottom of selections, none in rounds.
    Source
        docs/proofs/measures.md; the selections have their own.
    Assumes
        The reader adds up integers, one for each user and item, each a function of that user's rows: from 1 to its
        clip, or from floor to clip.
    """

    reads: ClassVar[Reads] = Reads.ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/measures.md", "Theorem 5", "Theorem 7", "Theorem 10")
    theorem: ClassVar[str] = f"{proofs[0]}: a selection on sums at a clip that is public or was paid for"

    k: int
    clip: int | None
    floor: int
    rho_clip: Fraction | None
    epsilon_per_item: Fraction | None
    mu_squared: Fraction | None
    delta: Fraction
    k_bar: int | None
    max_items_per_user: int | None
    known: bool
    mu_squared_for_values: Fraction | None
    at_least: int | None = field(metadata=UNSAID_NONE)

    def __init__(
        self,
        k: int,
        *,
        clip: int | None = None,
        floor: int = 0,
        rho_clip: Number | None = None,
        epsilon_per_item: Number | None = None,
        mu_squared: Number | None = None,
        delta: Number = 0,
        k_bar: int | None = None,
        max_items_per_user: int | None = None,
        known: bool = False,
        mu_squared_for_values: Number | None = None,
        at_least: int | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "at_least", None if at_least is None else positive_integer(at_least, "at_least"))
        put(self, "k", positive_integer(k, "k"))
        put(self, "clip", None if clip is None else positive_integer(clip, "clip"))
        put(self, "floor", exact_integer(floor, "floor"))
        put(self, "rho_clip", None if rho_clip is None else positive_fraction(rho_clip, "rho_clip"))
        for name, value in (
            ("epsilon_per_item", epsilon_per_item),
            ("mu_squared", mu_squared),
            ("mu_squared_for_values", mu_squared_for_values),
        ):
            put(self, name, None if value is None else positive_fraction(value, name))
        put(self, "delta", probability(delta, "delta", zero=True))
        put(self, "k_bar", None if k_bar is None else positive_integer(k_bar, "k_bar"))
        put(self, "max_items_per_user", max_items_per_user)
        put(self, "known", known)
        self._check()

    def _check(self) -> None:
        if (self.clip is None) == (self.rho_clip is None):
            raise InvalidArgument("rho_clip", self.rho_clip, allowed="a number where no clip is stated, and only then")
        if (self.epsilon_per_item is None) == (self.mu_squared is None):
            raise InvalidArgument("mu_squared", self.mu_squared, allowed="either epsilon_per_item or mu_squared")
        if self.floor > 0 or (self.floor and (self.clip is None or self.mu_squared is not None or self.known)):
            raise InvalidArgument(
                "floor",
                self.floor,
                allowed="0, or a negative integer with a stated clip and epsilon_per_item, for an unknown domain",
            )
        # What a selection would refuse is refused here, not when rows are about to be read.
        self.finder(self.clip or 1)

    @property
    def normed(self) -> bool:
        """Whether the clip bounds what a user adds to all items together, and not item by item."""
        most = max(self.max_items_per_user or _DEFAULT_CAP, _PER_PLACE * self.k)
        return self.mu_squared is not None and most <= MAX_NORMED_ITEMS

    @property
    def choice(self) -> ClipChoice | NormChoice | None:
        """How the clip is chosen, if none is stated."""
        if self.rho_clip is None:
            return None
        values = self.mu_squared_for_values is not None
        return NormChoice(self.rho_clip, values=values) if self.normed else ClipChoice(self.rho_clip)

    def finder(self, clip: int) -> Finder:
        """The selection at this clip."""
        if self.mu_squared is not None:
            cap = self.max_items_per_user or _DEFAULT_CAP
            kind = NormedTopK if self.normed else AdaptiveTopK
            return kind(self.k, self.mu_squared, self.delta, max_items_per_user=cap, clip=clip)
        single = self.epsilon_per_item or 0
        if self.known:
            # Sums are rounded down to a grid of this step, and so is what they must reach.
            step = Fraction(1 << grid_bits_of(Fraction(single)), clip)
            return ExponentialTopK(self.k, single, at_least=None if self.at_least is None else self.at_least * step)
        return LimitedDomain(
            self.k,
            self.k_bar or max(10 * self.k, 1000),
            single,
            self.delta,
            max_items_per_user=self.max_items_per_user,
            clip=clip - self.floor,
            at_least=self.at_least,
        )

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The choice of the clip, the selection, and all values."""
        chosen = () if self.choice is None else (self.choice.event,)
        values = self.mu_squared_for_values
        measured = () if values is None else (GaussianNoise(1, sensitivity_squared=values),)
        return (*chosen, *self.finder(1 if self.clip is None else self.clip).worst_case, *measured)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return guarantee_of(self.worst_case)

    @property
    def first_weights(self) -> Weights | NormWeights | None:
        """The weights of the first round, if there are rounds."""
        finder = self.finder(self.clip or 1)
        return finder.first_weights if isinstance(finder, AdaptiveTopK) else None

    @property
    def max_rows(self) -> int | None:
        """How many rows the selection reads; None if it reads how many items have each sum."""
        finder = self.finder(self.clip or 1)
        return finder.max_rows if isinstance(finder, LimitedDomain) else None

    @property
    def reach(self) -> Fraction:
        """What an item's sum must exceed to be found, in clips: a public measure."""
        finder = self.finder(self.clip or 1)
        if isinstance(finder, AdaptiveTopK):
            return finder.first_threshold / finder.clip
        return 1 / finder.epsilon_per_item if isinstance(finder, ExponentialTopK) else finder.margin / finder.clip

    def noise_of_values(self, items: int, clip: int) -> CorrelatedCounts:
        """The noise on the sums of this many items, of which each user adds at most ``clip``."""
        mu_squared = self.mu_squared_for_values or Fraction(0)
        if not self.floor:
            return CorrelatedCounts.within(items, mu_squared, clip=clip)
        # Shared noise would protect less where sums also fall.
        sigma, reach = calibrate_sigma(mu_squared / 2, sensitivity_squared=items), max(clip, -self.floor)
        return CorrelatedCounts(items, sigma=reach * sigma, shared_sigma=0, clip=reach)

    def clips_for(self, amounts: Amounts, measured: Amounts | None = None) -> tuple[int, int]:
        """The clips for selecting and for measuring that follow from released histograms; floats decide.

        Where the first bounds lengths, what is ``measured`` has histograms of its own.
        """
        selecting = amounts.clip_for_list(k=self.k, noise=self._noise_of_selection(amounts))
        if self.mu_squared_for_values is None:
            return selecting, selecting
        noise = float(self.noise_of_values(self.k, 1).variance) ** 0.5
        return selecting, (measured or amounts).clip_for_values(k=self.k, noise=noise)

    def _noise_of_selection(self, amounts: Amounts) -> float:
        finder = self.finder(1)
        if isinstance(finder, ExponentialTopK):
            return noise_of_selections(float(finder.epsilon_per_item))
        if isinstance(finder, LimitedDomain):
            return noise_of_selections(float(finder.epsilon_per_item), float(finder.margin))
        noise = noise_of_rounds(float(finder.stage(_OF_FINDING, discovery=2).count_threshold))
        # Weights by t shrink what a user with many items adds, and noise seems the larger for it.
        return noise if self.normed else noise / max(amounts.spread, 1e-6)

    def release(self, reader: AmountsReader, *, bits: BitSource | None = None) -> Release:
        """Choose the clip unless it is stated, select, and measure if values are wanted."""
        paid: list[Event] = []
        choice, clip, value_clip = self.choice, self.clip or 1, self.clip or 1
        if choice is not None:
            clip, value_clip = self._choose(choice, reader, bits)
            paid.append(choice.event)
        finder = self.finder(clip)
        whole = self.normed and choice is not None
        # A length bounds single amounts as well: before a user is scaled, so that others keep more.
        found = self._find(finder, reader.at_clip(clip), bits)
        paid.extend(found.paid.events)
        parameters = (
            describe(self) | ({} if whole else {"clip": str(clip)}) | ({"length": str(clip)} if self.normed else {})
        )
        values: tuple[Fraction, ...] | None = None
        outcome = found.outcome
        if self.mu_squared_for_values is not None:
            values, noise = self._measure(found.items, reader.at_clip(value_clip), value_clip, bits)
            if self.mu_squared is not None:
                # As in rounds by users: what is measured last is the best order.
                ranked = sorted(zip(found.items, values, strict=True), key=lambda pair: pair[1], reverse=True)
                outcome, values = tuple(item for item, _ in ranked), tuple(value for _, value in ranked)
            paid.extend([noise.event] if noise else [])
            parameters |= {"value_clip": str(value_clip), **(noise.parameters if noise else {})}
        return Release(
            mechanism=type(self).__name__,
            outcome=outcome,
            k=self.k,
            paid=Receipt(tuple(paid)),
            guarantee=self.guarantee,
            theorem=f"{self.theorem}; {found.theorem}",
            parameters=parameters,
            values=values,
            value_kind=None if values is None else "counts",
        )

    def _choose(
        self, choice: ClipChoice | NormChoice, reader: AmountsReader, bits: BitSource | None
    ) -> tuple[int, int]:
        if isinstance(choice, NormChoice):
            return self.clips_for(*choice.release(reader, bits=bits))
        return self.clips_for(choice.release(reader.clip_histograms(choice.buckets, RESOLUTION), bits=bits))

    def _find(self, finder: Finder, reader: AmountsReader, bits: BitSource | None) -> Release:
        if isinstance(finder, AdaptiveTopK):
            return finder.release(reader, bits=bits)
        return reader.select_known(finder) if isinstance(finder, ExponentialTopK) else reader.select(finder)

    def _measure(
        self, items: tuple[Item, ...], reader: AmountsReader, clip: int, bits: BitSource | None
    ) -> tuple[tuple[Fraction, ...], CorrelatedCounts | None]:
        if not items:
            return (), None
        noise = self.noise_of_values(len(items), clip)
        return noise.measure(reader.sums_of(items), bits=bits), noise

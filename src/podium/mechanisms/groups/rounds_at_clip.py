"""A list for each group by events or amounts in rounds, at a clip that is chosen once for all groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Item
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.groups.at_clip import AtChosenClip
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.measures.amounts import Amounts, noise_of_rounds
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.guarantee import Guarantee, total
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import GroupedRelease, Receipt, Release

__all__ = ["GroupedRoundsAtClip"]

_OF_FINDING = Fraction(9, 10)
"""The share of mu^2 with which the noise of rounds is estimated for the clip."""


@dataclass(frozen=True, slots=True, init=False)
class GroupedRoundsAtClip(AtChosenClip):
    """A ranked list for every group by clipped sums, in rounds, at a clip that follows from released histograms.

    Use
        As GroupedRounds by events or by a sum, where nobody can say how much a user should add to an item at most.
    Shape
        unknown domain; a ranked list for each group; no values, or noisy sums
    Guarantee
        That of GroupedRounds with the mu^2 of the values of groups_per_user groups added, and the 2 rho_clip of the
        clip, once: everybody is in the histograms, whatever groups they are in. Neighbours: one user added or removed.
    Distribution
        ClipChoice releases noisy histograms of the pairs (group, item) of all groups, of which public functions are
        the clip of the lists and that of the values. Then GroupedRounds runs at the first, and what it found in a
        group is measured at the second with CorrelatedCounts, whose noise is that of k values in every group.
    Symbols
        rho_clip; inner, the rounds in units of the clip; mu_squared_for_values, of each group (None: no values).
    Source
        docs/proofs/groups.md, Theorem 9; docs/proofs/measures.md, Theorems 3, 4 and 6.
    Assumes
        As GroupedRounds, with amounts from 1 to the clip, each a function of one user's rows; the amounts in the
        histograms are those of the groups in which a user counts.
    """

    reads: ClassVar[Reads] = Reads.GROUPS_IN_ROUNDS_AT_CLIP
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/groups.md", "Theorem 9"),
        *proofs_in("docs/proofs/measures.md", "Theorem 3", "Theorem 6"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: one clip for the rounds of all groups, paid for once"

    rho_clip: Fraction
    inner: GroupedRounds = field(metadata={"inner": True})
    mu_squared_for_values: Fraction | None

    def __init__(self, rho_clip: Number, inner: GroupedRounds, *, mu_squared_for_values: Number | None = None) -> None:
        put = object.__setattr__
        put(self, "rho_clip", positive_fraction(rho_clip, "rho_clip"))
        if inner.inner.clip != 1 or inner.inner.counts:
            raise InvalidArgument("inner", inner, allowed="rounds in units of the clip, without counts")
        put(self, "inner", inner)
        values = mu_squared_for_values
        put(self, "mu_squared_for_values", None if values is None else positive_fraction(values, "mu_squared"))

    @property
    def first_weights(self) -> Weights:
        """The weights of round 1, by the number of a user's items within a group."""
        return self.inner.first_weights

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The choice of the clip, and rounds and values of as many groups as one user is in."""
        values = self.mu_squared_for_values
        measured = () if values is None else (GaussianNoise(1, sensitivity_squared=self.most * values),)
        return (self.choice.event, *self.inner.worst_case, *measured)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    def at(self, clip: int) -> GroupedRounds:
        """The rounds at this clip, which cost what they cost at any."""
        one = self.inner.inner
        rounds = AdaptiveTopK(one.k, one.mu_squared, one.delta, max_items_per_user=one.max_items_per_user, clip=clip)
        return GroupedRounds(rounds, self.inner.groups_per_user, known=self.inner.known)

    def clips_for(self, amounts: Amounts, largest: int | None = None) -> tuple[int, int]:
        """The clips of lists and of values that follow from released histograms; floats decide.

        Neither is above ``largest``, how far the source keeps amounts.
        """
        one = self.inner.inner
        noise = noise_of_rounds(float(one.stage(_OF_FINDING, discovery=2).count_threshold))
        # Weights by t shrink what a user with many items adds, and noise seems the larger for it.
        selecting = amounts.clip_for_list(k=self._places, noise=noise / max(amounts.spread, 1e-6))
        measuring = selecting
        if self.mu_squared_for_values is not None:
            measuring = amounts.clip_for_values(k=self._places, noise=float(self.noise_of_values(1).variance) ** 0.5)
        return (selecting, measuring) if largest is None else (min(selecting, largest), min(measuring, largest))

    def noise_of_values(self, clip: int) -> CorrelatedCounts:
        """The noise of k values at this clip: nobody is cut here, so a user may be in all of them."""
        return CorrelatedCounts.within(self.k, positive_fraction(self.mu_squared_for_values, "mu_squared"), clip=clip)

    def measured(
        self,
        shown: Mapping[Item, Release],
        sums: Mapping[Item, Sequence[int]],
        clip: int,
        *,
        bits: BitSource | None = None,
    ) -> dict[Item, Release]:
        """What came out of each group with values, which are paid for as a part of the group."""
        clip = positive_integer(clip, "clip")
        return {group: self._with_values(one, sums.get(group, ()), clip, bits) for group, one in shown.items()}

    def _with_values(self, one: Release, sums: Sequence[int], clip: int, bits: BitSource | None) -> Release:
        if not one.items:
            return replace(one, values=(), value_kind="counts")
        noise = self.noise_of_values(clip).of_fewer(len(one.items))
        # As in rounds by users: what is measured last is the best order.
        found = zip(one.items, noise.measure(sums, bits=bits), strict=True)
        ranked = sorted(found, key=lambda pair: pair[1], reverse=True)
        return replace(
            one,
            outcome=tuple(item for item, _ in ranked),
            values=tuple(value for _, value in ranked),
            value_kind="counts",
            paid=Receipt((*one.paid.events, noise.event)),
        )

    def gather(
        self,
        shown: Mapping[Item, Release],
        nothing: Release,
        clips: tuple[int, int],
        *,
        listed: tuple[Item, ...] = (),
        per: tuple[str, ...] = ("group",),
    ) -> GroupedRelease:
        """The release of the lists that are shown at these clips, with the price of choosing them."""
        selecting, measuring = clips
        valued = self.mu_squared_for_values is not None
        if valued:
            nothing = replace(nothing, values=(), value_kind="counts")
        release = self.at(selecting).gather(shown, nothing, listed=listed, per=per)
        parameters = {"clip": str(selecting)}
        if valued:
            parameters |= {"value_clip": str(measuring), **self.noise_of_values(measuring).parameters}
        return self._with_choice(release, parameters, "counts" if valued else None)

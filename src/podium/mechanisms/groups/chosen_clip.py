"""A list for each group by events or amounts, at a clip that is chosen once for all groups and paid for once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, cast

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction
from podium.histogram import Item
from podium.mechanisms.base import guarantee_of
from podium.mechanisms.groups.at_clip import AtChosenClip
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import Amounts, noise_of_selections
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee
from podium.privacy.proofs import Proof
from podium.release import GroupedRelease, Release

__all__ = ["GroupedAmounts"]


@dataclass(frozen=True, slots=True, init=False)
class GroupedAmounts(AtChosenClip):
    """A ranked list for every group by clipped sums, at a clip that follows from released histograms of all amounts.

    Use
        As GroupedTopK by events or by a sum, where nobody can say how much a user should add to an item at most.
    Shape
        unknown or known domain; a ranked list for each group; no values, or noisy sums
    Guarantee
        That of GroupedTopK at any clip, and rho_clip on top, once: everybody is in the histograms, whatever groups
        they are in. Neighbours: one user added or removed.
    Distribution
        ClipChoice releases noisy histograms of the pairs (group, item) of all groups, of which public functions are
        the clip of the lists and that of the values. Then GroupedTopK runs at this clip.
    Symbols
        rho_clip; inner, the lists in units of the clip.
    Source
        docs/proofs/groups.md, Theorem 8; docs/proofs/measures.md, Theorem 3.
    Assumes
        As GroupedTopK, with amounts from 1 to the clip, each a function of one user's rows; the amounts in the
        histograms are those of the groups in which a user counts.
    """

    reads: ClassVar[Reads] = Reads.GROUPS_AT_CLIP
    first_edges: ClassVar[tuple[int, ...] | None] = None
    first_weights: ClassVar[Weights | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/groups.md", "Theorem 8"),
        Proof("docs/proofs/measures.md", "Theorem 3"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: one clip for all groups, paid for once"

    rho_clip: Fraction
    inner: GroupedTopK = field(metadata={"inner": True})

    def __init__(self, rho_clip: Number, inner: GroupedTopK) -> None:
        object.__setattr__(self, "rho_clip", positive_fraction(rho_clip, "rho_clip"))
        if not isinstance(inner.inner, LimitedDomain) or inner.inner.clip != 1:
            raise InvalidArgument("inner", inner, allowed="limited domains in units of the clip")
        object.__setattr__(self, "inner", inner)

    @property
    def max_rows(self) -> int:
        """How many rows of each group are read."""
        return self._selection.max_rows

    @property
    def margin(self) -> Fraction:
        """How far BOTTOM lies above the next sum, in clips."""
        return self.inner.margin

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The choice of the clip, and the lists of as many groups as one user is in."""
        return (self.choice.event, *self.inner.worst_case)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return guarantee_of(self.worst_case)

    def at(self, clip: int) -> GroupedTopK:
        """The lists at this clip, which cost what they cost at any."""
        one = self._selection
        selection = LimitedDomain(
            one.k,
            one.max_rows,
            one.epsilon_per_item,
            one.delta,
            max_items_per_user=one.max_items_per_user,
            clip=clip,
            at_least=one.at_least,
        )
        return GroupedTopK(selection, self.inner.groups_per_user, known=self.inner.known)

    def clips_for(self, amounts: Amounts, variance: Fraction | None = None) -> tuple[int, int]:
        """The clips of lists and of values that follow from released histograms; floats decide.

        ``variance`` is that of a value in units of its clip, None where no values are wanted.
        """
        noise = noise_of_selections(float(self._selection.epsilon_per_item), float(self.margin))
        selecting = amounts.clip_for_list(k=self._places, noise=noise)
        if variance is None:
            return selecting, selecting
        return selecting, amounts.clip_for_values(k=self._places, noise=float(variance) ** 0.5)

    def gather(
        self,
        shown: Iterable[tuple[Item, Release]],
        clips: tuple[int, int],
        *,
        values: bool = False,
        per: tuple[str, ...] = ("group",),
    ) -> GroupedRelease:
        """The release of the lists that are shown at these clips, with the price of choosing them."""
        selecting, measuring = clips
        chosen = {"clip": str(selecting)} | ({"value_clip": str(measuring)} if values else {})
        return self._with_choice(self.at(selecting).gather(shown, per=per), chosen)

    @property
    def _selection(self) -> LimitedDomain:
        return cast(LimitedDomain, self.inner.inner)

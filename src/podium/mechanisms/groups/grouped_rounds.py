"""The top k of every group in rounds: each user is in a few groups, and pays for the costliest of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from podium.exact import Number, exact_fraction
from podium.histogram import Item
from podium.mechanisms.base import describe
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.groups.costliest import costliest_rounds
from podium.mechanisms.groups.few_groups import InFewGroups
from podium.mechanisms.groups.lockstep import GroupedRoundsReader, Lockstep
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event, GaussianNoise, HiddenItems
from podium.privacy.guarantee import Guarantee, total
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import GroupedRelease, GroupLists, RankedList, Receipt, Release

__all__ = ["GroupedRounds"]


@dataclass(frozen=True, slots=True, init=False)
class GroupedRounds(InFewGroups[AdaptiveTopK]):
    """A ranked list for every group, in rounds that each know what the last ones released in their group.

    Use
        As GroupedTopK, for lists of three items and more from an unknown domain, by users or by clipped sums.
    Shape
        unknown domain; a ranked list for each group; no values, or noisy counts or sums
    Guarantee
        delta-approximate mu-Gaussian DP over all rounds of all groups, with groups_per_user times the mu^2 and the
        delta of the inner mechanism, however many groups there are; a transcript may be settled at the costliest
        groups. Neighbours: one user added or removed.
    Distribution
        The inner mechanism runs on every group by itself. Of unknown groups (known=None) those are shown in which an
        item was found: in a group without rows nothing is found, with certainty.
    Symbols
        inner, whose max_items_per_user bounds the items of a user in one group, and which has the clip of sums;
        groups_per_user = g, or as few as users have pairs of all groups; known, the number of listed groups, all of
        which are shown (None: unknown groups).
    Source
        docs/proofs/groups.md, Theorems 3, 5, 6 and 9; docs/proofs/adaptive.md; for sums docs/proofs/measures.md.
    Assumes
        Each user is in at most g groups, chosen by a rule that sees only that user's rows.
    """

    reads: ClassVar[Reads] = Reads.GROUPS_IN_ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in(
        "docs/proofs/groups.md", "Theorem 5", "Theorem 6", "Theorem 3", "Lemma 2"
    )
    theorem: ClassVar[str] = f"{proofs[0]}: rounds in every group, where a user counts in few"

    inner: AdaptiveTopK = field(metadata={"inner": True})
    groups_per_user: int
    known: int | None

    @classmethod
    def dividing(
        cls,
        k: int,
        mu_squared: Number,
        delta: Number,
        *,
        groups_per_user: int = 1,
        known: int | None = None,
        max_items_per_user: int = 1000,
        counts: bool = False,
        clip: int = 1,
    ) -> GroupedRounds:
        """Rounds that have mu^2 and delta together: each group of a user has an equal part of both."""
        most = groups_per_user if known is None else min(groups_per_user, known)
        whole, hidden = exact_fraction(mu_squared, "mu_squared"), exact_fraction(delta, "delta")
        inner = AdaptiveTopK(
            k, whole / most, hidden / most, max_items_per_user=max_items_per_user, counts=counts, clip=clip
        )
        return cls(inner, groups_per_user, known=known)

    @property
    def first_weights(self) -> Weights:
        """The weights of round 1, by the number of a user's items within a group."""
        return self.inner.first_weights

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What the rounds of as many groups as one user is in may cost."""
        return (
            GaussianNoise(1, sensitivity_squared=self.most * self.inner.mu_squared),
            HiddenItems(self.most * self.inner.delta),
        )

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    def release(self, reader: GroupedRoundsReader, *, bits: BitSource | None = None) -> GroupedRelease:
        """Run all rounds of all groups, which are unknown: ``gather`` shows those that were listed."""
        return self.gather(*self.run(reader, bits=bits))

    def run(
        self, reader: GroupedRoundsReader, *, bits: BitSource | None = None
    ) -> tuple[Mapping[Item, Release], Release]:
        """What came out of every group in which something did, and of every other."""
        return Lockstep(lambda: self.inner.run(bits=bits, alike=True), reader).run()

    def gather(
        self,
        shown: Mapping[Item, Release],
        nothing: Release,
        *,
        listed: tuple[Item, ...] = (),
        per: tuple[str, ...] = ("group",),
    ) -> GroupedRelease:
        """The release: the lists in which something came out, and those of known groups that are ``listed``."""
        lists = {**dict.fromkeys(listed, nothing), **shown}
        counts, parameters = self.inner.counts, describe(self)
        if counts:
            parameters |= self.inner.noise_of_counts(self.k).parameters
        return GroupedRelease(  # type: ignore[call-arg] # it has lists, and no outcome of its own
            mechanism=type(self).__name__,
            k=self.k,
            paid=Receipt(self._paid(shown, nothing)),
            guarantee=self.guarantee,
            theorem=self.theorem,
            parameters=parameters,
            lists=GroupLists((group, RankedList(one.outcome, self.k, one.values)) for group, one in lists.items()),
            per=per,
            value_kind="counts" if counts else None,
        )

    def _paid(self, shown: Mapping[Item, Release], nothing: Release) -> tuple[Event, ...]:
        others = self.most if self.known is None else min(self.most, self.known - len(shown))
        events = {group: one.paid.events for group, one in shown.items()}
        return costliest_rounds(events, self.most, others=others, nothing=nothing.paid.events)

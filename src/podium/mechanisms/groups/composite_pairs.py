"""The top k of every group where a user counts in all of theirs: one noisy histogram of (group, item) pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from podium.exact import Number, exact_fraction, positive_integer
from podium.histogram import Item
from podium.mechanisms.base import describe
from podium.mechanisms.groups.lockstep import FoundItems
from podium.mechanisms.reader import Reads
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.weights import Weights
from podium.privacy import calibrate_sigma
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee, total
from podium.privacy.proofs import Proof
from podium.release import GroupedRelease, GroupLists, RankedList, Receipt

__all__ = ["GroupedComposite"]


class GroupsReader(Protocol):
    """A table with groups, in which a user's weights count their pairs of all groups together."""

    def discover(
        self,
        stage_of: Callable[[Item], TruncatedGaussianHistogram | None],
        without: Mapping[Item, tuple[Item, ...]],
    ) -> Iterable[tuple[Item, FoundItems]]:
        """Run the stage on the weighted counts of every group; groups in which nothing is found are absent."""
        ...


@dataclass(frozen=True, slots=True, init=False)
class GroupedComposite:
    """A ranked list for every group, where each user counts in all of their groups with weights that share one length.

    Use
        Lists for each day or week: users are in many groups, and a cut to a few of them would lose most rows.
    Shape
        unknown domain; a ranked list for each group; no values
    Guarantee
        That of TruncatedGaussianHistogram on pairs (group, item): delta-approximate mu-Gaussian DP, whatever the number
        of groups of a user. Neighbours: one user added or removed.
    Distribution
        A user with t pairs of all groups together adds 1/sqrt(t) to each. Every conceivable pair has Gaussian noise
        that is cut off at the threshold; each list has the k largest of those of its group that pass, and a group is
        shown if one does.
    Symbols
        k, the length of each list; inner, whose weights count pairs; known, the number of listed groups, all of which
        are shown (None: unknown groups).
    Source
        docs/proofs/groups.md, Theorem 7; docs/proofs/truncated-noise.md, Theorem 1.
    Assumes
        Each user was cut to at most ``inner.weights.cap`` pairs by a rule that sees only that user's rows.
    """

    reads: ClassVar[Reads] = Reads.GROUPS_TOGETHER
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/groups.md", "Theorem 7"),
        Proof("docs/proofs/truncated-noise.md", "Theorem 1"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: pairs of all groups in one noisy histogram"

    k: int
    inner: TruncatedGaussianHistogram = field(metadata={"inner": True})
    known: int | None

    def __init__(self, k: int, inner: TruncatedGaussianHistogram, *, known: int | None = None) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "inner", inner)
        put(self, "known", None if known is None else positive_integer(known, "known"))

    @classmethod
    def spending(
        cls, k: int, mu_squared: Number, delta: Number, *, max_items_per_user: int, known: int | None = None
    ) -> GroupedComposite:
        """One discovery with all of mu^2 and delta; ``max_items_per_user`` bounds pairs of all groups together."""
        weights = Weights.spread(positive_integer(max_items_per_user, "max_items_per_user"))
        sigma = calibrate_sigma(
            exact_fraction(mu_squared, "mu_squared") / 2, sensitivity_squared=weights.sensitivity_squared
        )
        return cls(k, TruncatedGaussianHistogram(k=k, sigma=sigma, delta=delta, weights=weights), known=known)

    @property
    def first_weights(self) -> Weights:
        """The weights, by the number of a user's pairs of all groups."""
        return self.inner.weights

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What the histogram costs, whatever comes out."""
        return self.inner.worst_case

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    def release(self, reader: GroupsReader) -> GroupedRelease:
        """Run the mechanism once, for unknown groups; the noise of every pair comes from the secure source."""
        return self.gather(self.run(reader))

    def run(self, reader: GroupsReader) -> dict[Item, tuple[Item, ...]]:
        """The items of every group in which something passes."""
        return {group: found.items[: self.k] for group, found in reader.discover(lambda _: self.inner, {})}

    def gather(
        self,
        shown: Mapping[Item, tuple[Item, ...]],
        *,
        listed: tuple[Item, ...] = (),
        per: tuple[str, ...] = ("group",),
    ) -> GroupedRelease:
        """The release: the lists in which something came out, and those of known groups that are ``listed``."""
        lists = {**dict.fromkeys(listed, ()), **shown}
        return GroupedRelease(  # type: ignore[call-arg] # it has lists, and no outcome of its own
            mechanism=type(self).__name__,
            k=self.k,
            paid=Receipt(self.worst_case),
            guarantee=self.guarantee,
            theorem=self.theorem,
            parameters={**describe(self), "groups_per_user": "all"},
            lists=GroupLists((group, RankedList(items, self.k)) for group, items in lists.items()),
            per=per,
        )

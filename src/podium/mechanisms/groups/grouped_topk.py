"""The top k of every group at once: each user is in a few groups, and pays for the costliest of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

import flint

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.histogram import Histogram, Item, item_order
from podium.mechanisms.base import Distribution, Mechanism, describe
from podium.mechanisms.groups.costliest import costliest
from podium.mechanisms.groups.few_groups import InFewGroups
from podium.mechanisms.groups.screening import Screen
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.reader import Reads
from podium.privacy.events import BottomEvent, Event, HiddenItems, LimitedDomainCall
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import BOTTOM, GroupedRelease, GroupLists, Outcome, RankedList, Receipt, Release

__all__ = ["GroupHistograms", "GroupedTopK", "Selected"]

GroupHistograms: TypeAlias = Mapping[Any, Histogram] | Iterable[tuple[Any, Histogram]]


class Selected(NamedTuple):
    """What came out of one group, and the counts from which it came: those are private."""

    group: Item
    release: Release
    histogram: Histogram


@dataclass(frozen=True, slots=True, init=False)
class GroupedTopK(InFewGroups[Mechanism], Mechanism):
    """A ranked list for every group, for the price of the few groups in which one user counts.

    Use
        The top k of every country, week or shop, where each user is in one group or in a few.
    Shape
        unknown or known domain; a ranked list for each group; as the inner mechanism
    Guarantee
        groups_per_user times that of the inner mechanism, however many groups there are; a transcript may be settled at
        the costliest groups. The margins of all limited domains share one delta, which is charged once. Neighbours:
        one user added or removed.
    Distribution
        The inner mechanism runs on every group by itself. Of unknown groups (known=None) those are shown in which an
        item came out: a group without rows says BOTTOM with certainty.
    Symbols
        inner; groups_per_user = g; known, the number of listed groups, all of which are shown (None: unknown groups).
        max_items_per_user of the inner mechanism bounds the (group, item) pairs of a user, over all groups.
    Source
        docs/proofs/groups.md. Parallel composition: McSherry 2009; the limited domain: Durfee & Rogers 2019.
    Assumes
        Each user is in at most g groups, chosen by a rule that sees only that user's rows, and has at most
        max_items_per_user (group, item) pairs in them where that is given.
    """

    reads: ClassVar[Reads] = Reads.GROUPS
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in(
        "docs/proofs/groups.md", "Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Lemma 1"
    )
    theorem: ClassVar[str] = f"{proofs[0]}: a user counts in few groups"

    inner: Mechanism = field(metadata={"inner": True})
    groups_per_user: int
    known: int | None

    def __init__(self, inner: Mechanism, groups_per_user: int = 1, *, known: int | None = None) -> None:
        InFewGroups.__init__(self, inner, groups_per_user, known=known)
        if isinstance(inner, LimitedDomain):
            if inner.noise != "gumbel" or inner.strict or not isinstance(inner.k_bar, int):
                raise InvalidArgument("inner", inner, allowed="a plain LimitedDomain with Gumbel noise")
            if self.delta >= 1:
                raise InvalidArgument("delta", self.delta, allowed="a delta of all groups below 1")
        elif known is None:
            # It would return items of a group that has no rows.
            raise InvalidArgument("known", known, allowed="a number of groups, unless inner is a LimitedDomain")

    @classmethod
    def selections(
        cls,
        k: int,
        k_bar: int,
        epsilon_per_item: Number,
        delta: Fraction,
        *,
        groups_per_user: int = 1,
        known: int | None = None,
        max_items_per_user: int | None = None,
        clip: int = 1,
        at_least: Number | None = None,
    ) -> GroupedTopK:
        """Limited domains whose margins share ``delta``, the parameter of the whole call."""
        groups = groups_per_user if known is None else min(groups_per_user, known)
        part = delta * Fraction(_changing(k_bar, max_items_per_user, 1), _changing(k_bar, max_items_per_user, groups))
        inner = LimitedDomain(
            k, k_bar, epsilon_per_item, part, max_items_per_user=max_items_per_user, clip=clip, at_least=at_least
        )
        return cls(inner, groups_per_user, known=known)

    @property
    def max_rows(self) -> int | None:
        """How many rows of each group are read; None if it is how many items have each count."""
        return self.inner.max_rows if isinstance(self.inner, LimitedDomain) else None

    @property
    def margin(self) -> Fraction:
        """How far BOTTOM lies above the next count, the same in all groups; 0 where nothing is hidden."""
        return self.inner.margin if isinstance(self.inner, LimitedDomain) else Fraction(0)

    @property
    def delta(self) -> Fraction:
        """The parameter delta of the call: each margin hides min(Delta, k_bar) items with its own share of it."""
        inner = self.inner
        if not isinstance(inner, LimitedDomain):
            return Fraction(0)
        bound = inner.max_items_per_user
        return inner.delta * Fraction(_changing(inner.max_rows, bound, self.most), _changing(inner.max_rows, bound, 1))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """delta once, and all selections of as many groups as one user is in."""
        return (*self._call, *self.own_events(self.inner.worst_case) * self.most)

    @property
    def _call(self) -> tuple[Event, ...]:
        if not isinstance(self.inner, LimitedDomain):
            return ()
        # Several groups fail independently: together with more than delta/(1+delta), and at most delta.
        return (LimitedDomainCall(self.inner.delta),) if self.most == 1 else (HiddenItems(self.delta),)

    @property
    def _hidden(self) -> tuple[Event, ...] | None:
        """What a group costs that is not shown; None if all are."""
        if self.known is not None or not isinstance(self.inner, LimitedDomain):
            return None
        return (BottomEvent(self.inner.epsilon_per_item),)

    def own_events(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """What one group adds to the cost of the call, whose delta is paid once."""
        return tuple(event for event in events if not isinstance(event, LimitedDomainCall))

    def release(self, histogram: GroupHistograms, *, bits: BitSource | None = None) -> GroupedRelease:
        """Run the mechanism once: ``histogram`` has the counts of every group, of listed groups also empty ones."""
        return self.gather([(one.group, one.release) for one in self.run(histogram, bits=bits)])

    def run(self, histograms: GroupHistograms, *, bits: BitSource | None = None) -> Iterator[Selected]:
        """What is shown, group by group; only as much is kept in memory as was yielded."""
        screen = Screen(self.inner, bits) if self.known is None and isinstance(self.inner, LimitedDomain) else None
        for group, histogram in _pairs(histograms):
            if screen is not None and screen.hides(histogram):
                continue
            release = self.inner.release(histogram, bits=bits) if screen is None else screen.release(histogram)
            yield Selected(group, release, histogram)

    def gather(self, shown: Iterable[tuple[Item, Release]], *, per: tuple[str, ...] = ("group",)) -> GroupedRelease:
        """The release of the lists that are shown, with their values; the order in which they come does not matter."""
        lists = dict(shown)
        events = {group: self.own_events(one.paid.events) for group, one in lists.items()}
        paid = (*self._call, *costliest(events, self.most, hidden=self._hidden))
        return GroupedRelease(  # type: ignore[call-arg] # it has lists, and no outcome of its own
            mechanism=type(self).__name__,
            k=self.k,
            paid=Receipt(paid),
            guarantee=self.guarantee,
            theorem=self.theorem,
            parameters=describe(self),
            lists=GroupLists((group, RankedList(one.outcome, self.k, one.values)) for group, one in lists.items()),
            per=per,
        )

    def _exact_distribution(self, histogram: GroupHistograms) -> Distribution:
        """Outcomes are the shown groups, each with what came out, in canonical order; small inputs only."""
        joint: Distribution = {(): flint.arb(1)}
        for group, counts in sorted(_pairs(histogram), key=lambda pair: item_order(pair[0])):
            alone = self.inner.distribution(counts, exact=True)
            joint = {
                (*known, *self._shown(group, outcome)): chance * part
                for known, chance in joint.items()
                for outcome, part in alone.items()
            }
        return joint

    def _shown(self, group: Item, outcome: Outcome) -> tuple[Item, ...]:
        return () if self.known is None and tuple(outcome) == (BOTTOM,) else ((group, outcome),)


def _pairs(histograms: GroupHistograms) -> Iterable[tuple[Any, Histogram]]:
    return histograms.items() if isinstance(histograms, Mapping) else histograms


def _changing(k_bar: int, max_items_per_user: int | None, groups: int) -> int:
    """How many items of this many limited domains one user can make or break."""
    most = groups * k_bar
    return most if max_items_per_user is None else min(max_items_per_user, most)

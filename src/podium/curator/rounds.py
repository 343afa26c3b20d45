"""A source as mechanisms read it: a plain count, or rounds that build on what earlier ones released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from podium.curator.prepare import PlannedQuestion, pair_norm, pair_value
from podium.errors import SourceFailure
from podium.histogram import Histogram, Item
from podium.mechanisms.by_sizes.clear_gap import gap_after
from podium.mechanisms.measures.clipped_sums import ClippedSums, grid_bits_of
from podium.mechanisms.weights import Weights
from podium.query.ranked_by import MAX_CLIP
from podium.release import ItemSet, Release
from podium.sources import CountQuery, GroupedPairs, GroupedSnapshot, KeptPairs, Snapshot, Source

if TYPE_CHECKING:
    from podium.mechanisms.exponential import ExponentialTopK
    from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
    from podium.mechanisms.measures.norm_weights import NormWeights
    from podium.mechanisms.noisy import NoisyTopK
    from podium.mechanisms.reader import Discovery
    from podium.mechanisms.rising import RisingTopK

__all__ = ["SourceReader"]


@dataclass(slots=True)
class SourceReader:
    """A source and a question; by the salt, users with too many items keep the same ones in all rounds.

    A plain count keeps one snapshot open until the winners are named; rounds read pairs that are computed once.
    ``clip`` is the most that a user adds to an item where events or sums rank; None if it is the stated one, or while
    none is chosen.
    """

    source: Source
    planned: PlannedQuestion
    salt: str
    clip: int | None = None
    _snapshot: Snapshot | None = None
    _rows: Histogram | None = None
    _pairs: KeptPairs | None = None
    _known: dict[int | None, Snapshot] = field(default_factory=dict, init=False)
    _top: Histogram | None = field(default=None, init=False)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Keep the snapshot of the plain count open while the block runs; on kept pairs, if more is read from them."""
        if self.planned.strategy.others is not None:
            with self.keeping_pairs():
                self._snapshot = self._kept_pairs().snapshot(self.planned.count_query(self.salt))
                try:
                    yield
                finally:
                    self._snapshot = None
            return
        with self.source.snapshot(self.planned.count_query(self.salt), domain=self.planned.domain) as snapshot:
            self._snapshot = snapshot
            try:
                yield
            finally:
                self._snapshot = None

    @contextmanager
    def keeping_pairs(self) -> Iterator[None]:
        """Keep the pairs of all rounds while the block runs."""
        with self.source.keep_pairs(self.planned.pairs_query(self.salt), domain=self.planned.domain) as pairs:
            self._pairs = pairs
            try:
                yield
            finally:
                self._pairs = self._top = None
                self._known.clear()

    def top_rows(self, limit: int) -> Histogram:
        """The ``limit`` items with the most users, and the count of the next."""
        self._rows = self._open_snapshot().top_rows(limit)
        return self._rows

    def grouped_rows(self, limit: int) -> Iterator[tuple[Item, Histogram]]:
        """The same of every group with rows, one group after the other."""
        return cast(GroupedSnapshot, self._open_snapshot()).grouped_top_rows(limit)

    def grouped_tallies(self) -> Iterator[tuple[Item, Histogram]]:
        """Every count of every group with rows, with the number of its items; items are (count, rank) places."""
        for group, counts, sizes in cast(GroupedSnapshot, self._open_snapshot()).grouped_tallies():
            yield group, Histogram.from_counts_of_counts(dict(zip(counts, sizes, strict=True)), _place)

    def grouped_names(self, places: Mapping[Item, Sequence[Any]]) -> dict[Item, tuple[Item, ...]]:
        """The items at these places of each group."""
        return cast(GroupedSnapshot, self._open_snapshot()).grouped_names(places)

    def tally(self) -> Histogram:
        """Every count with the number of its items; items are (count, rank) places until the winners are named."""
        return _tally(self._open_snapshot())

    def counts(self, release: Release) -> Histogram:
        """The true counts of the selected items, from the rows read or from the places themselves."""
        if self._rows is not None:
            return self._rows
        places: list[Any] = list(release.items)
        return Histogram({place: place[0] for place in places})

    def name(self, release: Release) -> Release:
        """Replace the (count, rank) places of a release by item names, in one query."""
        places: list[Any] = list(release.items)
        names = dict(zip(places, self._open_snapshot().names(places), strict=True))
        outcome = tuple(names.get(item, item) for item in release.outcome)
        if release.ordered:
            return replace(release, outcome=outcome)
        # Places are ordered by true count, names are not: each value stays with its name.
        named = ItemSet(outcome)
        by_name = dict(zip(map(names.get, places), release.values or (), strict=False))
        values = None if release.values is None else tuple(by_name[item] for item in named if item in by_name)
        return replace(release, outcome=named, values=values)

    def grouped(self, query: CountQuery) -> GroupedSnapshot:
        """The kept pairs of all groups as this query reads them, at the chosen clip."""
        return cast(GroupedSnapshot, self._snapshot_of(query))

    def grouped_among(self, items: Mapping[Item, Sequence[Item]]) -> GroupedPairs:
        """The kept pairs of these items of each group."""
        return self._kept_pairs().grouped_among(items)

    def _open_snapshot(self) -> Snapshot:
        if self._snapshot is None:
            raise SourceFailure
        return self._snapshot

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """Run the stage on weighted counts; only the names of winners are read."""
        snapshot = self._snapshot_of(self.planned.weighted_query(stage.weights, without, self.salt))
        counts, sizes = snapshot.counts_of_counts()
        tally = dict(zip(counts, sizes, strict=True))
        release = stage.release(Histogram.from_counts_of_counts(tally, _place, known=False))
        places: list[Any] = list(release.items)
        return replace(release, outcome=snapshot.names(places) if places else ())

    def rank_known(self, stage: Discovery) -> Release:
        """Run the stage on the weighted counts of the whole domain; only the names of winners are read."""
        return _release_domain(stage, self._snapshot_of(self.planned.weighted_query(stage.weights, (), self.salt)))

    def choose_known(self, mechanism: NoisyTopK | RisingTopK, max_items_per_user: int | None) -> Release:
        """Run the mechanism on the plain counts of the whole domain; only the names of winners are read."""
        return _release_domain(mechanism, self._known_counts(max_items_per_user))

    def known_gap(self, k: int, max_items_per_user: int | None) -> int:
        """By how many users the k-th item of the domain is ahead of the next."""
        return gap_after(_tally(self._known_counts(max_items_per_user)), k)

    def _known_counts(self, max_items_per_user: int | None) -> Snapshot:
        """The plain counts of the whole domain, computed once."""
        if max_items_per_user not in self._known:
            salt = None if max_items_per_user is None else self.salt
            query = replace(self.planned.pairs_query(), max_items_per_user=max_items_per_user, salt=salt)
            self._known[max_items_per_user] = self._snapshot_of(query)
        return self._known[max_items_per_user]

    def lead(self, mechanism: LimitedDomain) -> int:
        """By how many users the k-th item is ahead of the one after the top rows of the mechanism."""
        self._top = self._top_of_pairs(mechanism.max_rows)
        return gap_after(self._top, mechanism.k, mechanism.max_rows)

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the plain counts of the top rows, which ``lead`` may have read."""
        return mechanism.release(self._top_of_pairs(mechanism.max_rows) if self._top is None else self._top)

    def _top_of_pairs(self, limit: int) -> Histogram:
        return self._snapshot_of(self.planned.count_query(self.salt)).top_rows(limit)

    def users(self) -> int:
        """How many users have an item."""
        return self.user_sizes((1,))[0]

    def users_with(self, items: tuple[Item, ...]) -> int:
        """How many users have one of these items or more."""
        return self.sizes(items, (1,))[0] if items else 0

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items."""
        return self._kept_pairs().snapshot(self.planned.pairs_query()).sizes(edges)

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        return self._kept_pairs().among(items).sizes(edges)

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted count of each item, where t counts these items only."""
        return self._kept_pairs().among(items).sums(weights.steps, self.clip)

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users' pairs by size, and users by number of pairs: what a clip is chosen from."""
        return self._kept_pairs().value_histograms(buckets, resolution)

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by the length of their amounts, and by their sum: what a length is chosen from."""
        return self._kept_pairs().norm_histograms(buckets)

    def norm_sizes(self, items: tuple[Item, ...], weights: NormWeights, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have which square among these items."""
        return self._kept_pairs().among(items).norm_sizes(pair_norm(weights), edges)

    def norm_sums(self, items: tuple[Item, ...], weights: NormWeights) -> tuple[int, ...]:
        """The sum of weighted parts of each item."""
        return self._kept_pairs().among(items).norm_sums(pair_norm(weights))

    def rest_totals(self, items: tuple[Item, ...], clip: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by what they add to all items but these, each pair at most ``clip``, and what they add."""
        return self._kept_pairs().rest_totals(items, min(clip, self.planned.max_clip or clip), self._buckets)

    def grouped_users(self, lists: Mapping[Item, tuple[Item, ...]]) -> dict[Item, tuple[int, int]]:
        """For each group how many users have none of the items of its list, and how many have an item at all."""
        users, some = self._kept_pairs().grouped_users(lists), {group: items for group, items in lists.items() if items}
        listed = self.grouped_among(some).sizes((1,)) if some else {}
        return {group: (users[group] - listed.get(group, (0,))[0], users[group]) for group in lists}

    def grouped_rest_totals(
        self, lists: Mapping[Item, tuple[Item, ...]], clip: int
    ) -> dict[Item, tuple[tuple[int, ...], tuple[int, ...]]]:
        """What ``rest_totals`` says, of each group beside its list."""
        return self._kept_pairs().grouped_rest_totals(lists, min(clip, self.planned.max_clip or clip), self._buckets)

    @property
    def _buckets(self) -> int:
        # A user adds no more in all than the engine takes of one pair, so sums are as exact as those of items.
        return min(MAX_CLIP, self.source.max_clip()).bit_length()

    def at_clip(self, clip: int) -> SourceReader:
        """The same pairs, of which each user adds at most ``clip`` units to an item: less if less was kept."""
        return replace(self, clip=min(clip, self.planned.max_clip or clip))

    def counting_at(self, clip: int) -> SourceReader:
        """The plain sums of the kept pairs at this clip, to be read as those of a count."""
        reader = self.at_clip(clip)
        reader._snapshot = reader._snapshot_of(self.planned.count_query(self.salt))
        return reader

    def select_known(self, mechanism: ExponentialTopK) -> Release:
        """Run the mechanism on the sums of the whole domain, rounded down to a part of the clip."""
        bits = grid_bits_of(mechanism.epsilon_per_item)
        query = self.planned.count_query(self.salt)
        value = pair_value(self.planned.question.measure, self.clip)
        snapshot = self._kept_pairs().snapshot(
            replace(query, value=None if value is None else replace(value, grid_bits=bits))
        )
        counts, sizes = snapshot.counts_of_counts()
        release = mechanism.release(ClippedSums(dict(zip(counts, sizes, strict=True)), bits))
        places: list[Any] = list(release.items)
        ending = release.outcome[len(places) :] if isinstance(release.outcome, tuple) else ()
        return replace(release, outcome=(*(snapshot.names(places) if places else ()), *ending))

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The sum of each of the items, whoever has how many of them."""
        return self._kept_pairs().among(items).sums(((len(items), 1),), self.clip)

    def _snapshot_of(self, query: CountQuery) -> Snapshot:
        """The kept pairs as this query reads them, at the chosen clip."""
        if self.clip is not None:
            query = replace(query, value=pair_value(self.planned.question.measure, self.clip))
        return self._kept_pairs().snapshot(query)

    def _kept_pairs(self) -> KeptPairs:
        if self._pairs is None:
            raise SourceFailure
        return self._pairs


def _release_domain(mechanism: Discovery | NoisyTopK | RisingTopK, snapshot: Snapshot) -> Release:
    release = mechanism.release(_tally(snapshot))
    places: list[Any] = list(release.items)
    return replace(release, outcome=snapshot.names(places))


def _tally(snapshot: Snapshot) -> Histogram:
    counts, sizes = snapshot.counts_of_counts()
    return Histogram.from_counts_of_counts(dict(zip(counts, sizes, strict=True)), _place)


def _place(count: int, rank: int) -> tuple[int, int]:
    return count, rank

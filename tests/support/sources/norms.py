"""What every engine must do with pair values that are scaled user by user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support.columns import columns
from tests.support.sources import reference
from tests.support.sources.checks import SALT, Load
from tests.support.sources.data import EVENTS, Table

from podium.errors import InvalidArgument
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.sources import CountQuery, PairNorm, PairValue, Source

__all__ = ["NormContract", "normed_histogram"]

LARGE = 2**31
NAMED = ("b", "a", "nobody", "large")


def norm_of(weights: NormWeights) -> PairNorm:
    return PairNorm(weights.clip, weights.bits, weights.most, weights.steps, weights.items if weights.named else None)


def square(parts: list[int], norm: PairNorm) -> int:
    """What decides about the weight of a user with these parts."""
    squares = sum(part * part for part in parts)
    if norm.named is None:
        return squares
    return max(norm.named * squares - sum(parts) ** 2, norm.named * max(parts) ** 2 // 2)


def held_parts(table: Table, query: CountQuery, norm: PairNorm) -> dict[Any, dict[Any, int]]:
    """The parts of each user, by item, before any is left out for being too many."""
    held: dict[Any, dict[Any, int]] = defaultdict(dict)
    for (user, item), value in reference.pairs(table, replace(query, norm=None)).items():
        part = min(value * 2**norm.bits // norm.clip, norm.most)
        if part:
            held[user][item] = part
    return held


def normed_histogram(table: Table, query: CountQuery) -> dict[Any, int]:
    """Every item with the sum of what users add in weighted parts."""
    norm = query.norm
    counts: dict[Any, int] = defaultdict(int)
    assert norm is not None
    for user, parts in held_parts(table, query, norm).items():
        kept = reference.bounded(user, list(parts), query)
        length = square([parts[item] for item in kept], norm)
        weight = next((weight for end, weight in norm.steps if length <= end), 0)
        for item in kept:
            counts[item[0] if len(query.items) == 1 else item] += weight * parts[item]
    return {item: count for item, count in counts.items() if count}


def _rows() -> Iterator[tuple[Any, ...]]:
    for user in range(60):
        for place in range(1 + user % 7):
            yield user, "abcdefgh"[(user + place * place) % 8], (user * 37 + place * 91) % (1 << (user % 18)), 0.5
    # One user with everything large, one with one large amount, one with many rows, and rows without effect.
    yield from ((100, label, LARGE, 1.0) for label in "abcdefgh")
    yield from ((101, "large", 2**63 - 1, 1.0), (101, "a", 1, 1.0), (102, "large", 5, 1.0))
    yield from ((103, "b", 3, 1.0) for _ in range(500))
    yield from ((None, "a", 9, 1.0), (104, None, 9, 1.0), (105, "a", None, 1.0), (106, "a", -4, 1.0))


AMOUNTS = Table(
    "amounts",
    columns({"user_id": "integer", "label": "text", "number": "integer", "played": "float"}),
    tuple(_rows()),
)


def asked(clip: int, cap: int, **more: Any) -> CountQuery:
    norm = norm_of(NormWeights(clip, cap))
    value = PairValue("number", clip=LARGE)
    return CountQuery(
        ("label",), "user_id", **{"value": value, "max_items_per_user": cap, "salt": SALT, "norm": norm, **more}
    )


class NormContract:
    """A part of ``SourceContract``, which has the fixtures."""

    @pytest.fixture(scope="class")
    @classmethod
    def amounts(cls, load: Load) -> Source:
        return load(replace(AMOUNTS, columns=AMOUNTS.columns[:3], rows=tuple(row[:3] for row in AMOUNTS.rows)))

    def test_parts_and_weights(self, amounts: Source) -> None:
        for clip, cap in ((1, 1000), (7, 2), (3000, 1000), (2**40, 2)):
            check_normed(amounts, AMOUNTS, asked(clip, cap))
        check_normed(amounts, AMOUNTS, asked(64, 3, value=PairValue("number", clip=100)))
        check_normed(amounts, AMOUNTS, asked(16, 1000, value=PairValue(clip=LARGE)))

    def test_squares_of_a_user_who_is_cut_may_exceed_64_bits(self, amounts: Source) -> None:
        query = asked(1, 1, norm=PairNorm(2**20, 20, 2**31 - 1, ((2**62, 1),)))
        assert query.norm is not None
        users = held_parts(AMOUNTS, query, query.norm).values()
        assert max(sum(part**2 for part in parts.values()) for parts in users) > 2**63
        check_normed(amounts, AMOUNTS, query)

    def test_parts_of_kept_pairs(self, amounts: Source) -> None:
        with amounts.keep_pairs(asked(1, 2, norm=None, max_items_per_user=None, salt=None)) as pairs:
            for clip, cap, without in ((16, 1000, ()), (16, 3, ("a", "large")), (LARGE, 2, ("b",))):
                query = asked(clip, cap, without=without)
                found = pairs.snapshot(query).counts_of_counts()
                assert found == reference.counts_of_counts(normed_histogram(AMOUNTS, query))
            named = pairs.among(NAMED)
            for clip in (16, 999):
                self.check_weighted(named, norm_of(NormWeights(clip, len(NAMED), named=True)))
            with pytest.raises(InvalidArgument, match="norm="):
                named.norm_sums(norm_of(NormWeights(1, 5, named=True)))
            # One engine has 64 bits for squares, which it adds up in halves.
            most = 2**30 if amounts.max_clip() < 2**40 else 2**40
            for buckets in (2, 3, 16, 17, 18, 32, 41):
                assert pairs.norm_histograms(buckets) == histograms(buckets, most)

    def check_weighted(self, named: Any, norm: PairNorm) -> None:
        listed = {(item,) for item in NAMED}
        query = CountQuery(("label",), "user_id", value=PairValue("number", clip=LARGE))
        held = held_parts(AMOUNTS, query, norm).values()
        users = [own for parts in held if (own := {item: n for item, n in parts.items() if item in listed})]
        sums, lengths = dict.fromkeys(NAMED, 0), [square(list(own.values()), norm) for own in users]
        for own, length in zip(users, lengths, strict=True):
            weight = next((weight for end, weight in norm.steps if length <= end), 0)
            for (item,), part in own.items():
                sums[item] += weight * part
        assert named.norm_sums(norm) == tuple(sums[item] for item in NAMED)
        edges = (1, 4**6, 4**10 + 1, 4**14)
        assert named.norm_sizes(norm, edges) == tuple(
            sum(low <= length < high for length in lengths)
            for low, high in zip(edges, (*edges[1:], 2**70), strict=True)
        )

    def test_parts_of_events(self, events: Source) -> None:
        query = replace(asked(4, 3, value=PairValue("number", clip=1000)), items=("number", "day"))
        check_normed(events, EVENTS, query)


def histograms(buckets: int, most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Users by length and by sum."""
    users: dict[Any, list[int]] = defaultdict(list)
    query = CountQuery(("label",), "user_id", value=PairValue("number", clip=LARGE))
    for (user, _), value in reference.pairs(AMOUNTS, query).items():
        users[user].append(value)
    lengths, sums = [0] * buckets, [0] * buckets
    for values in users.values():
        whole = sum(min(value, most) ** 2 for value in values)
        lengths[next((j for j in range(buckets) if whole <= 4**j), buckets - 1)] += 1
        sums[min((sum(values) - 1).bit_length(), buckets - 1)] += 1
    return tuple(lengths), tuple(sums)


def check_normed(source: Source, table: Table, query: CountQuery) -> None:
    expected = reference.ordered(normed_histogram(table, query))
    with source.snapshot(query) as snapshot:
        top = snapshot.top_rows(1000).top(1000)
    assert list(zip(top.items, top.counts.tolist(), strict=True)) == expected

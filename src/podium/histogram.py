"""Histograms: how many users have each item. Integers, and a rule for ties that does not look at the data.

A histogram has a *known* domain when the caller said which items there are: then an item that nobody has can win
like any other. It has an *unknown* domain when the items were read from the data, so that naming one is
already a disclosure; mechanisms for a known domain refuse such a histogram.
"""

from __future__ import annotations

import bisect
import datetime as dt
import decimal
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, exact_integer, positive_fraction

__all__ = ["Counts", "Groups", "Histogram", "Item", "KnownDomain", "Scores", "TopRows", "item_order"]

Item: TypeAlias = Hashable
Counts: TypeAlias = NDArray[np.int64]

_MAX_COUNT = 2**62
_COUNT_RULE = "integers from 0 to 2^62, one per item"


@dataclass(frozen=True, slots=True)
class TopRows:
    """The largest rows, counts positive and descending, and the count of the row after them.

    Which of several equal counts are among them is decided by the order of the items; in which order they stand
    there is not.
    """

    items: tuple[Item, ...]
    counts: Counts
    next_count: int


@dataclass(frozen=True, slots=True)
class Groups:
    """The whole known domain for a race: scores, how many items share each (None: one each), and their names."""

    scores: Counts | list[Fraction]
    multiplicities: Sequence[int] | None
    name: Callable[[int, int], Item]


def item_order(item: Item) -> tuple[Any, ...]:
    """A sort key that depends on the item alone: by kind, then by value; text in binary order.

    Any two items can be compared: an answer that was paid for must not fail because of what is in it.
    """
    if isinstance(item, tuple):
        return ("tuple", tuple(item_order(part) for part in item))
    if isinstance(item, bool):
        return ("boolean", item)
    if isinstance(item, (int, np.integer)):
        return ("number", int(item))
    if isinstance(item, decimal.Decimal) and not item.is_nan():
        return ("number", item)
    if isinstance(item, (dt.datetime, dt.time)):
        # As text: with and without a time zone they cannot be compared.
        return ("datetime" if isinstance(item, dt.datetime) else "time", item.isoformat())
    if isinstance(item, (str, bytes, dt.date)):
        return (type(item).__name__, item)
    return ("~" + type(item).__qualname__, repr(item))


class KnownDomain(ABC):
    """What known-domain mechanisms accept: scores over an enumerable domain, and how far they can move.

    ``span(monotone)`` is the width of the interval in which all score changes between neighbours lie, up to one common
    shift. Adding a user moves every count by 0 or 1, so the span is 1; if counts may move both ways it is 2.
    """

    __slots__ = ()

    @abstractmethod
    def groups(self) -> Groups:
        """The whole domain for a race."""

    @abstractmethod
    def span(self, *, monotone: bool) -> Fraction:
        """Width of the interval of possible score changes."""


class Scores(KnownDomain):
    """Exact rational scores over a known domain, with a stated sensitivity.

    ``sensitivity`` is how far any score can move up or down when one user is added or removed. Where the two
    directions differ, give ``rises_by`` and ``falls_by``: what adding one user can do at most (Shekelyan &
    Loukides 2022, Theorem A.15). Mechanisms that see only score differences depend on the sum of the two.
    """

    __slots__ = ("_items", "_values", "falls_by", "rises_by")

    def __init__(
        self,
        scores: Mapping[Any, Number],
        *,
        sensitivity: Number | None = None,
        rises_by: Number | None = None,
        falls_by: Number | None = None,
    ) -> None:
        if (sensitivity is None) == (rises_by is None and falls_by is None):
            raise InvalidArgument(
                "sensitivity", sensitivity, allowed="either sensitivity, or rises_by and falls_by", hint="State one."
            )
        self._items = list(scores)
        self._values = [exact_fraction(score, "scores") for score in scores.values()]
        self.rises_by: Fraction
        self.falls_by: Fraction
        if sensitivity is not None:
            self.rises_by = self.falls_by = positive_fraction(sensitivity, "sensitivity")
            return
        self.rises_by = exact_fraction(rises_by or 0, "rises_by")
        self.falls_by = exact_fraction(falls_by or 0, "falls_by")
        if min(self.rises_by, self.falls_by) < 0 or self.rises_by + self.falls_by == 0:
            raise InvalidArgument("rises_by", rises_by, allowed="0 or more, and more than 0 together with falls_by")

    def __len__(self) -> int:
        return len(self._items)

    def groups(self) -> Groups:
        """The whole domain, one item per group."""
        items = self._items
        return Groups(list(self._values), None, lambda group, _member: items[group])

    def span(self, *, monotone: bool) -> Fraction:
        """rises_by + falls_by: stated with the scores, whatever the mechanism assumes of counts."""
        return self.rises_by + self.falls_by


class Histogram(KnownDomain):
    """Integer counts per item.

    ``Histogram({"a": 5, "b": 3})`` has the known domain {a, b}. ``domain=`` names the whole known domain where some of
    its items may have no count; ``domain_size=N`` means the items 0..N-1, however large N is. Counted items
    outside the domain are dropped. ``Histogram.top_rows`` and ``known=False`` make unknown-domain histograms.
    """

    __slots__ = ("_counts", "_items", "_more", "_size", "known")

    def __init__(
        self,
        counts: Mapping[Any, Any],
        *,
        known: bool = True,
        domain: Iterable[Item] | None = None,
        domain_size: int | None = None,
    ) -> None:
        items, values = list(counts.keys()), _validate_counts(list(counts.values()))
        if domain is not None and domain_size is not None:
            raise InvalidArgument("domain_size", domain_size, allowed="None where domain is given")
        if not known and (domain is not None or domain_size is not None):
            raise InvalidArgument("known", known, allowed="True where a domain is given")
        if domain is not None:
            table = dict(zip(items, values.tolist(), strict=True))
            items = list(domain)
            if len(set(items)) != len(items):
                raise InvalidArgument("domain", "a list with repeated items", allowed="distinct items")
            values = np.array([table.get(item, 0) for item in items], dtype=np.int64)
        size = None
        if domain_size is not None:
            size = exact_integer(domain_size, "domain_size", minimum=1)
            inside = [i for i, item in enumerate(items) if _is_index(item) and 0 <= item < size]
            items, values = [int(items[i]) for i in inside], values[inside]
        self._fill(items, values, known=known, size=size)

    def _fill(
        self, items: Sequence[Item], counts: Counts, *, known: bool, size: int | None = None, more: int | None = None
    ) -> None:
        self._items = items
        self._counts = counts
        self._size = size
        self._more = more
        self.known: bool = known

    @classmethod
    def from_arrays(cls, items: Iterable[Item], counts: Any, *, known: bool = True) -> Histogram:
        """From two columns of equal length: lists, or NumPy, Arrow, pandas or polars columns; items distinct."""
        names, values = _validate_columns(items, counts)
        return cls._build(names, values, known=known)

    @classmethod
    def from_counts_of_counts(
        cls, sizes: Mapping[int, int], name: Callable[[int, int], Item], *, known: bool = True
    ) -> Histogram:
        """From how many items have each count: ``sizes[count]`` of them, however many.

        ``name(count, rank)`` names one: ranks go from 0 over the items with that count, in the order of the items.
        Items that nobody has belong to a known domain, under the count 0.
        """
        return _CountsOfCounts(sizes, name, known=known)

    @classmethod
    def _build(cls, items: Sequence[Item], counts: Counts, *, known: bool, more: int | None = None) -> Histogram:
        made = cls({}, known=known)
        made._fill(items, counts, known=known, more=more)
        return made

    @classmethod
    def top_rows(cls, items: Iterable[Item], counts: Any, *, next_count: int) -> Histogram:
        """The largest rows of an unknown domain, with the count of the row after them (0 if there is none)."""
        names, values = _validate_columns(items, counts)
        more = exact_integer(next_count, "next_count", minimum=0)
        if len(values) and more > int(values.min()):
            raise InvalidArgument("next_count", next_count, allowed="at most the smallest of the counts given")
        return cls._build(names, values, known=False, more=more)

    def __len__(self) -> int:
        """How many items are listed; a known domain given by its size may have more."""
        return len(self._items)

    @property
    def domain_size(self) -> int | None:
        """The number of items of a known domain, listed or not; None if it is unknown."""
        if not self.known:
            return None
        return len(self._items) if self._size is None else self._size

    def top(self, limit: int) -> TopRows:
        """The ``limit`` largest positive rows, ties at the cut in the order of the items, and the count of the next."""
        if self._more is not None and len(self._items) < limit and self._more > 0:
            raise InvalidArgument("limit", limit, allowed=f"at most the {len(self._items)} rows that were read")
        positive = np.flatnonzero(self._counts > 0)
        if len(positive) > limit:
            # Only rows that reach the cut need to be sorted by name.
            cut = np.partition(self._counts[positive], -limit - 1)[-limit - 1]
            positive = positive[self._counts[positive] >= cut]
        # Names decide only who is inside the cut; inside, the order of equal counts means nothing.
        order = positive[np.argsort(-self._counts[positive], kind="stable")]
        if len(order) > limit:
            cut = self._counts[order[limit - 1]]
            ahead = order[self._counts[order] > cut]
            tied = sorted(order[self._counts[order] == cut].tolist(), key=lambda i: item_order(self._items[i]))
            order = np.concatenate([ahead, np.array(tied, dtype=np.intp), order[self._counts[order] < cut]])
        next_count = int(self._counts[order[limit]]) if len(order) > limit else (self._more or 0)
        best = order[:limit]
        return TopRows(tuple(self._items[i] for i in best.tolist()), self._counts[best], next_count)

    def extremes(self) -> tuple[int, int]:
        """The largest count that is listed, and the count of the row after those listed; 0 where there is none."""
        return int(self._counts.max(initial=0)), self._more or 0

    def span(self, *, monotone: bool) -> Fraction:
        """1 if one user moves all counts in one direction (added or removed), 2 if in both (replaced)."""
        return Fraction(1 if monotone else 2)

    def observed_groups(self) -> Groups:
        """Every item that somebody has, known domain or not."""
        if self._more is not None:
            raise InvalidArgument(
                "histogram",
                "the top rows of a histogram",
                allowed="a histogram of every item that somebody has",
                hint="Read all counts, or how many items have each count (from_counts_of_counts).",
            )
        items, positions = self._items, np.flatnonzero(self._counts > 0)
        if len(positions) == len(items):
            return Groups(self._counts, None, lambda group, _member: items[group])
        return Groups(self._counts[positions], None, lambda group, _member: items[positions[group]])

    def groups(self) -> Groups:
        """The whole known domain; items that nobody has are one more group, however many they are."""
        self._require_known()
        if self._size is None:
            items = self._items
            return Groups(self._counts, None, lambda group, _member: items[group])
        return _with_unseen(self._items, self._counts, self._size)

    def _require_known(self) -> None:
        if not self.known:
            raise InvalidArgument(
                "histogram",
                "an unknown-domain histogram",
                allowed="a histogram with a known domain",
                hint="Give the domain (domain=... or domain_size=...), or use LimitedDomain.",
            )


class _CountsOfCounts(Histogram):
    """A histogram that holds only group sizes, and a way to name the members of a group."""

    __slots__ = ("_name", "_sizes")

    def __init__(self, sizes: Mapping[int, int], name: Callable[[int, int], Item], *, known: bool) -> None:
        super().__init__({}, known=known)
        counts = _validate_counts(list(sizes)).tolist()
        members = [exact_integer(size, "sizes", minimum=0) for size in sizes.values()]
        self._sizes = {count: size for count, size in sorted(zip(counts, members, strict=True), reverse=True) if size}
        self._name = name

    def __len__(self) -> int:
        return sum(size for count, size in self._sizes.items() if count)

    @property
    def domain_size(self) -> int | None:
        return sum(self._sizes.values()) if self.known else None

    def top(self, limit: int) -> TopRows:
        items: list[Item] = []
        counts: list[int] = []
        next_count = 0
        for count, size in self._sizes.items():
            taken = min(size, limit - len(items)) if count else 0
            items += [self._name(count, rank) for rank in range(taken)]
            counts += [count] * taken
            if taken < size:
                next_count = count
                break
        return TopRows(tuple(items), np.array(counts, dtype=np.int64), next_count)

    def extremes(self) -> tuple[int, int]:
        return next(iter(self._sizes), 0), 0

    def observed_groups(self) -> Groups:
        counts, name = [count for count in self._sizes if count], self._name
        sizes = [self._sizes[count] for count in counts]
        return Groups(np.array(counts, dtype=np.int64), sizes, lambda group, member: name(counts[group], member))

    def groups(self) -> Groups:
        self._require_known()
        counts, name = list(self._sizes), self._name
        scores = np.array(counts, dtype=np.int64)
        return Groups(scores, list(self._sizes.values()), lambda group, member: name(counts[group], member))


def _with_unseen(items: Sequence[Any], counts: Counts, size: int) -> Groups:
    order = np.lexsort((np.array(items, dtype=object), counts)) if len(items) else np.empty(0, dtype=np.intp)
    scores, starts, sizes = np.unique(counts[order], return_index=True, return_counts=True)
    seen = sorted(items)
    # shifts[i] is how many unseen items come before the i-th seen one.
    shifts = [item - i for i, item in enumerate(seen)]

    def name(group: int, member: int) -> Item:
        if group < len(scores):
            return int(items[order[starts[group] + member]])
        return member + bisect.bisect_right(shifts, member)

    unseen = size - len(items)
    multiplicities = [int(count) for count in sizes]
    if not unseen:
        return Groups(scores, multiplicities, name)
    return Groups(np.append(scores, 0), [*multiplicities, unseen], name)


def _is_index(item: object) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _validate_columns(items: Any, counts: Any) -> tuple[list[Item], Counts]:
    names, values = _to_list(items), _validate_counts(counts)
    if len(names) != len(values):
        raise InvalidArgument("counts", f"{len(values)} counts", allowed=f"one count for each of {len(names)} items")
    if any(map(_is_missing, names)):
        raise InvalidArgument("items", "a column with missing values", allowed="distinct items, none of them missing")
    if len(set(names)) != len(names):
        raise InvalidArgument("items", "a column with repeated items", allowed="distinct items")
    return names, values


def _to_list(column: Any) -> list[Item]:
    """Python objects from a list, or from the columns of NumPy, Arrow, pandas and polars, none of which is imported."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _is_missing(item: object) -> bool:
    """None, or one of the many kinds of NaN: not equal to itself, or unable to tell."""
    try:
        return item is None or bool(operator.ne(item, item))
    except TypeError:
        return True


def _validate_counts(counts: Any) -> Counts:
    array = np.asarray(counts) if hasattr(counts, "__array__") else np.array(list(counts), dtype=object)
    if array.ndim != 1:
        raise InvalidArgument("counts", f"array of shape {array.shape}", allowed=_COUNT_RULE)
    if array.dtype.kind not in "iu":
        if not all(_is_index(count) for count in array.tolist()):
            # Which count is wrong may be private; that one is, is a fact about the caller's types.
            raise InvalidArgument("counts", "a value that is not an integer", allowed=_COUNT_RULE)
        array = np.array([int(count) for count in array], dtype=object)
    if array.size and (int(array.min()) < 0 or int(array.max()) > _MAX_COUNT):
        raise InvalidArgument("counts", "a value out of range", allowed=_COUNT_RULE)
    return array.astype(np.int64)

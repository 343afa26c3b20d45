"""What an engine must answer, in plain Python: no SQL, nothing shared with the product but its types."""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import math
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
from tests.support.sources.data import Table, utc

from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Or, Predicate, Wildcard
from podium.sources import CountQuery, DomainItems, PairValue

__all__ = [
    "beside_groups",
    "counts_of_counts",
    "encoded",
    "grouped",
    "grouped_pairs",
    "histogram",
    "ordered",
    "ranked_names",
    "rest_totals",
    "sizes",
    "value_histograms",
]

_COMPARE = {
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


def holds(predicate: Predicate, row: dict[str, Any]) -> bool | None:
    """SQL's three-valued logic: None is unknown."""
    match predicate:
        case Not(part):
            inner = holds(part, row)
            return None if inner is None else not inner
        case And(parts):
            answers = [holds(part, row) for part in parts]
            return False if False in answers else None if None in answers else True
        case Or(parts):
            answers = [holds(part, row) for part in parts]
            return True if True in answers else None if None in answers else False
        case Missing(column):
            return row[column] is None
    value = row[predicate.column]
    if value is None:
        return None
    match predicate:
        case Compare(_, sign, constant):
            return bool(_COMPARE[sign](binary(value), binary(constant)))
        case OneOf(_, values):
            return value in values
        case Between(_, low, high):
            return bool(binary(low) <= binary(value) <= binary(high))
        case Like(_, pieces):
            return re.fullmatch("".join(map(regular, pieces)), value, re.DOTALL) is not None


def regular(piece: str | Wildcard) -> str:
    if isinstance(piece, Wildcard):
        return ".*" if piece is Wildcard.MANY else "."
    return re.escape(piece)


def binary(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def order(item: Any) -> Any:
    return tuple(map(binary, item)) if isinstance(item, tuple) else binary(item)


def encoded(value: Any) -> str:
    """A value in the hash: the text, after its length if it is a text itself; a user of several values is one text."""
    if isinstance(value, tuple):
        return encoded("".join(f":{encoded(part)}" for part in value))
    if isinstance(value, str):
        return f"{len(value)}:{value}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return str((value - utc(1970, 1, 1)) // dt.timedelta(microseconds=1))
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)


def pairs(table: Table, query: CountQuery) -> dict[tuple[Any, tuple[Any, ...]], int]:
    """Every pair with its value, which is 1 where users are counted."""
    names = [column.name for column in table.columns]
    found: dict[tuple[Any, tuple[Any, ...]], int] = defaultdict(int)
    for cells in table.rows:
        row = dict(zip(names, cells, strict=True))
        user = user_of(row, query)
        if user is None or (query.where is not None and holds(query.where, row) is not True):
            continue
        values = [row[name] for name in query.keys]
        choices = [value if isinstance(value, tuple) else (value,) for value in values]
        for item in {item for item in product(*choices) if None not in item}:
            found[user, item] += 1 if query.value is None else units(row, query.value)
    left_out = {item if len(query.keys) > 1 else (item,) for item in query.without}
    kept = {pair: clipped(value, query.value) for pair, value in found.items() if pair[1] not in left_out}
    return {pair: value for pair, value in kept.items() if value}


def user_of(row: dict[str, Any], query: CountQuery) -> Any:
    """The value of the user column, or the values of several; None if one of them is missing."""
    if isinstance(query.user, str):
        return row[query.user]
    parts = tuple(row[name] for name in query.user)
    return None if None in parts else parts


def units(row: dict[str, Any], value: PairValue) -> int:
    """What one row counts."""
    if value.column is None:
        return 1
    number, reach = row[value.column], max(value.clip, -value.floor)
    if number is None or math.isnan(number) or (number < 0 and not value.floor):
        return 0
    if math.isinf(number):
        return reach if number > 0 else -reach
    if isinstance(number, float):
        # Past the largest double the quotient is infinite, and the row is clipped.
        quotient = number / float(value.unit)
        whole = math.floor(quotient) if math.isfinite(quotient) else math.copysign(2**1023, quotient)
        # A quotient that underflows is rounded down like any other.
        whole = min(whole, -1) if number < 0 else whole
    else:
        whole = math.floor(Fraction(number) / value.unit)
    return int(max(-reach, min(whole, reach)))


def clipped(value: int, by: PairValue | None) -> int:
    return 1 if by is None else max(by.floor, min(value, by.clip))


def value_histograms(
    table: Table, query: CountQuery, buckets: int, resolution: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pairs by the size of their value, each user's shared out; users by their number of pairs."""
    return shares_and_sizes(pairs(table, query), buckets, resolution)


def shares_and_sizes(
    values: Mapping[tuple[Any, Any], int], buckets: int, resolution: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The same of the values of pairs: of users over all their groups, where a pair has one."""
    by_user = defaultdict(list)
    for (user, _), value in values.items():
        by_user[user].append(min((abs(value) - 1).bit_length(), buckets - 1))
    shares, sizes = [0] * buckets, [0] * buckets
    for held in by_user.values():
        sizes[min((len(held) - 1).bit_length(), buckets - 1)] += 1
        for bucket, number in Counter(held).items():
            shares[bucket] += number * (resolution // len(held))
    return tuple(shares), tuple(sizes)


def rest_totals(
    table: Table, query: CountQuery, items: Iterable[Any], buckets: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Users by what they add to all items but these, at most 2^(buckets - 1) each, and what they add."""
    listed = {item if len(query.items) > 1 else (item,) for item in items}
    by_user: Counter[Any] = Counter()
    for (user, item), value in pairs(table, query).items():
        by_user[user] += 0 if item in listed else clipped(value, query.value)
    return bucketed(by_user, buckets)


def beside_groups(
    table: Table, query: CountQuery, lists: Mapping[Any, Iterable[Any]], buckets: int
) -> tuple[dict[Any, int], dict[Any, tuple[tuple[int, ...], tuple[int, ...]]]]:
    """For each group of one column how many users it has, and ``rest_totals`` of its users beside its list."""
    values = grouped_pairs(table, query)
    users, totals = {}, {}
    for group, listed in lists.items():
        by_user: Counter[Any] = Counter()
        for (user, full), value in values.items():
            if full[0] == group:
                by_user[user] += 0 if full[1] in listed else clipped(value, query.value)
        users[group], totals[group] = len(by_user), bucketed(by_user, buckets)
    return users, totals


def bucketed(by_user: Mapping[Any, int], buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many users have a total of each size, at most 2^(buckets - 1), and what they have together."""
    users, sums = [0] * buckets, [0] * buckets
    for total in by_user.values():
        if total:
            bucket = min((total - 1).bit_length(), buckets - 1)
            users[bucket] += 1
            sums[bucket] += min(total, 2 ** (buckets - 1))
    return tuple(users), tuple(sums)


def sizes(
    table: Table, query: CountQuery, edges: Sequence[int], domain: Iterable[Any] | None = None
) -> tuple[int, ...]:
    """How many users have a number of items between each edge and the next."""
    known = None if domain is None else {item if len(query.items) > 1 else (item,) for item in domain}
    items = Counter(user for user, item in pairs(table, query) if known is None or item in known)
    return tuple(
        sum(low <= size < high for size in items.values())
        for low, high in zip(edges, (*edges[1:], math.inf), strict=True)
    )


def histogram(table: Table, query: CountQuery, domain: Iterable[Any] | None = None) -> dict[Any, int]:
    """Every item with its count; with a domain only its items, and all of them."""
    single = len(query.items) == 1
    known = None if domain is None else {item if not single else (item,) for item in domain}
    by_user = defaultdict(list)
    values = pairs(table, query)
    for user, item in values:
        if known is None or item in known:
            by_user[user].append(item)
    counts: Counter[Any] = Counter(dict.fromkeys(known, 0) if known is not None else {})
    for user, items in by_user.items():
        kept = bounded(user, items, query)
        counts.update({item: weight(len(kept), query) * values[user, item] for item in kept})
    scores = {item: score(count, query.value) for item, count in counts.items()}
    return {item[0] if single else item: count for item, count in scores.items() if count or known is not None}


def grouped_pairs(
    table: Table, query: CountQuery, domain: Iterable[Any] | None = None
) -> dict[tuple[Any, tuple[Any, ...]], int]:
    """The pairs (user, group and item) of the groups that each user keeps."""
    assert query.groups is not None
    width, known = len(query.groups.columns), query.groups.known
    listed = None if domain is None else {tuple_of(item, len(query.items)) for item in domain}
    groups = {tuple_of(group, width) for group in known.items} if isinstance(known, DomainItems) else None
    found = {
        (user, full): value
        for (user, full), value in pairs(table, query).items()
        if (groups is None or full[:width] in groups) and (listed is None or full[width:] in listed)
    }
    of_users = defaultdict(set)
    for user, full in found:
        of_users[user].add(full[:width])
    kept = {user: chosen_groups(user, some, query) for user, some in of_users.items()}
    found = {(user, full): value for (user, full), value in found.items() if full[:width] in kept[user]}
    most, held = query.groups.pairs_per_user, defaultdict(list)
    if most is None:
        return found
    for user, full in found:
        held[user].append(full)
    first = {user: sorted(some, key=lambda full: hashed(user, full, query))[:most] for user, some in held.items()}
    return {(user, full): value for (user, full), value in found.items() if full in first[user]}


def tuple_of(values: Any, width: int) -> tuple[Any, ...]:
    return values if width > 1 else (values,)


def chosen_groups(user: Any, groups: Iterable[tuple[Any, ...]], query: CountQuery) -> set[tuple[Any, ...]]:
    assert query.groups is not None
    if query.groups.per_user is None:
        return set(groups)
    return set(sorted(groups, key=lambda group: hashed(user, group, query))[: query.groups.per_user])


def grouped(table: Table, query: CountQuery, domain: Iterable[Any] | None = None) -> dict[Any, dict[Any, int]]:
    """For each group its items with their counts, in the order of the groups; no item without a count."""
    assert query.groups is not None
    width = len(query.groups.columns)
    values = grouped_pairs(table, query, domain)
    of_owners = defaultdict(list)
    for user, full in values:
        of_owners[user, full[:width] if query.groups.within_group else None].append(full)
    counts: dict[Any, Counter[Any]] = defaultdict(Counter)
    for (user, _), some in of_owners.items():
        kept = bounded(user, some, query)
        for full in kept:
            counts[full[:width]][full[width:]] += weight(len(kept), query) * values[user, full]
    found = {}
    for group in sorted(counts, key=order):
        scores = {item: score(count, query.value) for item, count in counts[group].items()}
        if any(scores.values()):
            name = group if width > 1 else group[0]
            found[name] = {(item if len(query.items) > 1 else item[0]): n for item, n in scores.items() if n}
    return found


def score(count: int, value: PairValue | None) -> int:
    """What a sum counts: nothing below 0, and whole steps of the grid."""
    if value is None or value.grid_bits is None:
        return max(count, 0)
    return (count << value.grid_bits) // value.clip


def bounded(user: Any, items: list[Any], query: CountQuery) -> list[Any]:
    if query.max_items_per_user is None:
        return items

    return sorted(items, key=lambda item: hashed(user, item, query))[: query.max_items_per_user]


def hashed(user: Any, item: tuple[Any, ...], query: CountQuery) -> Any:
    text = ":".join([str(query.salt), encoded(user), *map(encoded, item)])
    return text_hash(text), order(item)


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@functools.cache
def duckdb_hash(text: str) -> int:
    ((number,),) = duckdb.execute("SELECT hash($text)", {"text": text}).fetchall()
    return int(number)


text_hash: Callable[[str], Any] = md5


def weight(size: int, query: CountQuery) -> int:
    """The weight of each item of a user with ``size`` items."""
    return next(each for up_to, each in query.weights if size <= up_to) if query.weights else 1


def ordered(counts: dict[Any, int]) -> list[tuple[Any, int]]:
    """Positive counts, the largest first, ties in binary order of the item."""
    return sorted(((item, n) for item, n in counts.items() if n), key=lambda pair: (-pair[1], order(pair[0])))


def counts_of_counts(counts: dict[Any, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes = Counter(counts.values())
    return tuple(sorted(sizes, reverse=True)), tuple(sizes[n] for n in sorted(sizes, reverse=True))


def ranked_names(counts: dict[Any, int], places: Sequence[tuple[int, int]]) -> tuple[Any, ...]:
    groups: dict[int, list[Any]] = defaultdict(list)
    for item in sorted(counts, key=order):
        groups[counts[item]].append(item)
    return tuple(groups[count][rank] for count, rank in places)

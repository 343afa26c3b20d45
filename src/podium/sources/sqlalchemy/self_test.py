"""The self-test of an unknown engine: on constants, it must count, compare and order like the others.

Each probe runs queries built by the same code on a table of constants whose histogram is known. No row of the data is
read, so a refusal may say what was wrong.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from sqlglot import exp

from podium.errors import PodiumError
from podium.query.predicate import Compare, Like, Operator, Predicate, Wildcard
from podium.query.schema import Column, Kind, Schema
from podium.sources.item_text import decode
from podium.sources.protocol import CountQuery
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import rows
from podium.sources.sql.relation import Relation
from podium.sources.sql.snapshot import Session, SqlSnapshot

__all__ = [
    "Engine",
    "counts_texts",
    "hashes_alike",
    "keeps_tables",
    "kind_is_exact",
    "patterns_are_exact",
    "try_session",
    "weighs_alike",
]

T = TypeVar("T")
_Pairs: TypeAlias = Sequence[tuple[Any, Any]]
_Counted: TypeAlias = list[tuple[Any, int]]

# What differs only in case, accents, composition or trailing blanks; U+FF5E comes before U+1D11E by code point and by
# UTF-8, and after it by UTF-16.
_TEXTS = (
    "", "a", "a ", "A", "b", "B", "\u00e9", "e\u0301", "\u00df", "ss", "\u03a9", "\u2126", "\uff5e", "\U0001d11e",
    "it's", "back\\slash", "50%", "50x",
)  # fmt: skip
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - podium's timestamps are without zone and mean UTC
_VALUES: dict[Kind, tuple[Any, ...]] = {
    Kind.TEXT: _TEXTS,
    Kind.INTEGER: (0, 1, 9, 10, -1, 2**53 + 1, 2**63 - 1, -(2**63)),
    Kind.DECIMAL: tuple(map(Decimal, ("0", "-0.01", "1.5", "1.05", "9.99", "10", "9999999999999999.99"))),
    Kind.BOOLEAN: (False, True),
    Kind.DATE: (dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(2024, 10, 1)),
    Kind.TIMESTAMP: tuple(_EPOCH + dt.timedelta(days, 0, micros) for days in (-1, 0, 20000) for micros in (0, 1)),
}
_PATTERNS: dict[tuple[str | Wildcard, ...], tuple[str, ...]] = {
    ("A", Wildcard.MANY): ("A",),
    (Wildcard.MANY, "\u00e9"): ("\u00e9",),
    ("a", Wildcard.ONE): ("a ",),
    (Wildcard.ONE, "s"): ("ss",),
    ("50%",): ("50%",),
    (Wildcard.MANY, "\\", Wildcard.MANY): ("back\\slash",),
}
_MAX_ITEMS = 6
_USER, _ITEM = "podium user", "podium item"
_SALT = "00112233445566778899aabbccddeeff"


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine under test: how it writes SQL, how it cleans values, and how to get a session."""

    dialect: Dialect
    clean: Callable[[exp.Expr, Column], exp.Expr]
    session: Callable[[], AbstractContextManager[Session]]


def kind_is_exact(engine: Engine, kind: Kind) -> bool:
    """Whether values of that kind are distinguished, counted, compared and ordered exactly."""
    values = sorted(_VALUES[kind])
    middle = values[len(values) // 2]
    pairs = [(user, value) for place, value in enumerate(values) for user in range(place % 3 + 1)]
    small = [(user, value) for user, value in pairs if value <= middle]
    return all(
        _count(engine, (Kind.INTEGER, kind), pairs, where=where) == _expected(among)
        for where, among in ((None, pairs), (Compare(_ITEM, Operator.AT_MOST, middle), small))
    )


def counts_texts(engine: Engine, texts: Sequence[str], *, in_order: bool = False) -> bool:
    """Whether these texts, a user each, are distinguished and counted, and perhaps put into binary order."""
    pairs = list(enumerate(texts))
    counted, expected = _count(engine, (Kind.INTEGER, Kind.TEXT), pairs), _expected(pairs)
    return counted is not None and (counted if in_order else sorted(counted)) == (
        expected if in_order else sorted(expected)
    )


def patterns_are_exact(engine: Engine) -> bool:
    """Whether patterns are case-sensitive and support podium's escapes."""
    pairs = [(1, text) for text in _TEXTS]
    return all(
        _count(engine, (Kind.INTEGER, Kind.TEXT), pairs, where=Like(_ITEM, pattern))
        == _expected((1, text) for text in matches)
        for pattern, matches in _PATTERNS.items()
    )


def hashes_alike(engine: Engine) -> bool:
    """Whether each user keeps the items that the hash of salt, user and item selects."""
    pairs = [(user, item) for user in ("", "1:a", "\u00e9", "\U0001d11e") for item in _TEXTS]
    hashes = _hashes(engine, [f"{_SALT}:{len(user)}:{user}:{len(item)}:{item}" for user, item in pairs])
    if hashes is None:
        return False
    items = defaultdict(list)
    for _, (user, item) in sorted(zip(hashes, pairs, strict=True)):
        items[user].append(item)
    kept = [(user, item) for user, ordered in items.items() for item in ordered[:2]]
    return _count(engine, (Kind.TEXT, Kind.TEXT), pairs, max_items=2) == _expected(kept)


def weighs_alike(engine: Engine) -> bool:
    """Whether weights are chosen by how many items a user has, and large ones are summed exactly."""
    # Few users: some engines take long to plan a table of hundreds of constants.
    pairs = [(user, item) for user in range(1, _MAX_ITEMS) for item in _TEXTS[:user]]
    weights = ((2, 2**31), (_MAX_ITEMS, 1))
    weighed = [(item, weights[user > weights[0][0]][1]) for user, item in pairs]
    return _count(engine, (Kind.INTEGER, Kind.TEXT), pairs, weights=weights) == _sums(weighed)


def keeps_tables(engine: Engine) -> bool:
    """Whether tables can be kept and loaded for the length of a session, read twice at once, and searched by rank."""
    pairs = [(user, text) for place, text in enumerate(_TEXTS) for user in range(place % 3 + 1)]
    builder = SqlBuilder(_relation(engine, (Kind.INTEGER, Kind.TEXT), pairs), CountQuery((_ITEM,), _USER))
    groups: dict[int, list[Any]] = defaultdict(list)
    for item, count in _expected(pairs):
        groups[count].append(item)
    places = [(count, rank) for count, names in groups.items() for rank in range(len(names))]

    def found(session: Session) -> tuple[Any, ...]:
        session.load("podium_listed", (Column("item0", Kind.TEXT),), [(text,) for text in _TEXTS])
        snapshot = SqlSnapshot(builder, session)
        # MySQL opens a temporary table once in a statement.
        one, other = (exp.to_table("podium_listed").as_(name) for name in ("one_", "other_"))
        ((twice,),) = session.fetch(engine.dialect.sql(exp.select(rows()).from_(one).join(other, join_type="cross")))
        return snapshot.counts_of_counts(), snapshot.names(places), int(twice)

    sizes = tuple(len(names) for names in groups.values())
    names = tuple(groups[count][rank] for count, rank in places)
    return try_session(engine, found) == ((tuple(groups), sizes), names, len(_TEXTS) ** 2)


def _count(
    engine: Engine,
    kinds: tuple[Kind, Kind],
    pairs: _Pairs,
    *,
    where: Predicate | None = None,
    max_items: int | None = None,
    weights: tuple[tuple[int, int], ...] | None = None,
) -> _Counted | None:
    """The items with their counts, in the engine's order; None if it failed."""
    max_items = max_items if weights is None else weights[-1][0]
    salt = None if max_items is None else _SALT
    query = CountQuery((_ITEM,), _USER, where=where, max_items_per_user=max_items, salt=salt, weights=weights)
    sql = engine.dialect.sql(SqlBuilder(_relation(engine, kinds, pairs), query).top_rows(len(pairs)))
    return try_session(
        engine, lambda session: [(decode(kinds[1], name), int(count)) for name, count in session.fetch(sql)]
    )


def try_session(engine: Engine, action: Callable[[Session], T]) -> T | None:
    """What the action gives in a session of its own; None if it failed."""
    try:
        with engine.session() as session:
            return action(session)
    except (PodiumError, ValueError, ArithmeticError, TypeError):
        # Any failure here is a failure on constants.
        return None


def _relation(engine: Engine, kinds: tuple[Kind, Kind], pairs: _Pairs) -> Relation:
    """A table of constants: the pairs, one of them twice, and rows with a missing user or item."""
    columns = tuple(
        Column(name, kind, scale=2 if kind is Kind.DECIMAL else 0)
        for name, kind in zip((_USER, _ITEM), kinds, strict=True)
    )
    user, item = pairs[0]
    constants = [
        exp.select(
            *(
                (exp.null() if value is None else _constant(engine.dialect, value, column)).as_(
                    column.name, quoted=True
                )
                for value, column in zip(row, columns, strict=True)
            )
        )
        for row in (*pairs, (user, item), (None, item), (user, None))
    ]
    table = exp.union(*constants, distinct=False).subquery()
    return Relation(table, Schema(columns), engine.dialect, engine.clean)


def _constant(dialect: Dialect, value: Any, column: Column) -> exp.Expr:
    literal = dialect.literal(value, column)
    return dialect.text(literal) if column.kind is Kind.TEXT else literal


def _expected(pairs: Iterable[tuple[Any, Any]]) -> _Counted:
    """The items with their counts, the largest first, ties in binary order."""
    return _sums((item, 1) for _, item in set(pairs))


def _sums(weighed: Iterable[tuple[Any, int]]) -> _Counted:
    counts: Counter[Any] = Counter()
    for item, weight in weighed:
        counts[item] += weight
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _hashes(engine: Engine, texts: Sequence[str]) -> Sequence[Any] | None:
    """MD5 of each text, or what the engine says is its own hash of it; None if it failed."""
    if not engine.dialect.own_hash:
        return [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
    column = Column(_ITEM, Kind.TEXT)
    hashed = (engine.dialect.text_hash(_constant(engine.dialect, text, column)) for text in texts)
    sql = engine.dialect.sql(exp.select(*(value.as_(f"h{place}") for place, value in enumerate(hashed))))
    return try_session(engine, lambda session: session.fetch(sql)[0])

"""DuckDB sorts hashes as numbers: in the order of the hex digits that other engines sort by."""

from __future__ import annotations

import hashlib

import duckdb
import pytest
from sqlglot import exp

from podium.sources.sql.dialect import DuckDB, Postgres

DIALECT = DuckDB()
TEXTS = ["", "a", "ü:1", *(f"{number}:{'x' * number}" for number in range(200))]


@pytest.mark.parametrize("number", [0, 1, 255, 2**63, 2**64 - 1, 0x0123456789ABCDEF, 0xFEDCBA9876543210])
def test_bytes_are_reversed_without_overflow(number: int) -> None:
    value = exp.cast(exp.Literal.number(number), exp.DType.UBIGINT)
    ((found,),) = duckdb.execute(f"SELECT {DIALECT.sql(_ordered(value))}").fetchall()
    assert found == int.from_bytes(number.to_bytes(8, "little"), "big")


def test_hashes_are_in_the_order_of_their_digits() -> None:
    hashed = DIALECT.md5(DIALECT.concat([exp.column("t"), exp.Literal.string("!")]))
    by_digits = sorted(TEXTS, key=_digits)
    assert _sorted_by(_ordered(hashed)) == by_digits
    # The number itself begins with the last byte.
    assert _sorted_by(hashed) != by_digits


def _ordered(value: exp.Expr) -> exp.Expr:
    for change in DIALECT.hash_order():
        value = exp.paren(change(value))
    return value


def _digits(text: str) -> str:
    return hashlib.md5(f"{text}!".encode(), usedforsecurity=False).hexdigest()


def _sorted_by(order: exp.Expr) -> list[str]:
    query = f"SELECT t FROM (SELECT unnest($texts) AS t) ORDER BY {DIALECT.sql(order)}"
    return [text for (text,) in duckdb.execute(query, {"texts": TEXTS}).fetchall()]


def test_only_small_weights_are_added_up_in_32_bits() -> None:
    """PostgreSQL's sum of 32-bit integers has 64 bits, and does not say when they do not suffice."""
    dialect, weight = Postgres(), exp.column("w")
    assert dialect.sql(dialect.total_of_weights(weight, 2**22)) == "SUM(w)"
    assert "BIGINT" in dialect.sql(dialect.total_of_weights(weight, 2**22 + 1))

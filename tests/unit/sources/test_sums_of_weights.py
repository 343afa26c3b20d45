"""How wide the sums of weights are."""

from __future__ import annotations

from sqlglot import exp

from podium.sources.sql.dialect import Postgres


def test_only_small_weights_are_added_up_in_32_bits() -> None:
    """PostgreSQL's sum of 32-bit integers has 64 bits, and does not say when they do not suffice."""
    dialect, weight = Postgres(), exp.column("w")
    assert dialect.sql(dialect.total_of_weights(weight, 2**22)) == "SUM(w)"
    assert "BIGINT" in dialect.sql(dialect.total_of_weights(weight, 2**22 + 1))

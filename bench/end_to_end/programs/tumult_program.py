"""Tumult Analytics on local Spark: private keys first, then counts of users for these keys."""

from __future__ import annotations

from protocol import main


# user code
def top(path: str, k: int, bound: int, epsilon: float, delta: float) -> list[object]:
    from pyspark.sql import SparkSession
    from tmlt.analytics import (
        AddRowsWithID,
        ApproxDPBudget,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        QueryBuilder,
        Session,
    )

    frame = SparkSession.builder.getOrCreate().read.parquet(path).select("user_id", "item")
    session = Session.from_dataframe(
        ApproxDPBudget(epsilon, delta), "rows", frame, protected_change=AddRowsWithID("user_id")
    )
    bounded = QueryBuilder("rows").enforce(MaxGroupsPerID("item", bound)).enforce(MaxRowsPerGroupPerID("item", 1))
    keys = session.evaluate(bounded.get_groups(["item"]), ApproxDPBudget(epsilon / 2, delta))
    counts = bounded.groupby(KeySet.from_dataframe(keys)).count(name="n")
    found = session.evaluate(counts, ApproxDPBudget(epsilon / 2, 0))
    return [row["item"] for row in found.orderBy("n", ascending=False).limit(k).collect()]


# end
if __name__ == "__main__":
    main(top)

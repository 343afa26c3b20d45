"""A dbt model: the products that most customers buy, private for every customer, as a table for everybody."""

from __future__ import annotations

from typing import Any

import podium
from podium.ledger import open_ledger

BUDGET = podium.Budget(epsilon=3, delta="1e-6", items=300, questions=30)


def top_products(orders: Any, *, ledger: str, night: str) -> Any:
    """The top ten as an Arrow table; a second run in the same night repeats them and costs nothing."""
    with (
        open_ledger(ledger) as book,
        podium.Curator(orders, dataset="orders", user="customer", ledger=book, budget=BUDGET) as curator,
    ):
        if curator.status.data_version != night:
            book.set_data_version("orders", night)
        return curator.top("product", k=10).to_arrow()


def model(dbt: Any, session: Any) -> Any:
    """What dbt calls; ``ledger`` and ``night`` come from top_products.yml."""
    dbt.config(materialized="table")
    return top_products(dbt.ref("orders"), ledger=dbt.config.get("ledger"), night=dbt.config.get("night"))

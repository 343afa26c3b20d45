"""A private top list of a synthetic CSV file, three ways: once, with counts, and under a budget.

python examples/top_of_csv.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import podium
from make_orders import main as make_orders


def once(path: Path) -> podium.Release:
    """Ask one question; nothing records that it was asked."""
    release = podium.top(path, item="product", user="customer", k=3, epsilon=1, delta="1e-6")
    print("most bought:", ", ".join(map(str, release.items)))
    return release


def with_counts(path: Path) -> podium.Release:
    """Spend half of the budget on counts, with intervals computed from the noise."""
    release = podium.top(path, item="product", user="customer", k=2, epsilon=1, delta="1e-6", counts=True)
    for row in release.to_arrow().to_pylist():
        print(f"{row['product']}: {row['count_low']} to {row['count_high']} customers")
    return release


def under_a_budget(path: Path, ledger: Path) -> podium.Release:
    """Ask with a ledger: repeated questions are free, and the total is never exceeded."""
    budget = podium.Budget(epsilon=3, delta="1e-6", items=50, questions=10)
    with podium.Curator(path, dataset="orders", user="customer", ledger=ledger, budget=budget) as orders:
        first = orders.top("product", k=5, where="shop = 'market'")
        again = orders.top("product", k=5, where="shop = 'market'")
        print(f"first: {float(first.paid.rho):.4f}, again: {float(again.paid.rho):.4f} of rho")
        print(orders.status.promise)
    return again


def main() -> None:
    """Generate the table and ask."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.csv"
        make_orders(str(path))
        once(path)
        with_counts(path)
        under_a_budget(path, Path(folder) / "ledger.db")


if __name__ == "__main__":
    main()

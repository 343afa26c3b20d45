"""Generate a synthetic table for the examples: who ordered what at a bakery with two shops.

    python examples/make_orders.py orders.csv

The table is the same every time. Three products have nearly equal numbers of customers, so that the noise can change
their order.
"""

from __future__ import annotations

import csv
import random
import sys

CUSTOMERS = 6_000
BUYERS = {
    "rye": 2400, "croissant": 1900, "baguette": 1207, "pretzel": 1206, "brioche": 1205, "spelt-loaf": 900,
    "cinnamon-roll": 894, "bagel": 640, "focaccia": 636, "scone": 420, "walnut-bread": 300, "panettone": 140,
    "stollen": 90, "birthday-cake-for-ada": 1,
}  # fmt: skip


def main(path: str) -> None:
    """Write customer, product and shop; some customers order the same product again."""
    chance = random.Random(2026)  # noqa: S311 - synthetic data
    rows = []
    for product, buyers in BUYERS.items():
        for customer in chance.sample(range(1, CUSTOMERS + 1), buyers):
            shop = "harbour" if customer % 8 == 0 else "market"
            rows += [(f"c{customer:04}", product, shop)] * chance.choice((1, 1, 1, 2, 5))
    chance.shuffle(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - short and familiar
        csv.writer(file, lineterminator="\n").writerows([("customer", "product", "shop"), *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])

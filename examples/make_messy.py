"""Generate the orders of the examples as an office would export them: semicolons, spaces and accents in names.

    python examples/make_messy.py bestellungen.csv windows-1252
    python examples/make_messy.py bestellungen-utf8.csv utf-8-sig

The second begins with a byte order mark, as spreadsheets write it. The rows are those of make_orders.py.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

from make_orders import main as make_orders

NAMES = {"croissant": "Crème-Croissant", "pretzel": "Brezel, groß", "brioche": "Müsli-Brioche"}


def main(path: str, encoding: str) -> None:
    """Write customer number, article and day, with lines that end as on Windows."""
    with tempfile.TemporaryDirectory() as folder:
        orders = Path(folder, "orders.csv")
        make_orders(str(orders))
        with orders.open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file)]
    told = [
        (row["customer"], NAMES.get(row["product"], row["product"]), f"2026-11-{1 + place % 28:02}")
        for place, row in enumerate(rows)
    ]
    with Path(path).open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\r\n").writerows(
            [("Kunden Nr", "Artikel Name", "Datum"), *told]
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

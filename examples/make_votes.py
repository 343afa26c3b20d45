"""Generate a synthetic table for the examples: which of two breads each taster preferred.

    python examples/make_votes.py votes.csv breads.csv

The table is the same every time: 1,500 tasters with ten votes each. A second file lists the breads.
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

TASTERS, VOTES = 1_500, 10
TASTE = {"rye": 9, "baguette": 8, "spelt-loaf": 5, "brioche": 4, "focaccia": 2, "bagel": 2, "toast": 1, "crispbread": 1}


def main(votes: str, breads: str) -> None:
    """A bread beats another with probability taste / (taste + taste of the other)."""
    chance = random.Random(2026)  # noqa: S311 - synthetic data
    lines: list[tuple[str, ...]] = [("taster", "better", "worse")]
    for taster in range(TASTERS):
        for _ in range(VOTES):
            one, other = chance.sample(list(TASTE), 2)
            if chance.random() * (TASTE[one] + TASTE[other]) > TASTE[one]:
                one, other = other, one
            lines.append((f"t{taster:04}", one, other))
    with Path(votes).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    Path(breads).write_text("\n".join(["item", *TASTE]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Generate a synthetic table for the examples: who listened to which track, and for how many minutes.

    python examples/make_plays.py plays.csv

The table is the same every time. 'night-rain' is played for a long time by its listeners, who leave it on; other tracks
are played for a few minutes by many.
"""

from __future__ import annotations

import csv
import random
import sys

LISTENERS = 8_000
TRACKS = {
    "sunrise": (3_000, 4), "harbour": (2_500, 5), "paper-boats": (2_200, 3), "night-rain": (1_500, 14),
    "long-road": (900, 9), "tin-roof": (1_000, 4), "lanterns": (700, 6), "first-snow": (300, 5),
    "quiet-hours": (150, 8),
}  # fmt: skip
"""How many listen to each track, and for how many minutes a day."""


def main(path: str) -> None:
    """Write listener, track, day and minutes; some listeners play a track on several days."""
    chance = random.Random(2026)  # noqa: S311 - synthetic data
    rows = []
    for track, (listeners, minutes) in TRACKS.items():
        for listener in chance.sample(range(1, LISTENERS + 1), listeners):
            days = range(1, 1 + chance.choice((1, 1, 2, 3)))
            rows += [(f"l{listener:04}", track, day, round(minutes * chance.uniform(0.5, 1.5), 1)) for day in days]
    chance.shuffle(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - short and familiar
        csv.writer(file, lineterminator="\n").writerows([("listener", "track", "day", "minutes"), *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])

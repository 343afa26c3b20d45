"""Prove the prices of bounded-range steps and write the list that the Gaussian filter reads.

    python -m tools.certificates [--check]

For each epsilon of the public grid and each node there is one claim; ``certify`` proves it in balls, and the list keeps
in how many cells. With ``--check`` nothing is written: everything is proved again and compared. Takes a quarter of an
hour on an idle machine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from podium.privacy.gaussian.certificate import certify
from podium.privacy.gaussian.certified import NODES, SLACK, grid
from podium.privacy.gaussian.prices import exact_price
from podium.privacy.rounding import significant_above

LIST = Path("src/podium/privacy/gaussian/certified.json")


def cells_of(epsilon: Fraction, nodes: Sequence[int] = NODES) -> tuple[int, ...]:
    """In how many cells each node's claim is proved, up to the first that is not."""
    half = epsilon / 2
    found: list[int] = []
    for node in nodes:
        remainder = node * half**2
        cells = certify(epsilon, remainder, significant_above(exact_price(half, remainder) * (1 + SLACK)))
        if cells is None:
            break
        found.append(cells)
    return tuple(found)


def written(proved: dict[str, tuple[int, ...]]) -> str:
    """The list as it is kept: one line for each epsilon."""
    lines = (f"  {json.dumps(epsilon)}: {json.dumps(cells)}" for epsilon, cells in proved.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Writes or checks the list."""
    parser = argparse.ArgumentParser(prog="python -m tools.certificates", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the list, and write nothing")
    options = parser.parse_args(argv)
    text = written({str(epsilon): cells_of(epsilon) for epsilon in grid()})
    if not options.check:
        LIST.write_text(text, encoding="utf-8")
        print(f"{LIST} is written.")
        return 0
    same = LIST.read_text(encoding="utf-8") == text
    print(f"{LIST} {'is as proved now' if same else 'differs from what is proved now'}.")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())

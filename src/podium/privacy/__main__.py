"""``python -m podium.privacy --k 100 --epsilon 0.1 --delta 1e-6``: every theorem's total, side by side."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.privacy.rounding import display
from podium.privacy.theorems.comparison import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison as a table or as JSON; exit code 2 for parameters that are not valid."""
    parser = argparse.ArgumentParser(
        prog="python -m podium.privacy",
        description="Total epsilon of k adaptive selections with epsilon each, at delta, by every theorem.",
    )
    parser.add_argument("--k", type=int, required=True, help="number of selections, bottom symbols included")
    parser.add_argument("--epsilon", required=True, help="epsilon of each selection, for example 0.1")
    parser.add_argument("--delta", required=True, help="total delta, for example 1e-6")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    options = parser.parse_args(arguments)
    try:
        rows = compare(options.k, options.epsilon, options.delta)
    except InvalidArgument as error:
        parser.error(str(error))
    print(_as_json(options, rows) if options.format == "json" else _as_table(options, rows))
    return 0


def _as_json(options: argparse.Namespace, rows: Sequence[Comparison]) -> str:
    document = {
        "k": options.k,
        "epsilon": options.epsilon,
        "delta": options.delta,
        "bounds": [
            {
                "theorem": row.theorem,
                "epsilon": None if row.epsilon is None else display(row.epsilon, digits=9),
                "delta": display(row.delta, digits=9),
                "valid_for_peeling": row.valid_for_peeling,
                "best": row.best,
                "source": row.source,
                "note": row.note,
            }
            for row in rows
        ],
    }
    return json.dumps(document, indent=2)


def _as_table(options: argparse.Namespace, rows: Sequence[Comparison]) -> str:
    lines = [
        f"Total epsilon of k={options.k} adaptive selections, epsilon={options.epsilon} each, delta={options.delta}",
        "",
        f"  {'theorem':<52} {'total':>12}  source",
    ]
    for row in rows:
        shown = "-" if row.epsilon is None else display(row.epsilon, digits=6)
        mark = "*" if row.best else " "
        note = f" ({row.note})" if row.note else ""
        lines.append(f"{mark} {row.theorem:<52} {shown:>12}  {row.source}{note}")
    lines += ["", "* smallest that is sound for top-k peeling. Totals are rounded up."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

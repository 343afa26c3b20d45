"""The tables of the bench on the page about the benches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["ABOUT", "discovery_tables"]

ABOUT = (
    "The weighted Gaussian mechanism followed by peeling (Dick, Joseph & Raman 2026), adaptive weights followed by the "
    "same (Chen, Cohen-Addad, Epasto & Zadimoghaddam 2025) and top stable (Carvalho, Wang, Gondara & Miao 2020), in "
    "NumPy, beside podium's default at the same (epsilon, delta). In the columns with one zCDP budget their mechanism "
    "has our accounting. The first and the third are built from their authors' text and code. Of Chen et al. only "
    "summaries were at hand, so what a user adds beside rerouted weight is derived anew in "
    "`bench/discovery/mechanisms.py`, and their second round is left out. Tests first reproduce thresholds and bounds "
    "that the authors publish. Missing mass, the measure of Dick et al., is what the true top k have in all less what "
    "the answer has, over all pairs."
)

_Table = tuple[str, tuple[str, ...], list[list[str]]]


def discovery_tables(report: Mapping[str, Any]) -> Iterator[_Table]:
    """Missing mass and recall, worst cells first, and the means of everybody."""
    who = list(report["cells"][0]["recall"])
    cells = sorted(report["cells"], key=lambda cell: -cell["behind"])
    for name, field, digits in (("Missing mass; less is better", "missing_mass", 4), ("Recall", "recall", 3)):
        rows = [
            [cell["data"], str(cell["k"]), f"{cell['epsilon']:g}", *(f"{cell[field][one]:.{digits}f}" for one in who)]
            for cell in cells
        ]
        caption = f"{name}. podium's worst cells against the best of the others come first."
        yield caption, ("data", "k", "epsilon", *who), rows
    rows = [
        [
            row["who"],
            f"{row['missing_mass']:.4f}",
            f"{row['recall']:.3f}",
            *(["-", "-"] if row["who"] == who[0] else [str(row["podium_better"]), str(row["podium_worse"])]),
        ]
        for row in report["summary"]
    ]
    headings = ("mechanism", "missing mass", "recall", "podium surely better", "podium surely worse")
    yield (
        f"Means over {len(cells)} cells, and in how many podium leaves less or more mass by over two errors.",
        headings,
        rows,
    )

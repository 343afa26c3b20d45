"""The tables of the ledger bench, on the terminal and on the page."""

from __future__ import annotations

from typing import Any

__all__ = ["tables"]


def tables(report: Any) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """The tables of the page and of the terminal."""
    names = ("zcdp", "gaussian", "adaptive", "nonadaptive", "limit")
    return [
        (
            "Total epsilon. The adaptive optimum is for epsilons that are fixed beforehand.",
            ("ledger", "delta", "zCDP", "Gaussian filter", "adaptive optimum", "non-adaptive", "Gaussian of 2 rho"),
            [
                [cell["ledger"], cell["delta"], *("-" if cell[name] is None else f"{cell[name]:.4f}" for name in names)]
                for cell in sorted(report["totals"], key=lambda cell: cell["zcdp"] / cell["gaussian"])
            ],
        ),
        (
            "Questions that a budget holds, one selection each.",
            ("budget", "selections of", "zCDP", "Gaussian filter", "more"),
            [
                [
                    f"({cell['epsilon']}, {cell['delta']})",
                    cell["size"],
                    f"{cell['zcdp']:,}",
                    f"{cell['gaussian']:,}",
                    f"{100 * (cell['gaussian'] / cell['zcdp'] - 1):+.1f} %",
                ]
                for cell in sorted(report["questions"], key=lambda cell: cell["gaussian"] / cell["zcdp"])
            ],
        ),
        (
            "The attack: forced over promised, minus 1. Prices by what is left after the step are proved.",
            ("price by", "small epsilons", "large epsilons"),
            [[rule["rule"], *(f"{rule[name]:+.1e}" for name in ("small", "large"))] for rule in report["attack"]],
        ),
        (
            "Conditions of the ledger: forced over promised.",
            ("condition", "left out", "kept"),
            [
                [row["control"], f"{row['left_out']:,.3f}", "-" if row["kept"] is None else f"{row['kept']:.3f}"]
                for row in report["controls"]
            ],
        ),
    ]

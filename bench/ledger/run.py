"""The ledger bench: what the Gaussian filter holds beside the zCDP filter, and what attacks find.

    python -m bench ledger [--quick] [--json FILE]

Totals and numbers of questions are those of podium's own accounting. The attack is a dynamic programme that finds what
an analyst can force; the controls are ledgers with a condition left out. docs/proofs/gaussian-filter.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.goals import Goal, verdict
from bench.ledger.attack import PROVED, RULES, Attack
from bench.ledger.controls import cancelled, in_reverse, quoted_early, session, uncharged
from bench.ledger.ledgers import BUDGETS, LEDGERS, holds, totals
from bench.ledger.tables import tables
from bench.tables import text_table
from podium.privacy.gaussian import GaussianLimits

__all__ = ["main", "run"]

DEFAULT_JSON = Path("build/bench/ledger.json")
_SMALL, _LARGE = (0.02, 0.05, 0.1, 0.2, 0.4), (0.2, 0.5, 1.0, 2.0, 4.0)
_MORE = 1.14


def _attacks(*, quick: bool) -> list[dict[str, Any]]:
    levels = 601 if quick else 12001
    attacks = (Attack(_SMALL, 0.01, 0.12, levels), Attack(_LARGE, 0.1, 8.0, levels))
    found = []
    for name, rule in RULES.items():
        small, large = (attack.excess(rule) for attack in attacks)
        found.append({"rule": name, "proved": name in PROVED, "small": small, "large": large})
    return found


def _controls() -> list[dict[str, Any]]:
    """Forced over promised where a condition is left out, and where it is kept."""
    total, delta = 1, "1e-6"
    budget = float(GaussianLimits.of(total, delta, 0).mu_squared)
    outside = uncharged(0.99, budget, total) / float(delta)
    return [
        *(
            {
                "control": f"a session at one-shot prices, node {node}",
                "left_out": session(0.4, node, deviations),
                "kept": session(0.4, node, deviations, at_zero=True),
            }
            for node, deviations in ((1, 0), (4, 2), (16, 4))
        ),
        *(
            {
                "control": f"cancelled with a refund, node {node}",
                "left_out": cancelled(0.4, node),
                "kept": cancelled(0.4, node, at_zero=True),
            }
            for node in (1, 8)
        ),
        {"control": "run in another order", "left_out": in_reverse(0.4, 0.2), "kept": None},
        {"control": "what was spent, quoted as a guarantee", "left_out": quoted_early(0.1, 0.25), "kept": None},
        {"control": "a pure step that is not charged", "left_out": outside, "kept": None},
    ]


def run(*, quick: bool) -> dict[str, Any]:
    """Everything that is shown."""
    cells = [
        {"epsilon": epsilon, "delta": delta, "size": size, **dict(zip(("gaussian", "zcdp"), count, strict=True))}
        for epsilon, delta, size in BUDGETS
        for count in [holds(epsilon, delta, size)]
    ]
    report: dict[str, Any] = {
        "totals": [cell for ledger in LEDGERS for cell in totals(ledger)],
        "questions": cells,
        "attack": _attacks(quick=quick),
        "controls": _controls(),
    }
    return bench_report("ledger", {"quick": quick}, **report, goals=_goals(report))


def _goals(report: dict[str, Any]) -> list[Goal]:
    cell = next(cell for cell in report["questions"] if (cell["epsilon"], cell["delta"], cell["size"]) == _PLANNED)
    more = cell["gaussian"] / cell["zcdp"]
    forced = {
        name: [max(rule["small"], rule["large"]) for rule in report["attack"] if rule["proved"] == name]
        for name in (True, False)
    }
    kept = [control["left_out"] for control in report["controls"]]
    return [
        Goal("selections of .05 in (1, 1e-6), over zCDP", f">= {_MORE:g}", more, more >= _MORE, "all of delta"),
        Goal(
            "forced over promised, minus 1: proved prices",
            "<= 0",
            max(forced[True]),
            max(forced[True]) <= 0,
            "worst rule",
        ),
        Goal("the same: every other price", "> 0", min(forced[False]), min(forced[False]) > 0, "mildest rule"),
        Goal("forced over promised: conditions left out", "> 1", min(kept), min(kept) > 1, "mildest control"),
    ]


_PLANNED = (1, "1e-6", "0.05")


def _show(report: dict[str, Any], console: Console) -> None:
    for title, headings, rows in tables(report):
        console.print(text_table(title, headings, rows))
    for goal in _goals(report):
        judged = f"{goal.measured:.4g}, wanted {goal.wanted}: {verdict(goal)}"
        console.print(f"{goal.name}: {judged}", highlight=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser("python -m bench.ledger.run", __doc__, DEFAULT_JSON, quick="a coarser attack")
    options = parser.parse_args(argv)
    console = wide_console(120)
    report = run(quick=options.quick)
    _show(report, console)
    save_report(report, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

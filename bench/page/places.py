"""Tables of benches on other pages of the documentation, written into their places from the benches' files.

Worst cells come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from bench.known.goals import DEFAULT, HINDSIGHT, SET
from bench.known.order import order_table
from bench.page.layout import Report, command_of, markdown_table, measured_by
from bench.page.tables import stated_facts
from bench.utility.regimes.same_cells import recall_table

__all__ = ["PAGES", "filled"]

PAGES = (
    ("planner-known.md", "known"),
    ("planner-known.md", "known_rounds"),
    ("planner-known.md", "known_order"),
    ("planner.md", "utility"),
    ("planner.md", "utility_regimes"),
    ("planner.md", "utility_rule"),
)
"""The pages, and a bench whose numbers each shows."""

_PLACE = re.compile(r"(<!-- bench (?P<what>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, report: Report) -> str:
    """A page with its tables as the report has them: ``<!-- bench NAME: WHAT -->`` to ``<!-- end -->``."""

    def table(place: re.Match[str]) -> str:
        bench = place["what"].partition(":")[0]
        if report.get("bench", bench) != bench:
            return place[0]
        source = measured_by(command_of(bench, report), report)
        return f"{place[1]}\n{_TABLES[place['what']](report)}\n{source}\n\n{place[3]}"

    return _PLACE.sub(table, text)


def _recall(report: Report, delta: str) -> str:
    who = (*HINDSIGHT, DEFAULT, SET)
    cells = [
        cell
        for cell in report["cells"]
        if cell["delta"] == delta and cell["epsilon"] == "1" and not cell["held_out"] and not cell["at_cliff"]
    ]
    rows = [
        [
            cell["data"],
            f"{cell['k']:,}",
            *(f"{cell['recall'][name]:.3f}" for name in who),
            *(f"{cell['minus_best'][name]:+.3f}" for name in (DEFAULT, SET)),
        ]
        for cell in sorted(cells, key=lambda cell: cell["minus_best"][DEFAULT])
    ]
    return markdown_table(("data", "k", *who, f"{DEFAULT} - best", f"{SET} - best"), rows)


def _hindsight(report: Report) -> str:
    groups: dict[tuple[str, str, int], dict[str, Mapping[str, Any]]] = {}
    for goal in report["goals"]:
        groups.setdefault((goal["group"], goal["delta"], goal["k"]), {})[goal["who"]] = goal
    headings = ["data sets", "delta", "k", "cells"]
    for who in (DEFAULT, SET):
        headings += [f"{who}: worst", "mean", "failing"]
    rows = []
    for (group, delta, k), goals in sorted(groups.items(), key=lambda block: block[1][DEFAULT]["worst"]):
        judged = [goals[who] for who in (DEFAULT, SET)]
        shown = [[f"{goal['worst']:+.3f}", f"{goal['mean']:+.4f}", str(goal["failing"])] for goal in judged]
        rows.append([group, delta, f"{k:,}", str(judged[0]["cells"]), *shown[0], *shown[1]])
    return markdown_table(headings, rows)


def _defaults(report: Report) -> str:
    rows = []
    for cell in sorted(report["cells"], key=lambda cell: cell["lead"]):
        if (cell["epsilon"], cell["k"]) != (1.0, 100):
            continue
        podium = cell["podium"]
        others = [
            f"{column['recall']['mean']:.3f}" + ("" if column["bound"] is None else f" ({column['bound']})")
            for column in cell["columns"].values()
        ]
        rows.append([cell["data"], f"**{podium['mean']:.3f}** ±{podium['error']:.3f}", *others])
    return markdown_table(("data", "podium", *report["cells"][0]["columns"]), rows)


def _regimes(report: Report, key: str) -> str:
    names = ("hindsight", "best", "before", "rounds", "default")
    rows = [
        [
            str(name),
            f"{values['cells']:,}",
            *(f"{values[n]:.3f}" for n in names),
            *(str(values[n]) for n in ("short", "short_before")),
        ]
        for name, values in sorted(report[key].items(), key=lambda row: row[1]["default"] - row[1]["hindsight"])
    ]
    headings = ("best by hindsight", "best contestant", "default before", "rounds", "default", "short", "before")
    return markdown_table(("k" if key == "by_k" else "tables", "cells", *headings), rows)


def _short(report: Report) -> str:
    rows = [
        [cell["cell"], cell["branch"], f"{cell['default']:.3f}", f"{cell['best']:.3f}", cell["contestant"]]
        for cell in report["short"][:12]
    ]
    return markdown_table(("cell", "branch", "default", "best", "contestant"), rows)


_TABLES: dict[str, Callable[[Report], str]] = {
    "known: recall, delta=0": lambda report: _recall(report, "0"),
    "known: recall, delta=1e-6": lambda report: _recall(report, "1e-6"),
    "known: hindsight": _hindsight,
    "known_rounds: recall": lambda report: markdown_table(*stated_facts(report)),
    "known_order: ways": lambda report: markdown_table(*order_table(report)),
    "utility_rule: rows": lambda report: markdown_table(*recall_table(report)),
    "utility: recall at epsilon=1, k=100": _defaults,
    "utility_regimes: rows": lambda report: _regimes(report, "rows"),
    "utility_regimes: k": lambda report: _regimes(report, "by_k"),
    "utility_regimes: short": _short,
}

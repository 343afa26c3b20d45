"""The tables of docs/planner-known.md, written into their places from the file of the known-domain bench."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bench.known_goals import DEFAULT, HINDSIGHT, SET
from bench.page_tables import Report, markdown_table

__all__ = ["PAGE", "filled"]

PAGE = "planner-known.md"
_PLACE = re.compile(r"(<!-- bench known: (?P<what>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, report: Report) -> str:
    """The page with its tables as the report has them; a place names ``recall, delta=...`` or ``hindsight``."""

    def table(place: re.Match[str]) -> str:
        what = place["what"]
        body = _hindsight(report) if what == "hindsight" else _recall(report, what.rpartition("=")[2])
        return f"{place[1]}\n{body}\n{place[3]}"

    return _PLACE.sub(table, text)


def _recall(report: Report, delta: str) -> str:
    who = (*HINDSIGHT, DEFAULT, SET)
    rows = [
        [
            cell["data"],
            f"{cell['k']:,}",
            *(f"{cell['recall'][name]:.3f}" for name in who),
            *(f"{cell['minus_best'][name]:+.3f}" for name in (DEFAULT, SET)),
        ]
        for cell in report["cells"]
        if cell["delta"] == delta and cell["epsilon"] == "1" and not cell["held_out"] and not cell["at_cliff"]
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
    for (group, delta, k), goals in groups.items():
        judged = [goals[who] for who in (DEFAULT, SET)]
        shown = [[f"{goal['worst']:+.3f}", f"{goal['mean']:+.4f}", str(goal["failing"])] for goal in judged]
        rows.append([group, delta, f"{k:,}", str(judged[0]["cells"]), *shown[0], *shown[1]])
    return markdown_table(headings, rows)

"""The table of the bench on the page about the benches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["END_TO_END", "end_to_end_table"]

END_TO_END = (
    "From a Parquet file to a private top k of unknown items, as users of each library write it "
    "(`bench/end_to_end/programs`), each in an environment of its own, at epsilon=1 and delta=1e-6, with one user's "
    "rows as the unit. The others need a bound on the items of one user; shown is the best of the bounds that were "
    "tried, which their users could not know. podium has no setting. Lines are those of user code; seconds are "
    "those of a new process with one answer, on the clock of a shared machine."
)


def end_to_end_table(report: Mapping[str, Any]) -> tuple[str, tuple[str, ...], list[list[str]]]:
    """A row for each program, data set and k; first the question in which podium is least ahead."""

    def question(row: Mapping[str, Any]) -> tuple[str, int]:
        return row["data"], row["k"]

    recalls: dict[tuple[str, int], list[float]] = {}
    # podium is the first program.
    for row in report["cells"]:
        recalls.setdefault(question(row), []).append(row["recall"])
    leads = {asked: first - max(others, default=0.0) for asked, (first, *others) in recalls.items()}
    rows = [
        [
            row["data"],
            str(row["k"]),
            row["program"],
            f"{row['recall']:.3f}",
            f"{row['error']:.3f}",
            str(row["runs"]),
            str(row["bound"] or "-"),
            f"{row['seconds']:.1f}",
            str(row["lines"]),
        ]
        for row in sorted(report["cells"], key=lambda row: (leads[question(row)], question(row), -row["recall"]))
    ]
    settings = report["settings"]
    left_out = "".join(f" Left out: {name} ({why})." for name, why in report["absent"].items())
    caption = f"Bounds tried: {', '.join(map(str, settings['bounds']))}.{left_out}"
    return caption, ("data", "k", "program", "recall", "2 s.e.", "runs", "bound", "seconds", "lines"), rows

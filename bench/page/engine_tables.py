"""The tables of the engines on the page about the benches."""

from __future__ import annotations

from bench.page.layout import Report, Shown, shown_number

__all__ = ["engine_tables"]


def engine_tables(report: Report) -> list[Shown]:
    """Time and scans of every question, and memory."""
    times = [
        [
            cell["engine"],
            cell["question"],
            f"{cell['rows']:,}",
            shown_number(cell["ratio"]),
            shown_number(cell["processor_ratio"]),
            _scans(cell),
            f"{cell['shared_items']} of {cell.get('k', report['settings'].get('k')):,}",
        ]
        for cell in sorted(report["cells"], key=lambda cell: -(cell["processor_ratio"] or cell["ratio"]))
    ]
    memory = [
        [cell["route"], f"{cell['items']:,}", f"{cell['peak_bytes'] / 1024:,.0f}"]
        for cell in sorted(report["memory"], key=lambda cell: -cell["peak_bytes"])
    ]
    return [
        Shown(
            "Time over that of the plain query, which has the same LIMIT; processor time, of the engine and of the "
            "process that asks, where it was measured; and how many times the table was read, as the engine says.",
            ("engine", "question", "rows", "podium / plain", "processor time", "scans", "same items"),
            times,
        ),
        Shown("Most memory that Python had allocated.", ("route", "items in the table", "KiB"), memory),
    ]


def _scans(cell: Report) -> str:
    """How many times a table was read; a dash in files that were written before it was counted."""
    return f"{cell['scans']:g}" if "scans" in cell else "-"

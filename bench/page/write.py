"""The page of the documentation about the benches, written from the files that they left.

    python -m bench page [--results FOLDER] [--kept FOLDER] [--publish FOLDER]

Every number on the page is in one of those files, or is a mean or an extreme of numbers there. What the page was
written from is kept in the repository, and stands in for benches that were not run since. Nothing is measured here.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measure import committed_in
from bench.page import places
from bench.page.layout import (
    Report,
    Section,
    command_of,
    commit_of,
    goal_rows,
    machine_facts,
    markdown_table,
    measured_by,
    mode,
)
from bench.page.tables import SECTIONS

__all__ = ["PAGE", "load", "main", "mode", "render"]

DEFAULT_RESULTS = Path("build/bench")
DEFAULT_KEPT = Path("bench/results")
DEFAULT_DOCS = Path("docs")
PAGE = "bench.md"

_PRINTED_ONLY = ("accounting", "counts", "load", "service", "timing")
"""Benches that leave no file."""

_OWN_PAGE = "- `python -m bench scale` has [a page of its own](scale.md)."

_INTRODUCTION = """\
# The benches

Written by `python -m bench page` from the files that `make bench` leaves in `build/bench`, which it keeps in
`bench/results`; no number below is typed by hand. Contestants take turns in one run, and times are compared as ratios
of medians, because the machine is shared. A goal is judged on its worst cell; one that is not met says so. In tables,
the worst cells come first. A quick run has fewer cells and repetitions than a full one. Below each table are its
command and the commit that was measured;
*+ changes* were not committed. Most pictures stay in `build/bench`.
"""


def load(results: Path) -> dict[str, Report]:
    """What each bench left, by its name."""
    files = {section.name: results / f"{section.name}.json" for section in SECTIONS}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()}


def render(reports: Mapping[str, Report]) -> str:
    """The page."""
    parts = [_INTRODUCTION, _overview(reports)]
    parts += [_section(section, reports[section.name]) for section in SECTIONS if section.name in reports]
    parts.append(_without_numbers(reports))
    return "\n".join(parts)


def _overview(reports: Mapping[str, Report]) -> str:
    rows = []
    for section in SECTIONS:
        if (report := reports.get(section.name)) is None:
            rows.append([section.title, "not run", "-", "-", "-", "-", "-"])
            continue
        verdicts = [row[3] for row in goal_rows(report, mode(report))]
        met, failed = (sum(verdict == which for verdict in verdicts) for which in ("met", "**not met**"))
        numbers = map(str, (met, failed, len(verdicts) - met - failed))
        command = f"`{command_of(section.name, report)}`"
        rows.append([section.title, mode(report), *numbers, command, commit_of(report)])
    return markdown_table(("bench", "run", "goals met", "not met", "not measured", "command", "commit"), rows)


def _section(section: Section, report: Report) -> str:
    lines = [f"## {section.title}", "", section.about, ""]
    lines += [f"Run: {mode(report)}. {machine_facts(report)}", ""]
    source = measured_by(command_of(section.name, report), report)
    if goals := goal_rows(report, mode(report)):
        lines += [markdown_table(("goal", "wanted", "measured", "verdict", "worst cell"), goals), source, ""]
    else:
        lines += ["This bench compares and has no goal in its file.", ""]
    for table in section.tables(report):
        lines += [table.caption, "", markdown_table(table.headings, table.rows), source, ""]
    if section.picture is not None:
        lines += [f"![{section.picture}]({_drawn(section.name)})", ""]
    lines += [f"{what}: not measured, {why}.\n" for what, why in _absent(report).items()]
    return "\n".join(lines)


def _drawn(name: str) -> str:
    """The picture of a bench, beside the page."""
    return f"bench-{name}.svg"


def _absent(report: Report) -> Mapping[str, Any]:
    absent = report.get("absent", {})
    return absent if isinstance(absent, Mapping) else dict.fromkeys(absent, "its file is not there")


def _without_numbers(reports: Mapping[str, Report]) -> str:
    lines = ["## Not on this page", ""]
    lines += [
        f"- {section.title}: not run. `python -m bench {section.name}` runs it."
        for section in SECTIONS
        if section.name not in reports
    ]
    lines += [f"- `python -m bench {name}` prints its numbers and leaves no file." for name in _PRINTED_ONLY]
    return "\n".join([*lines, _OWN_PAGE, ""])


def _without_runs(value: Any) -> Any:
    """Single runs are not kept: their means and errors are, and they are all that the page shows."""
    if isinstance(value, Mapping):
        return {
            key: _without_runs(part)
            for key, part in value.items()
            if not (key == "runs" and isinstance(part, Sequence))
        }
    return [_without_runs(part) for part in value] if isinstance(value, list) else value


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench page", description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS, metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--kept", type=Path, default=DEFAULT_KEPT, metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--publish", type=Path, default=DEFAULT_DOCS, metavar="FOLDER", help="default: %(default)s")
    options = parser.parse_args(argv)
    fresh = load(options.results)
    reports = {**load(options.kept), **fresh}
    if not reports:
        print(f"no page written: {options.results} has no results. Run python -m bench --quick first.")
        return 1
    options.publish.mkdir(parents=True, exist_ok=True)
    options.kept.mkdir(parents=True, exist_ok=True)
    for name, report in reports.items():
        if commit_of(report) == "not recorded" and (since := committed_in(options.kept / f"{name}.json")):
            dated = {**report, "machine": {**report.get("machine", {}), "kept_since": since}}
            reports[name] = dated
            (options.kept / f"{name}.json").write_text(json.dumps(dated) + "\n", encoding="utf-8")
    for name in fresh:
        (options.kept / f"{name}.json").write_text(json.dumps(_without_runs(fresh[name])) + "\n", encoding="utf-8")
        if (drawn := options.results / f"{name}.svg").is_file():
            shutil.copyfile(drawn, options.publish / _drawn(name))
    (options.publish / PAGE).write_text(render(reports), encoding="utf-8")
    for name, bench in places.PAGES:
        if bench in reports and (beside := options.publish / name).is_file():
            beside.write_text(places.filled(beside.read_text(encoding="utf-8"), reports[bench]), encoding="utf-8")
    absent = [section.name for section in SECTIONS if section.name not in reports]
    print(f"{options.publish / PAGE} is written from {len(reports)} results; not run: {', '.join(absent) or 'none'}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

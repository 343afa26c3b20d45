"""The page about the benches says what their files say, and the one in the documentation is of this form."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import BENCHES
from bench.page import places, write
from bench.page.layout import goal_rows, markdown_table
from bench.page.tables import SECTIONS
from tests.support.bench_reports import CANONICAL, JOINT, KNOWN, MONITOR, REGIMES, REPORTS, SELECTION

ROOT = Path(__file__).parents[3]


def test_every_number_of_the_files_is_on_the_page_where_it_belongs() -> None:
    text = write.render(REPORTS)
    for line in (
        f"| {SECTIONS[0].title} | quick | 1 | 1 | 1 | `python -m bench selection --quick` | not recorded |",
        "| fast | <= 1 | 0.500 | met | zipf |",
        "| small | <= 4 | 8.960 | **not met** | flat |",
        "| beside OpenDP | >= 1000 | - | not measured in quick mode | - |",
        "| zipf | 10,000 | 10 | 2.500 | 1,234 | 4.000 | 3.000 |",
        "| flat | 10,000 | 10 | 0.250 | - | 1.000 | 3.000 |",
        "| 1 | 40.000 | 900 (extrapolated) |",
        "| 10 | 1 | 7.500 | 0.200 |",
        "| 100 | 1.500 | 1.000 |",
        "| DuckDB | podium.top | 50,000,000 | 1.050 | - | - | 9 of 10 |",
        "| adaptive | alone, alike | 0.750 | 0.500 | +0.250 ±0.125 | 1,150 |",
        "| Spark | podium.top, k=1000 | 2,000,000 | 2.500 | - | 1 | 978 of 1,000 |",
        "| top rows | 100,000 | 2 |",
        "| 1 | 10 | 0.750 | 0.375 | 0.250 | 0.500 |",
        "| subsamples | 0.500 | 0.400 | 0.200 | 0.100 | 0.300 | 2 | 5 |",
        "| subsamples | 1,540 | 0.250 | 0.500 | 0.625 | 0.750 | +0.1250 ±0.0625 |",
        "| subsamples, as the rule came | 555 | 0.375 | 0.250 | 0.125 | - | - |",
        "| 1/50 | 0.500 | 1.000 | 0.250 | 0.125 | 0.375 |",
        "| 0 | 10 |" + " 0.500 |" * 9,
        "| msweb | 285 | 30 | 1e-4 | 0.780 ±0.010 | 0.770 ±0.020 | 16.000 |",
        "| 2,000 | 3 | 4,096 | 100 | 0.750 |",
        "| stated | >= -0.01 | -0.002 | met | users 2,000 |",
        "| unknown, chosen | 0.25 | 1.50 | 7.50 |",
        "| known | 1 | 0.875 | 0.750 |",
        "| 30 days | TopKMonitor | 0.900 | 0.500 | 0.800 | 0.010 |",
        "| 9 selections | 1e-6 | 2.5000 | 2.2500 | - | 2.0000 | 2.1250 |",
        "| (1, 1e-6) | 0.05 | 1,000 | 1,125 | +12.5 % |",
        "| what is free | +5.0e-01 | -2.5e-01 |",
        "| cancelled | 1.125 | - |",
        "| podium --help | 12.500 | 0.250 |",
        "Spark: not measured, there is no Java.",
        "retail: not measured, its file is not there.",
    ):
        assert line in text.splitlines(), line
    assert "\nRun: quick. Machine: cpus 3, system Plan 9.\n" in text
    assert "\nRun: not recorded. Machine: cpus 3, system Plan 9.\n" in text
    block = "mean recall - that of the best column: delta=0, k=10, default"
    assert f"| {block} | >= 0 | 0.000 | met | peeling has 0.500 |" in text


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_bench_without_a_file_is_named_as_not_run(name: str) -> None:
    title = next(section.title for section in SECTIONS if section.name == name)
    text = write.render({other: report for other, report in REPORTS.items() if other != name})
    assert f"| {title} | not run | - | - | - |" in text
    assert f"- {title}: not run. `python -m bench {name}` runs it." in text
    assert f"## {title}" not in text
    assert f"- {title}: not run." not in write.render(REPORTS)


def test_a_verdict_is_read_and_never_judged_again() -> None:
    other = copy.deepcopy(SELECTION)
    other["goals"][0]["met"] = False  # type: ignore[index]
    assert [row[3] for row in goal_rows(SELECTION, "quick")] == ["met", "**not met**", "not measured in quick mode"]
    assert goal_rows(other, "quick")[0][3] == "**not met**"


def test_a_table_aligns_numbers_and_escapes_bars() -> None:
    assert markdown_table(("a|b", "n"), [["x|y", "+1.5"], ["z", "-"]]).splitlines()[1:] == [
        "|---|---:|",
        "| x\\|y | +1.5 |",
        "| z | - |",
    ]


def test_every_bench_is_on_the_page_or_named_below_it() -> None:
    assert {section.name for section in SECTIONS} == set(REPORTS)
    text = write.render(REPORTS)
    assert [name for name in BENCHES if not re.search(rf"`python -m bench {name}( --quick)?`", text)] == []


def command(tmp_path: Path) -> list[str]:
    folders = {"results": "results", "kept": "kept", "publish": "docs"}
    return [word for option, folder in folders.items() for word in (f"--{option}", str(tmp_path / folder))]


def test_the_command_writes_the_page_and_keeps_what_it_was_written_from(tmp_path: Path) -> None:
    results, written = tmp_path / "results", tmp_path / "docs" / "bench.md"
    results.mkdir()
    (results / "joint.json").write_text(json.dumps(JOINT), encoding="utf-8")
    assert write.main(command(tmp_path)) == 0
    assert written.read_text(encoding="utf-8") == write.render({"joint": JOINT})
    (results / "joint.json").unlink()
    (results / "canonical.json").write_text(json.dumps(CANONICAL), encoding="utf-8")
    assert write.main(command(tmp_path)) == 0
    both = {"joint": JOINT, "canonical": CANONICAL}
    assert written.read_text(encoding="utf-8") == write.render(both)
    assert write.load(tmp_path / "kept") == both


def test_without_results_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write.main(command(tmp_path)) == 1
    assert capsys.readouterr().out == (
        f"no page written: {tmp_path / 'results'} has no results. Run python -m bench --quick first.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_page_is_a_name_of_the_command() -> None:
    command = [sys.executable, "-m", "bench", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith(", page, scale_page")


def test_the_page_of_the_documentation_is_written_from_what_is_kept() -> None:
    kept = write.load(ROOT / write.DEFAULT_KEPT)
    assert kept
    assert (ROOT / "docs" / write.PAGE).read_text(encoding="utf-8") == write.render(kept)
    for name, bench in places.PAGES:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert "<!-- bench " in text
        assert places.filled(text, kept[bench]) == text


def test_the_tables_of_other_pages_are_written_into_their_places() -> None:
    text = "before\n<!-- bench known: hindsight -->\nold\n<!-- end -->\nbetween\n"
    text += "<!-- bench known: recall, delta=0 -->\n<!-- end -->\nafter"
    lines = places.filled(text, KNOWN).splitlines()
    assert [lines[0], lines[-1]] == ["before", "after"]
    assert "old" not in lines
    assert f"| PATENT | 10 |{' 0.750 |' * 9} -0.100 | -0.200 |" in lines
    assert "| SL | 0 | 10 | 12 |" + " -0.100 | -0.0100 | 3 |" * 2 in lines
    assert lines.count("`python -m bench known --quick`, commit not recorded.") == 2
    assert "\n".join(lines) == places.filled("\n".join(lines), KNOWN)


def test_a_page_may_have_tables_of_two_benches() -> None:
    text = "<!-- bench utility_regimes: short -->\n<!-- end -->\n"
    text += "<!-- bench utility: recall at epsilon=1, k=100 -->\nold\n<!-- end -->"
    lines = places.filled(text, REGIMES).splitlines()
    assert "| 1% of msweb, k=3 | rounds | 0.100 | 0.200 | x D=1 |" in lines
    assert "old" in lines


def test_single_runs_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    measured = {**MONITOR, "cells": [{**MONITOR["cells"][0], "recalls": {"mean": 1, "runs": [1, 1]}}]}  # type: ignore[index]
    (tmp_path / "results" / "monitor.json").write_text(json.dumps(measured), encoding="utf-8")
    assert write.main(command(tmp_path)) == 0
    (cell,) = write.load(tmp_path / "kept")["monitor"]["cells"]
    assert cell["recalls"] == {"mean": 1}

"""The page about the benches says what their files say, and the one in the documentation is of this form."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.__main__ import BENCHES
from bench.known.goals import DEFAULT, HINDSIGHT, SET
from bench.page import places, write
from bench.page.layout import goal_rows, markdown_table
from bench.page.tables import SECTIONS
from tests.support.peer_reports import DISCOVERY, END_TO_END, OPENDP_RECALL

ROOT = Path(__file__).parents[3]
MACHINE = {"cpus": 3, "system": "Plan 9", "opendp": None}

SELECTION = {
    "machine": MACHINE,
    "settings": {"mode": "quick"},
    "raw": [
        {
            "shape": "zipf",
            "d": 10_000,
            "k": 10,
            "ratio_to_numpy": 2.5,
            "times_faster_than_opendp": 1234.4,
            "memory_multiple": {"podium": 4.0, "numpy": 3.0},
        },
        {
            "shape": "flat",
            "d": 10_000,
            "k": 10,
            "ratio_to_numpy": 0.25,
            "times_faster_than_opendp": None,
            "memory_multiple": {"podium": 1.0, "numpy": 3.0},
        },
    ],
    "goals": [
        {"name": "fast", "wanted": "<= 1", "measured": 0.5, "met": True, "where": "zipf"},
        {"name": "small", "wanted": "<= 4", "measured": 8.96, "met": False, "where": "flat"},
        {"name": "beside OpenDP", "wanted": ">= 1000", "measured": None, "met": None, "where": ""},
    ],
}
CANONICAL = {
    "machine": MACHINE,
    "settings": {"quick": True, "d": 17_770, "k": 1000, "gamma": 0.5},
    "cells": [{"epsilon": 1.0, "times_faster_than_numpy": 40, "times_faster_than_loop": 900, "loop_share": 0.02}],
    "goals": [],
}
JOINT = {
    "machine": MACHINE,
    "settings": {"quick": False},
    "cells": [{"k": 10, "epsilon": 1.0, "times_faster_than_numpy": 7.5, "seconds": {"podium": [0.3, 0.1, 0.2]}}],
}
LIMITED_DOMAIN = {"machine": MACHINE, "rows": [{"k_bar": 100, "release": 0.003, "race": 0.002, "overhead": 0.001}]}
ENGINES = {
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 10},
    "cells": [
        {
            "engine": "DuckDB",
            "question": "podium.top",
            "rows": 50_000_000,
            "ratio": 1.05,
            "processor_ratio": None,
            "shared_items": 9,
        },
        {
            "engine": "Spark",
            "question": "podium.top, k=1000",
            "k": 1000,
            "rows": 2_000_000,
            "ratio": 2.5,
            "processor_ratio": None,
            "shared_items": 978,
            "scans": 1.0,
        },
    ],
    "memory": [{"route": "top rows", "items": 100_000, "peak_bytes": 2048}],
    "absent": {"Spark": "there is no Java"},
    "goals": [],
}


GROUPS = {
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 10, "countries": 50, "users": 1000, "epsilon": 0.5, "runs": 3},
    "cells": [
        {
            "mechanism": "adaptive",
            "way": "alone, alike",
            "together": 0.75,
            "alone": 0.5,
            "difference": 0.25,
            "error": 0.125,
            "lists": 1150,
        }
    ],
    "goals": [],
}


def utility_cell(data: str, podium: float, other: float) -> dict[str, Any]:
    columns = {"Laplace threshold": {"recall": {"mean": other}}}
    return {
        "data": data,
        "epsilon": 1.0,
        "k": 10,
        "podium": {"mean": podium},
        "columns": columns,
        "lead": podium - other,
    }


UTILITY = {
    "machine": MACHINE,
    "settings": {"mode": "full", "delta": "1e-6"},
    "cells": [utility_cell("msweb", 1.0, 0.5), utility_cell("steam", 0.5, 0.25)],
    "absent": ["retail"],
    "goals": [],
}
GROUP = {
    "cells": 5,
    "hindsight": 0.5,
    "best": 0.4,
    "before": 0.2,
    "rounds": 0.1,
    "default": 0.3,
    "short": 2,
    "short_before": 3,
}
REGIMES = {
    "bench": "utility_regimes",
    "machine": MACHINE,
    "settings": {"mode": "full", "delta": "1e-6"},
    "rows": {"subsamples": GROUP},
    "by_k": {"10": GROUP},
    "short": [{"cell": "1% of msweb, k=3", "branch": "rounds", "default": 0.1, "best": 0.2, "contestant": "x D=1"}],
    "goals": [],
}
SAME_CELLS = {
    "bench": "utility_rule",
    "machine": MACHINE,
    "settings": {"mode": "full"},
    "rows": {
        "subsamples": {
            "cells": 1540,
            "default before": 0.25,
            "rounds": 0.5,
            "first rule": 0.625,
            "default": 0.75,
            "ahead": 0.125,
            "error": 0.0625,
        }
    },
    "published": {"subsamples": {"cells": 555, "default before": 0.375, "rounds": 0.25, "first rule": 0.125}},
    "goals": [{"name": "ahead", "wanted": ">= 0", "measured": 0.125, "met": True, "where": "±0.0625"}],
}
ORDER = {
    "bench": "known_order",
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 1000},
    "rows": [
        {"way": "1/50", "recall": 0.5, "first half": 1, "first tenth": 0.25, "first hundredth": 0.125, "tau": 0.375}
    ],
}
WHO = (*HINDSIGHT, DEFAULT, SET)
STATED = {
    "bench": "known_rounds",
    "machine": MACHINE,
    "settings": {"mode": "quick"},
    "cells": [{"users": 2000, "each": 3, "size": 4096, "k": 100, "recall": {"default": {"mean": 0.75, "error": 0.01}}}],
    "goals": [{"name": "stated", "wanted": ">= -0.01", "measured": -0.002, "met": True, "where": "users 2,000"}],
}
KNOWN = {
    "machine": MACHINE,
    "settings": {"mode": "quick", "epsilons": ["0.1", "1"]},
    "cells": [
        {
            "data": "PATENT",
            "held_out": False,
            "at_cliff": False,
            "delta": "0",
            "k": 10,
            "epsilon": epsilon,
            "recall": dict.fromkeys(WHO, mean),
            "minus_best": {DEFAULT: -0.1, SET: -0.2},
        }
        for epsilon, mean in (("0.1", 0.25), ("1", 0.75))
    ]
    + [{"held_out": True, "at_cliff": False, "delta": "0", "k": 10, "epsilon": "1", "recall": {}}],
    "goals": [
        {
            "group": "SL",
            "delta": "0",
            "k": 10,
            "who": who,
            "cells": 12,
            "worst": -0.1,
            "where": "PATENT epsilon=0.1",
            "mean": -0.01,
            "failing": 3,
            "met": False,
        }
        for who in (DEFAULT, SET)
    ],
}
MEASURES = {
    "machine": MACHINE,
    "settings": {"quick": False, "k": 20, "delta": "1e-6"},
    "losses": {"unknown, chosen": {"mean": 0.25, "90 %": 1.5, "worst": 7.5}},
    "cells": [{"world": "steam", "domain": "known", "epsilon": "1", "best": 0.875, "shares": {"chosen": 0.75}}],
    "goals": [],
}
MONITOR = {
    "machine": MACHINE,
    "settings": {"mode": "full", "runs": 2, "k": 10, "epsilon": "1", "delta": "1e-6"},
    "cells": [{"stream": "30 days", "strategy": "TopKMonitor", "recall": 0.9, "worst": 0.5, "last": 0.8, "left": 0.01}],
}
LEDGER = {
    "machine": MACHINE,
    "settings": {"quick": False},
    "totals": [
        {
            "ledger": "9 selections",
            "delta": "1e-6",
            "zcdp": 2.5,
            "gaussian": 2.25,
            "adaptive": None,
            "nonadaptive": 2.0,
            "limit": 2.125,
        }
    ],
    "questions": [{"epsilon": 1, "delta": "1e-6", "size": "0.05", "zcdp": 1000, "gaussian": 1125}],
    "attack": [{"rule": "what is free", "proved": False, "small": 0.5, "large": -0.25}],
    "controls": [{"control": "cancelled", "left_out": 1.125, "kept": None}],
    "goals": [],
}
STARTUP = {
    "machine": MACHINE,
    "settings": {"quick": False, "lines": 1000},
    "cells": [{"what": "podium --help", "processor_seconds": 0.25, "ratio": 12.5}],
    "goals": [],
}
REPORTS: dict[str, dict[str, Any]] = {
    "selection": SELECTION,
    "canonical": CANONICAL,
    "joint": JOINT,
    "ledger": LEDGER,
    "limited_domain": LIMITED_DOMAIN,
    "engines": ENGINES,
    "groups": GROUPS,
    "utility": UTILITY,
    "utility_regimes": REGIMES,
    "utility_rule": SAME_CELLS,
    "known": KNOWN,
    "known_rounds": STATED,
    "known_order": ORDER,
    "measures": MEASURES,
    "opendp_recall": OPENDP_RECALL,
    "discovery": DISCOVERY,
    "end_to_end": END_TO_END,
    "monitor": MONITOR,
    "startup": STARTUP,
}


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

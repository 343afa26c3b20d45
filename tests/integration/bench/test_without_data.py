"""A bench whose data is not there says so, and leaves no report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench import canonical, joint, opendp_recall
from bench.known import run as known

SKIPPED: list[tuple[Callable[[list[str]], int], str]] = [
    (canonical.main, "canonical bench skipped: netflix_5star_counts_n17770.csv is not there. {} that has it."),
    (joint.main, "joint bench skipped: netflix_5star_counts_n17770.csv is not there. {} that has it."),
    (
        known.main,
        "known bench skipped: dpbench_1d_n4096.csv or netflix_5star_counts_n17770.csv is not there. {} that has both.",
    ),
    (opendp_recall.main, "opendp_recall bench skipped: msweb and bms_webview_2 are not there. {} that has them."),
]


@pytest.mark.parametrize(("main", "text"), SKIPPED, ids=[main.__module__ for main, _ in SKIPPED])
def test_the_bench_says_so(
    main: Callable[[list[str]], int],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PODIUM_DATA", str(tmp_path))
    assert main(["--quick", "--json", str(tmp_path / "report.json")]) == 0
    assert " ".join(capsys.readouterr().out.split()) == text.format("Set PODIUM_DATA to the folder")
    assert not (tmp_path / "report.json").exists()

"""The benches run and report what they promise. No assertion on a time: machines are shared and noisy."""

import functools
import importlib
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bench.__main__
import pytest
from bench.command import save_report
from bench.goals import show_goals
from bench.measure import Contestant, Timing, interleaved, peak_extra_bytes
from bench.peers import OpenDPBudget
from bench.selection import report, run
from bench.selection.goals import RawCell, TallyCell, goals
from bench.workloads import SHAPES, raw_scores, tally
from rich.console import Console

ROOT = Path(__file__).parents[3]
TINY = run.Plan(
    mode="tiny", sizes=(2000,), places=(5, 20), tally_sizes=(10**4, 10**18), repetitions=2, opendp_seconds=1e-9
)


@pytest.fixture(scope="module")
def results() -> run.Results:
    return run.run(TINY)


def test_selection_json_has_every_cell_and_goal(results: run.Results, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "selection.json"
    save_report(results.as_json(), path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data) == {"bench", "version", "machine", "settings", "raw", "counts_of_counts", "goals"}
    assert data["settings"]["noise_scale"] == 10
    assert {(cell["shape"], cell["d"], cell["k"]) for cell in data["raw"]} == {
        (shape, 2000, k) for shape in SHAPES for k in (5, 20)
    }
    for cell in data["raw"]:
        assert len(cell["seconds"]["podium"]) == len(cell["seconds"]["numpy"]) == TINY.turns(2000)
        assert cell["ratio_to_numpy"] > 0
        assert set(cell["memory_multiple"]) == {"podium", "numpy"}
        assert (cell["times_faster_than_opendp"] is None) == (cell["opendp_skipped"] is not None)
    assert {(cell["shape"], cell["d"]) for cell in data["counts_of_counts"]} == {
        (shape, d) for shape in ("zipf", "flat") for d in (10**4, 10**18)
    }
    assert all(set(goal) == {"name", "wanted", "measured", "met", "where"} for goal in data["goals"])


def test_selection_says_which_goals_it_did_not_measure(results: run.Results) -> None:
    text = io.StringIO()
    console = Console(file=text, width=report.WIDTH)
    report.show(results.machine, "tiny", results.raw, results.counts_of_counts, console)
    show_goals(results.goals, "tiny", console)
    assert text.getvalue().count("not measured in tiny mode") == 4
    assert "skipped: too slow" in text.getvalue()


def test_opendp_takes_part_once_and_is_then_too_slow(results: run.Results) -> None:
    cells = [cell for cell in results.raw if cell.shape == "zipf"]
    assert [cell.opendp_skipped for cell in cells] == [None, "skipped: too slow"]


def _cell(shape: str, d: int, *, podium: float, memory: float = 1.0, opendp: float | None = None) -> RawCell:
    timings = {"podium": Timing([podium]), "numpy": Timing([1.0])}
    if opendp is not None:
        timings["opendp"] = Timing([opendp])
    return RawCell(shape, d, 100, timings, {"podium": memory, "numpy": 2.0}, None)


def test_goals_judge_the_worst_cell() -> None:
    raw = [
        _cell("zipf", 10**6, podium=0.9),
        _cell("distinct", 10**6, podium=2.0, memory=5.0),
        _cell("distinct-wide", 10**6, podium=3.5),
        _cell("zipf", 10**5, podium=0.5, opendp=501.0),
    ]
    tallies = [TallyCell("zipf", d, 10, 1, Timing([t]), 0) for d, t in ((10**4, 1.0), (10**9, 2.5), (10**18, 1.1))]
    verdicts = [(goal.met, goal.measured) for goal in goals(raw, tallies)]
    assert verdicts == [(True, 0.9), (False, 3.5), (True, 1002.0), (False, 5.0), (True, 1.0), (False, 2.5)]


def test_goals_without_cells_are_not_measured() -> None:
    assert {goal.met for goal in goals([], [])} == {None}


def test_budget_skips_what_would_take_too_long() -> None:
    budget = OpenDPBudget(10.0, frozenset({("zipf", 10**5, 100)}))
    assert budget.repetitions("zipf", 10**4, 10) == 3
    budget.record("zipf", 10**4, 10, 0.3)
    assert budget.repetitions("zipf", 10**4, 100) == 1
    assert budget.repetitions("zipf", 10**5, 1000) == 0
    assert budget.repetitions("zipf", 10**5, 100) == 1
    assert budget.repetitions("flat", 10**5, 1000) == 3


def test_contestants_take_turns_in_alternating_order() -> None:
    seen: list[str] = []
    turns = {"a": 3, "b": 2}
    timings = interleaved([Contestant(name, functools.partial(seen.append, name), n) for name, n in turns.items()])
    assert seen == ["a", "b", "b", "a", "a"]
    assert [len(timings[name].seconds) for name in "ab"] == [3, 2]


def test_peak_counts_what_was_freed_again() -> None:
    assert 10**6 <= peak_extra_bytes(lambda: len(bytearray(10**6))) < 1.1 * 10**6


@pytest.mark.parametrize("d", [10**4, 2 * 10**6])
def test_tally_and_raw_describe_the_same_data(d: int) -> None:
    scores, multiplicities = tally("zipf", d)
    raw = raw_scores("zipf", d)
    assert int(multiplicities.sum()) == d
    assert int((scores * multiplicities).sum()) == int(raw.sum())
    assert len(scores) == len(set(raw.tolist()))


def test_an_unknown_bench_is_refused_with_the_list() -> None:
    command = [sys.executable, "-m", "bench", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no bench called nothing; there is selection" in done.stderr


class Fakes:
    """Benches that only say that they ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, *, broken: str = "") -> None:
        self.ran: list[list[str]] = []
        self.broken = broken
        monkeypatch.setattr(bench.__main__, "BENCHES", {name: name for name in ("first", "second", "third")})
        monkeypatch.setattr(bench.__main__, "FINISHED", folder / "bench" / "finished.json")
        monkeypatch.setattr(bench.__main__, "commit", lambda: "abc")
        monkeypatch.setattr(importlib, "import_module", self._module)

    def _module(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(main=lambda: self._main(name))

    def _main(self, name: str) -> None:
        self.ran.append([name, *sys.argv[1:]])
        if name == self.broken:
            raise OSError("the disk is full")


def test_all_benches_run_and_one_that_fails_is_tried_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes = Fakes(monkeypatch, tmp_path, broken="second")
    assert bench.__main__.main(["--quick"]) == 1
    assert fakes.ran == [["first", "--quick"], ["second", "--quick"], ["third", "--quick"]]
    shown = capsys.readouterr()
    assert "2 of 3 benches finished" in shown.out
    assert "failed: second" in shown.out
    assert "the disk is full" in shown.err
    fakes.ran, fakes.broken = [], ""
    assert bench.__main__.main(["--quick"]) == 0
    assert fakes.ran == [["second", "--quick"]]
    assert "first: finished before" in capsys.readouterr().out
    # All are finished, so the next run begins anew.
    fakes.ran = []
    assert bench.__main__.main(["--quick"]) == 0
    assert len(fakes.ran) == 3


@pytest.mark.parametrize("words", [[], ["--quick", "--again"]])
def test_what_another_plan_has_finished_does_not_count(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = Fakes(monkeypatch, tmp_path, broken="third")
    assert bench.__main__.main(["--quick"]) == 1
    fakes.ran = []
    assert bench.__main__.main(words) == 1
    assert [name for name, *_ in fakes.ran] == ["first", "second", "third"]

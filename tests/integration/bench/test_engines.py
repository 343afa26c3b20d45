"""The engines bench runs and reports what it promises. No assertion on a time: machines are shared and noisy."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import time
from pathlib import Path

import duckdb
import pytest
from bench.command import save_report
from bench.engines import questions, report, run, servers
from bench.engines.data import COUNTRIES, REGIONS, Events, wide_table
from bench.engines.goals import (
    BOUNDED,
    GROUPS,
    GROUPS_IN_ROUNDS,
    ROUNDS,
    TALLY,
    TOP_ROWS,
    Cell,
    MemoryCell,
    Route,
    goals,
)
from bench.engines.parts import Parts
from bench.engines.processor import clock_with
from bench.goals import show_goals
from bench.measure import Timing
from bench.selection import report as selection_report
from rich.console import Console

TINY = dataclasses.replace(
    run.QUICK,
    mode="tiny",
    rows=20_000,
    text_rows=10_000,
    bounded_rows=10_000,
    server_rows=10_000,
    repetitions=2,
    wide_items=(2_000, 20_000),
    servers=(),
    part_rows=10_000,
    users=4_000,
    items=500,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> run.Results:
    return run.run(TINY, tmp_path_factory.mktemp("data"))


def test_an_interrupted_run_goes_on_where_it_ended(results: run.Results, tmp_path: Path) -> None:
    folder, measured = tmp_path / "parts", []
    parts = Parts(folder, "plan")

    def measure() -> list[Cell]:
        measured.append(1)
        return results.cells

    assert parts.cells("DuckDB", measure) == results.cells
    assert parts.memory("memory", lambda: results.memory) == results.memory
    again = Parts(folder, "plan")
    assert again.cells("DuckDB", measure) == results.cells
    assert again.memory("memory", list) == results.memory
    assert len(measured) == 1
    # Another plan, or a run after one that ended, measures anew.
    assert Parts(folder, "another").cells("DuckDB", measure) == results.cells
    again.forget()
    assert again.cells("DuckDB", measure) == results.cells
    assert len(measured) == 3


def test_the_json_has_every_cell_and_goal(results: run.Results, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "engines.json"
    save_report(results.as_json(), path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data) == {"bench", "version", "machine", "settings", "cells", "memory", "absent", "goals"}
    assert [(cell["engine"], cell["route"], cell["k"], cell["rows"]) for cell in data["cells"]] == [
        ("DuckDB", "top rows", 10, 20_000),
        ("DuckDB", "top rows, counts", 10, 20_000),
        ("DuckDB", "counts of counts", 10, 20_000),
        ("DuckDB", "k=10, rounds", 10, 20_000),
        ("DuckDB", "top rows", 10, 20_000),
        ("DuckDB", "k=100", 100, 20_000),
        ("DuckDB", "k=100, counts", 100, 20_000),
        ("DuckDB", "groups", 2000, 10_000),
        ("DuckDB", "groups, rounds", 2000, 10_000),
        ("DuckDB", "top rows", 10, 10_000),
        ("DuckDB", "sums", 10, 20_000),
        ("DuckDB", "sums in rounds", 10, 20_000),
        ("DuckDB", "sums, bare query", 10, 20_000),
        ("DuckDB", "bounded", 10, 10_000),
    ]
    assert [len(cell["seconds"]["podium"]) for cell in data["cells"]] == [2, 2, 2, 2, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert [cell["scans"] for cell in data["cells"]] == [1] * 14
    assert {(cell["route"], cell["items"]) for cell in data["memory"]} == {
        (route, items) for route in ("top rows", "counts of counts") for items in TINY.wide_items
    }
    assert len(data["goals"]) == 22
    assert all(set(goal) == {"name", "wanted", "measured", "met", "where"} for goal in data["goals"])


def test_the_report_says_what_was_not_measured(results: run.Results, tmp_path: Path) -> None:
    text = io.StringIO()
    console = Console(file=text, width=selection_report.WIDTH)
    report.show(results.machine, "tiny", results.cells, results.memory, results.absent, console)
    show_goals(results.goals, "tiny", console)
    assert "PostgreSQL: not measured, not part of the tiny mode" in text.getvalue()
    assert text.getvalue().count("not measured in tiny mode") == 12
    assert str(tmp_path.parent) not in text.getvalue()


def test_the_private_answer_is_that_of_the_same_question(results: run.Results) -> None:
    # The first articles have hundreds of users more than the others, which no noise hides.
    assert all(cell.shared >= 3 for cell in results.cells if cell.route not in (BOUNDED, GROUPS, GROUPS_IN_ROUNDS))


def test_the_engines_count_one_scan_for_a_question_and_two_for_two(tmp_path: Path) -> None:
    events = Events(tmp_path, part_rows=2_000, users=300, items=50)
    openings = (servers.open_duckdb, servers.open_postgresql, servers.open_clickhouse, servers.open_mariadb)
    for opening in openings:
        with opening(events, 4_000) as opened:
            plain, rounds = opened.plain("article_id", 20), questions.ask(opened.source, k=20)
            assert len(plain()) == 20
            assert opened.scans(rounds) == 1
            assert opened.scans(lambda ask=rounds: (*ask(), *ask())) == 2  # type: ignore[misc]
            if opening is not servers.open_duckdb:
                assert opened.scans(plain) == 1


def test_memory_does_not_grow_with_the_items(results: run.Results) -> None:
    assert results.goals[-1].met


def test_a_shorter_table_is_a_prefix_and_always_the_same(tmp_path: Path) -> None:
    long = Events(tmp_path / "a", part_rows=1_000, users=50, items=30).files(2_000)
    short = Events(tmp_path / "b", part_rows=1_000, users=50, items=30).files(1_000)
    with duckdb.connect() as connection:
        parts = [connection.read_parquet(file).fetchall() for file in (*long, *short)]
    assert parts[0] == parts[2] != parts[1]
    users, articles, names, countries, regions = (set(column) for column in zip(*parts[0], strict=True))
    assert users <= set(range(50))
    assert articles <= set(range(30))
    assert names == {f"article-{article:07d}" for article in articles}
    assert countries == set(COUNTRIES)
    assert regions <= set(range(REGIONS))


def test_rows_that_are_no_whole_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rows=1500 is not a multiple of part_rows=1000"):
        Events(tmp_path, part_rows=1_000).files(1_500)


def test_wide_tables_differ_in_the_tail_only(tmp_path: Path) -> None:
    query = (
        "SELECT n, COUNT(*) FROM (SELECT COUNT(DISTINCT user_id) AS n FROM read_parquet(?) GROUP BY item) GROUP BY n"
    )
    with duckdb.connect() as connection:
        small, large = (
            dict(connection.execute(query, [wide_table(tmp_path, items)]).fetchall()) for items in (1_500, 3_000)
        )
    assert large.pop(1) - small.pop(1) == 1_500
    assert small == large


def _cell(engine: str, route: Route, podium: float, processor: float | None = None, scans: float = 1) -> Cell:
    used = None if processor is None else (Timing([processor]), Timing([1.0]))
    return Cell(engine, route, "question", 10, 1, Timing([podium]), Timing([1.0]), used, 10, scans)


def test_goals_judge_the_worst_cell_of_each_engine() -> None:
    cells = [
        _cell("DuckDB", TOP_ROWS, 1.3, 0.9),
        _cell("DuckDB", TOP_ROWS, 0.9, 1.2),
        _cell("DuckDB", TALLY, 1.4, 1.2),
        _cell("PostgreSQL", TALLY, 2.3, 0.1),
        _cell("DuckDB", BOUNDED, 9.0, 1.9),
        _cell("DuckDB", ROUNDS[100], 2.0, 2.6),
        _cell("DuckDB", ROUNDS[1000], 9.0, 9.0),
        _cell("Spark", TOP_ROWS, 1.0),
        _cell("Spark", ROUNDS[100], 2.9, scans=2),
    ]
    memory = [MemoryCell(TOP_ROWS, 10, 100), MemoryCell(TOP_ROWS, 1000, 200), MemoryCell(TALLY, 10, 100)]
    verdicts = {goal.name: (goal.met, goal.measured) for goal in goals(cells, memory) if goal.met is not None}
    assert verdicts == {
        "processor time / plain query: DuckDB, top rows": (False, 1.2),
        "time / plain query: Spark, top rows": (True, 1.0),
        "processor time / plain query: DuckDB, counts of counts": (True, 1.2),
        "time / plain query: PostgreSQL, counts of counts": (False, 2.3),
        "processor time / plain query: DuckDB, k=100": (False, 2.6),
        "processor time / plain query: DuckDB, bounded": (True, 1.9),
        "time / plain query: Spark, k=100": (True, 2.9),
        "scans of the table by one question, most": (False, 2),
        "Python's memory: most items / fewest items": (False, 2.0),
    }


def test_goals_without_cells_are_not_measured() -> None:
    assert {goal.met for goal in goals([], [])} == {None}


def test_an_engine_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(servers._NEEDS, "Spark", ("no_such_module",))
    assert servers.missing("Spark") == "no_such_module is not installed"


def test_processor_time_is_that_of_a_server_with_its_workers() -> None:
    # The worker of a worker, which ends while its parent lives.
    burn = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; read -r line"
    with subprocess.Popen(["sh", "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        clock = clock_with(server.pid)
        assert clock is not None
        deadline = time.monotonic() + 60
        while clock() - time.process_time() < 0.02 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert 0.02 <= clock() - time.process_time() < 60
        server.communicate(b"end")
    assert clock_with(2**22 + 1) is None
    assert clock_with(None) is time.process_time


def test_a_slow_server_is_asked_less() -> None:
    slow = run.MEDIUM.for_server("MariaDB")
    assert slow.server_rows == slow.part_rows == 500_000
    assert (slow.server_repetitions, slow.server_round_repetitions) == (2, 1)
    assert run.MEDIUM.for_server("PostgreSQL") is run.MEDIUM

"""The scale bench measures what it says, its model finds what it was made from, its page says what its file says."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from bench.parts import Parts
from bench.scale import cells, child, page, run
from bench.scale.data import REGIONS, Table, wide
from bench.scale.model import Model, Point, fit, points_of
from bench.scale.questions import LISTS, QUESTIONS
from bench.scale.sql import SHOWN, statements

ROOT = Path(__file__).parents[3]
SMALL = Table(2_000, 500, 50)
MORE = dataclasses.replace(SMALL, more=True)
ONE_QUERY, ROUNDS = "k=10, one query", "k=100, rounds"
OTHERS = tuple(name for name, question in QUESTIONS.items() if question.kind != LISTS)
TINY = run.Plan(
    mode="tiny",
    largest=(cells.Sized(Table(3_000, 500, 50), "128MB", 1, (ONE_QUERY, ROUNDS)),),
    groups_and_sums=(cells.Sized(MORE, "128MB", 1, OTHERS),),
    tables=(cells.Sized(MORE, None, 2, (ONE_QUERY,)),),
    domains=(10**3, 10**12),
    domain_table=SMALL,
    domain_k=20,
    wide_items=3_000,
    k_bars=(100, 1_000),
    servers={"PostgreSQL": SMALL},
    server_repetitions=1,
    decisions=4,
    callers=2,
)
SHORT = dataclasses.replace(TINY, domains=(), k_bars=(), servers={}, decisions=1, callers=1)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        # The same work without a process for each question, most of which is importing.
        for module in (cells, run):
            patch.setattr(module, "child", child.measured)
        found = run.run(TINY, tmp_path_factory.mktemp("data"))
    # As a file keeps it.
    kept: dict[str, Any] = json.loads(json.dumps(found))
    return kept


def test_every_part_is_measured(report: dict[str, Any]) -> None:
    asked = [(cell["question"], cell["rows"]) for cell in (*report["largest"], *report["groups_and_sums"])]
    assert asked == [(ONE_QUERY, 3_000), (ROUNDS, 3_000), *((name, 2_000) for name in OTHERS)]
    (table,) = report["tables"]
    assert (table["rows"], table["memory_limit"]) == (2_000, None)
    assert 0 < table["pairs"] <= 2_000
    for who in ("plain", "podium"):
        assert len(table[who]["seconds"]) == len(table[who]["processor_seconds"]) == 2
        assert table[who]["rss_peak"] > 0
    assert table["python_peak_bytes"] > 0
    assert [cell["domain_size"] for cell in report["domains"]] == [10**3, 10**12]
    assert [cell["k_bar"] for cell in report["k_bars"]] == [100, 1_000]
    engines = [f"{engine}{kind}" for engine in ("SQLite", "PostgreSQL") for kind in ("", ", Gaussian filter")]
    assert [cell["engine"] for cell in report["ledgers"]] == engines
    # A registration for each caller, and two entries for each decision of both rounds.
    assert [cell["entries"] for cell in report["ledgers"]] == [2 + 2 * (4 + 4)] * 4
    assert [cell["setting"] for cell in report["servers"]] == [
        "no index", "indices on (user_id), (item), (item, user_id)",
    ]  # fmt: skip
    assert report["absent"] == {"Spark": "not part of the tiny mode"}


def test_rounds_read_their_pairs_and_one_query_does_not(report: dict[str, Any]) -> None:
    one, rounds = (cell["podium"] for cell in report["largest"])
    # Every item leaves the engine, or the first k_bar + 1 would.
    assert (one["kept_reads"], one["leaving"]) == (0, 50)
    assert rounds["kept_reads"] >= 1
    # The plain query of a table and a memory limit is measured once, and shared.
    assert report["largest"][0]["plain"] == report["largest"][1]["plain"]


class _Measured:
    """Answers in place of the processes, and dies at one of them like a run that is killed."""

    def __init__(self, dies_at: int | None = None, fails: str | None = None) -> None:
        self.asked: list[str] = []
        self.dies_at, self.fails = dies_at, fails

    def __call__(self, **task: Any) -> dict[str, Any]:
        if len(self.asked) == self.dies_at:
            raise KeyboardInterrupt
        if task["question"] == self.fails and task["who"] == "podium":
            raise cells.Failed("podium failed with SourceUnavailable")
        traced = " traced" * task.get("traced", False)
        self.asked.append(f"{Path(task['folder']).name}: {task['who']} {task['question']}{traced}")
        numbers = dict.fromkeys(("rss_peak", "spilled_bytes", "kept_reads", "leaving", "python_peak_bytes"), 1)
        return {"seconds": [len(self.asked)], "processor_seconds": [1.0], **numbers}


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the short plan in one folder, with other measurements each time."""
    monkeypatch.setattr(run, "ledgers", lambda *_: [{"engine": "SQLite"}])

    def once(measured: _Measured, **options: Any) -> dict[str, Any]:
        monkeypatch.setattr(cells, "child", measured)
        return run.run(SHORT, tmp_path / "data", **options)

    return once


def test_a_killed_run_goes_on_where_it_was(ran: Any, tmp_path: Path) -> None:
    killed, written = _Measured(dies_at=6), []
    with pytest.raises(KeyboardInterrupt):
        ran(killed, written=lambda report: written.append(json.loads(json.dumps(report))))
    # The file had what was finished, and the folder has every question that was answered.
    assert [len(report["largest"]) for report in written] == [2]
    assert written[0]["unfinished"] == list(run.PARTS[1:])
    left = tmp_path / "data" / "podium-bench-left"
    left.mkdir()
    (table,) = (path for path in (tmp_path / "data").iterdir() if path.is_dir() and path != left)
    (table / "mark").touch()
    resumed, there = _Measured(), []
    report = ran(resumed, written=lambda _: there.append((left.exists(), (table / "mark").exists())))
    # What the killed run had put aside is gone, and the table that it had written is used again.
    assert there[0] == (False, True)
    assert set(killed.asked).isdisjoint(resumed.asked)
    assert report["largest"] == written[0]["largest"]
    assert [len(report[part]) for part in run.TABLES] == [2, 4, 1]
    assert report["unfinished"] == []
    assert report["absent"] == {"PostgreSQL": "not part of the tiny mode", "Spark": "not part of the tiny mode"}
    # A run that came to its end leaves neither parts nor tables, and the next one measures anew.
    assert list((tmp_path / "data").iterdir()) == []
    anew = _Measured()
    ran(anew)
    assert sorted(anew.asked) == sorted(killed.asked + resumed.asked)


def test_parts_can_be_measured_alone(ran: Any) -> None:
    first, second = _Measured(), _Measured()
    alone = ran(first, only=("largest",))
    assert [len(alone[part]) for part in run.TABLES] == [2, 0, 0]
    assert alone["absent"]["ledgers"] == alone["absent"]["groups, rounds, 2,000 rows, memory limit 128MB"]
    assert alone["absent"]["ledgers"] == "not part of this run"
    both = ran(second, only=("tables",))
    assert both["largest"] == alone["largest"]
    assert [asked.partition(": ")[2] for asked in second.asked] == [
        f"{who} {ONE_QUERY}{traced}" for who, traced in (("plain", ""), ("podium", ""), ("podium", " traced"))
    ]
    assert "tables" not in " ".join(both["absent"])


def test_a_question_that_fails_is_named_and_asked_again_by_the_next_run(ran: Any) -> None:
    report = ran(_Measured(fails=ROUNDS))
    assert [cell["question"] for cell in report["largest"]] == [ONE_QUERY]
    where = f"{ROUNDS}, 3,000 rows, memory limit 128MB"
    assert report["absent"][where] == "podium failed with SourceUnavailable"
    again = _Measured()
    assert len(ran(again)["largest"]) == 2
    assert again.asked == [f"{SHORT.largest[0].table.name}: podium {ROUNDS}"]


def test_a_table_without_room_on_disk_is_named(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = cells._SPARE + 500_000_000
    full = type("Usage", (), {"free": needed})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    huge = cells.Sized(Table(10**8, 10**3, 10**3), "1GB", 1, (ONE_QUERY,))
    monkeypatch.setattr("tests.integration.bench.test_scale.SHORT", dataclasses.replace(SHORT, largest=(huge,)))
    report = ran(_Measured())
    assert report["largest"] == []
    assert report["absent"][f"{ONE_QUERY}, {huge.where}"] == ("no room on disk: it may need 0.8 GB, and 0.5 were free")
    assert len(report["groups_and_sums"]) == 4


def test_a_child_that_fails_says_of_which_kind(tmp_path: Path) -> None:
    with pytest.raises(cells.Failed, match=r"^plain failed with IOException$"):
        cells.child(who="plain", folder=str(tmp_path / "nothing"))


def test_parts_of_another_plan_are_not_taken(tmp_path: Path) -> None:
    Parts(tmp_path, "one").rows("a", lambda: [{"n": 1}])
    assert Parts(tmp_path, "one").kept("a") == [{"n": 1}]
    assert Parts(tmp_path, "another").kept("a") is None


def test_parts_know_the_commits_that_measured_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.parts.commit", lambda: "old")
    Parts(tmp_path, "plan").rows("a", list)
    monkeypatch.setattr("bench.parts.commit", lambda: "new")
    later = Parts(tmp_path, "plan")
    later.rows("a", list)
    assert later.measured_at == "old"
    later.rows("b", list)
    assert later.measured_at == "new, old"


def test_a_question_in_a_process_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = SMALL.folder(tmp_path)
    child.main([json.dumps({"who": "plain", "folder": str(folder)})])
    assert set(json.loads(capsys.readouterr().out)) == {
        "seconds", "processor_seconds", "rss_before", "rss_peak", "spilled_bytes", "kept_reads", "leaving",
    }  # fmt: skip


def test_tables_have_the_rows_that_they_say(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        query = "SELECT COUNT(*), COUNT(DISTINCT user_id), MIN(item), MAX(item) FROM read_parquet(?)"
        made = connection.execute(query, [f"{SMALL.folder(tmp_path)}/*.parquet"]).fetchall()
        ((rows, _, first, last),) = connection.execute(query, [f"{wide(tmp_path, 500)}/*.parquet"]).fetchall()
    assert made[0][0] == 2_000
    assert 400 < made[0][1] <= 500
    assert 0 <= made[0][2] < made[0][3] < 50
    assert (rows > 500, first, last) == (True, 0, 499)


def test_a_table_that_was_begun_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.data._PART", 700)
    begun = tmp_path / f"{SMALL.name}.unfinished"
    begun.mkdir()
    whole = SMALL.folder(tmp_path / "whole")
    first = begun / "part-000.parquet"
    first.write_bytes((whole / first.name).read_bytes())
    (begun / "part-001.writing").write_bytes(b"PAR1")
    number = first.stat().st_ino
    found = SMALL.folder(tmp_path)
    assert (found / first.name).stat().st_ino == number
    assert sorted(path.name for path in found.iterdir()) == [f"part-{part:03d}.parquet" for part in range(3)]
    query = "SELECT * FROM read_parquet(?) ORDER BY ALL"
    assert (
        duckdb.execute(query, [f"{found}/*.parquet"]).fetchall()
        == duckdb.execute(query, [f"{whole}/*.parquet"]).fetchall()
    )


def test_regions_and_amounts(tmp_path: Path) -> None:
    query = (
        "SELECT COUNT(*), MIN(region), MAX(region), MIN(amount), AVG(amount), "
        f"AVG((region = user_id % {REGIONS})::INT) FROM read_parquet(?)"
    )
    with duckdb.connect() as connection:
        ((rows, first, last, least, mean, home),) = connection.execute(
            query, [f"{MORE.folder(tmp_path)}/*.parquet"]
        ).fetchall()
    # The table is made from hashes: these are no chances.
    assert (rows, first, last) == (2_000, 0, REGIONS - 1)
    assert least >= 1
    assert 50 < mean < 70
    assert 0.95 < home < 1


def test_the_fit_finds_the_coefficients() -> None:
    each = {"rows": 2e-8, "pairs": 3e-8, "items": 5e-7, "rounds": 0.05, "read": 4e-8, "leaving": 8e-6}
    truth = Model(0.25, each, 0, 0.0)
    sizes = [
        {
            "rows": 10**rows, "pairs": 10**rows // part, "items": 10**items, "rounds": rounds,
            "read": rounds * 10**rows // part, "leaving": leaving,
        }
        for rows in (5, 7, 9) for part in (1, 7) for items in (2, 4) for rounds in (0, 3) for leaving in (10, 10**6)
    ]  # fmt: skip
    found = fit([Point(**size, core_seconds=truth.core_seconds(**size)) for size in sizes])
    assert found.fixed == pytest.approx(truth.fixed, rel=1e-6)
    assert found.each == pytest.approx(each, rel=1e-6)
    assert found.worst_error < 1e-6


def test_the_worst_error_is_that_of_the_worst_point() -> None:
    points = [Point(rows, rows, 1, 0, 0, 1, seconds) for rows, seconds in ((1, 1.0), (10**6, 1.0), (10**8, 9.0))]
    points.append(dataclasses.replace(points[0], core_seconds=4.0))
    found = fit(points)
    assert found.worst_error == pytest.approx(max(abs(found.error(point)) for point in points))
    assert found.worst_error > 0.1


def test_the_points_are_those_of_the_file(report: dict[str, Any]) -> None:
    points = points_of(report)
    reads = round(report["largest"][1]["podium"]["kept_reads"])
    assert [(point.rows, point.items, point.rounds) for point in points] == [
        (3_000, 50, 0), (3_000, 50, reads), (2_000, 50, 0), (3_000, 3_000, 0), (3_000, 3_000, 0),
    ]  # fmt: skip
    assert [point.leaving for point in (points[0], *points[2:])] == [50, 50, 101, 1_001]
    assert points[1].read == reads * report["largest"][1]["pairs"]


def test_the_page_says_what_the_file_says(report: dict[str, Any], tmp_path: Path) -> None:
    report["machine"]["commit"] = "abc1234"
    (tmp_path / "scale.json").write_text(json.dumps(report), encoding="utf-8")
    kept = tmp_path / "results" / "scale.json"
    files = ["--kept", str(kept), "--publish", str(tmp_path)]
    assert page.main(["--results", str(tmp_path / "scale.json"), *files]) == 0
    text = (tmp_path / page.PAGE).read_text(encoding="utf-8")
    (table,) = report["tables"]
    assert f"| 2,000 | {ONE_QUERY} | 500 | 50 | {table['pairs']:,} | - |" in text
    assert f"| 3,000 | {ROUNDS} | 500 | 50 | {report['largest'][1]['pairs']:,} | 128MB |" in text
    assert text.count("| 2,000 | sums, ") == text.count("| 2,000 | groups, ") == 2
    assert f"| 1,000,000,000,000 | 20 | {page._median(report['domains'][1]['seconds']):.2f} |" in text
    assert "Spark: not measured, not part of the tiny mode." in text
    assert f"{report['ledgers'][0]['bytes_per_entry']:,.0f}" in text
    assert f"at worst {fit(points_of(report)).worst_error:.0%}" in text
    # Every table is followed by what measured it.
    lines = text.splitlines()
    ends = [place for place, line in enumerate(lines) if line.startswith("|") and not lines[place + 1].startswith("|")]
    assert {lines[place + 2] for place in ends} == {"`python -m bench scale`, commit abc1234."}
    assert len(ends) == 9
    # What the page was written from is kept, and the page is the same from there.
    assert page.main(["--results", str(tmp_path / "none.json"), *files]) == 0
    assert (tmp_path / page.PAGE).read_text(encoding="utf-8") == text


def test_a_run_that_was_cut_short_has_a_page(report: dict[str, Any]) -> None:
    parts: dict[str, list[Any]] = {part: [] for part in run.PARTS}
    cut = {**report, **parts, "absent": {"ledgers": "not part of this run"}, "unfinished": ["k_bars", "servers"]}
    text = page.render({**cut, "largest": report["largest"]})
    assert "The run has not ended: k bars, servers are still missing." in text
    assert f"| 3,000 | {ROUNDS} |" in text
    assert "ledgers: not measured, not part of this run." in text
    assert "## Groups" not in text
    assert "## Rows" not in page.render({**report, **parts})


def test_the_page_of_the_documentation_is_written_from_what_is_kept() -> None:
    kept = ROOT / page.DEFAULT_KEPT
    text = (ROOT / "docs" / page.PAGE).read_text(encoding="utf-8")
    assert text == page.render(json.loads(kept.read_text(encoding="utf-8")))


def test_no_file_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = ["--results", str(tmp_path / "none.json"), "--kept", str(tmp_path / "none.json")]
    assert page.main([*missing, "--publish", str(tmp_path)]) == 1
    assert "no page written" in capsys.readouterr().out


@pytest.mark.parametrize("engine", SHOWN)
def test_the_sql_on_the_page_is_read_back_in_its_dialect(engine: str) -> None:
    """Word for word what the builder writes now, and sqlglot understands every word of it."""
    text = (ROOT / "docs" / page.PAGE).read_text(encoding="utf-8")
    section = text.partition(f"### {engine}\n")[2].partition("\n#")[0]
    shown = list(statements(SHOWN[engine]))
    assert len(shown) == 3
    for what, sql in shown:
        assert f"{what[0].upper()}{what[1:]}:\n\n```text\n{sql}\n```\n" in section
        tree = sqlglot.parse_one(sql, read=SHOWN[engine].name, error_level=sqlglot.ErrorLevel.RAISE)
        assert tree.sql(SHOWN[engine].name) == sql
        assert not list(tree.find_all(sqlglot.exp.Command))
        assert "COUNT(DISTINCT" not in sql

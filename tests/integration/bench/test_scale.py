"""The scale bench measures what it says, its model finds what it was made from, its page says what its file says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from bench.scale import child, page, run
from bench.scale.data import Table, wide
from bench.scale.model import Model, Point, fit, points_of
from bench.scale.sql import SHOWN, statements

ROOT = Path(__file__).parents[3]
SMALL = Table(2_000, 500, 50)
TINY = run.Plan(
    mode="tiny",
    tables=(run.Sized(SMALL, "128MB", 2),),
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


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        # The same work without a process for each question, most of which is importing.
        patch.setattr(run, "_child", child.measured)
        found = run.run(TINY, tmp_path_factory.mktemp("data"))
    # As a file keeps it.
    kept: dict[str, Any] = json.loads(json.dumps(found))
    return kept


def test_every_part_is_measured(report: dict[str, Any]) -> None:
    (table,) = report["tables"]
    assert (table["rows"], table["memory_limit"]) == (2_000, "128MB")
    assert 0 < table["pairs"] <= 2_000
    for who in ("plain", "podium"):
        assert len(table[who]["seconds"]) == len(table[who]["processor_seconds"]) == 2
        assert table[who]["rss_peak"] > 0
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


def test_a_question_in_a_process_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = SMALL.folder(tmp_path)
    child.main([json.dumps({"who": "plain", "folder": str(folder)})])
    assert set(json.loads(capsys.readouterr().out)) == {
        "seconds", "processor_seconds", "rss_before", "rss_peak", "spilled_bytes",
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


def test_the_fit_finds_the_coefficients() -> None:
    each = {"rows": 2e-8, "pairs": 3e-8, "items": 5e-7, "leaving": 8e-6}
    truth = Model(0.25, each, 0, 0.0)
    sizes = [
        {"rows": 10**rows, "pairs": 10**rows // part, "items": 10**items, "leaving": leaving}
        for rows in (5, 7, 9) for part in (1, 7) for items in (2, 4) for leaving in (10, 10**6)
    ]  # fmt: skip
    found = fit([Point(**size, core_seconds=truth.core_seconds(**size)) for size in sizes])
    assert found.fixed == pytest.approx(truth.fixed, rel=1e-6)
    assert found.each == pytest.approx(each, rel=1e-6)
    assert found.worst_error < 1e-6


def test_the_points_are_those_of_the_file(report: dict[str, Any]) -> None:
    points = points_of(report)
    assert [(point.rows, point.items, point.leaving) for point in points] == [
        (2_000, 50, 50), (3_000, 3_000, 101), (3_000, 3_000, 1_001),
    ]  # fmt: skip


def test_the_page_says_what_the_file_says(report: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "scale.json").write_text(json.dumps(report), encoding="utf-8")
    assert page.main(["--results", str(tmp_path / "scale.json"), "--publish", str(tmp_path)]) == 0
    text = (tmp_path / page.PAGE).read_text(encoding="utf-8")
    (table,) = report["tables"]
    assert f"| 2,000 | 500 | 50 | {table['pairs']:,} | 128MB |" in text
    assert f"| 1,000,000,000,000 | 20 | {page._median(report['domains'][1]['seconds']):.2f} |" in text
    assert "Spark: not measured, not part of the tiny mode." in text
    assert f"{report['ledgers'][0]['bytes_per_entry']:,.0f}" in text


def test_no_file_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert page.main(["--results", str(tmp_path / "none.json"), "--publish", str(tmp_path)]) == 1
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

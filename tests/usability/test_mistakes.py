"""The mistakes that new users make, and the exact words that each of them gets: ``mistakes.txt`` is the transcript."""

from __future__ import annotations

import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tests.support.command_line import ASK, create_budget, podium, succeeded, write_views

from podium.errors.installing import install_command

TRANSCRIPT = (Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8")
MISTAKES = re.findall(r"^# (.+)\n\$ podium (.+)\n((?:.+\n)+?)\[exit (\d+)\]$", TRANSCRIPT, flags=re.MULTILINE)


def prepare(folder: Path) -> None:
    """Everything that the commands of the transcript find, or nearly find."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_views(folder)
        Path("data").mkdir()
        Path("notes.txt").write_text("hello", encoding="utf-8")
        Path("articles.csv").write_text("article\narticle-0\narticle-1\n", encoding="utf-8")
        Path("pipes.csv").write_text('user_id,article\n1,"5" pipe"\n2,pipe\n', encoding="utf-8")
        Path("windows.csv").write_text("user_id,article\n1,pipe\n2,caf\u00e9\n", encoding="windows-1252")
        Path("empty.csv").write_text("", encoding="utf-8")
        Path("twice.csv").write_text("user_id,article,article\n1,pipe,pipe\n", encoding="utf-8")
        Path("ragged.csv").write_text("user_id,article\n1,pipe\n2\n", encoding="utf-8")
        Path("sheet.xlsx").write_bytes(b"PK")
        Path("table.feather").write_bytes(b"ARROW1")
        Path("answer.csv").write_text("kept", encoding="utf-8")
        Path("views.zip").write_bytes(b"PK")
        Path("views.sas7bdat").write_bytes(b"")
        Path("unicode.csv").write_text("user_id,article\n1,pipe\n", encoding="utf-16")
        Path("really.csv").write_bytes(b"PK\x03\x04\xff\xfe")
        with closing(sqlite3.connect("shop.db")) as lite:
            lite.execute("CREATE TABLE orders (user_id INT, article TEXT)")
            lite.execute("CREATE TABLE returns (user_id INT, article TEXT)")
        Path("plain.csv").write_text("4711,pipe\n4712,pipe\n", encoding="utf-8")
        with duckdb.connect("shop.duckdb") as database:
            database.execute("CREATE TABLE orders (user_id INT, article TEXT)")
            database.execute("CREATE TABLE returns (user_id INT, article TEXT)")
        create_budget(items=3)
        succeeded("top", "views.parquet", *ASK, "--ledger", "ledger.db", "--dataset", "views", "-k", "3")
        Path("ledger.db").rename("spent.db")
        create_budget()


def said(*arguments: str) -> tuple[int, str]:
    """The exit code and stderr; nothing is on stdout."""
    ran = podium(*arguments, "--quiet")
    assert ran.stdout == ""
    return ran.exit_code, ran.stderr


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("mistakes")
    prepare(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("PODIUM_LEDGER", raising=False)
        yield folder


def test_the_transcript_was_read() -> None:
    assert len(MISTAKES) == TRANSCRIPT.count("\n$ ") >= 60
    assert TRANSCRIPT.count("[exit ") == len(MISTAKES)


@pytest.mark.parametrize(
    ("command", "words", "code"), [rest for _, *rest in MISTAKES], ids=[name for name, *_ in MISTAKES]
)
def test_a_mistake_gets_these_words(command: str, words: str, code: str, prepared: Path) -> None:
    before = sorted(path.name for path in prepared.iterdir())
    exit_code, text = said(*shlex.split(command))
    assert text == words
    assert exit_code == int(code)
    assert sorted(path.name for path in prepared.iterdir()) == before


def test_words_are_at_most_three_lines_and_hold_no_secrets() -> None:
    for _, _, words, _ in MISTAKES:
        first, *others = words.splitlines()
        assert re.match(r"[A-Z][A-Za-z]+: ", first)
        assert len(others) <= 2
        assert all(line.startswith("  ") for line in others)
        assert "secret" not in words


def test_an_engine_whose_library_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("podium.sources.postgresql.source")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    total = ("--epsilon", "1", "--delta", "1e-6")
    code, text = said("top", "postgresql://me@localhost/shop", "--table", "orders", *ASK, *total)
    assert code == 4
    assert text == (
        "SourceUnavailable: This source needs 'psycopg', which is not installed.\n"
        f"  Run: {install_command('postgresql')}\n"
    )

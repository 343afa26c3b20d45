"""What a new user meets first: the columns of a file, tables from a pipe, files for answers, and the shell's help."""

from __future__ import annotations

import bz2
import json
import shlex
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.command_line import ASK, RANKED, TOTAL, create_budget, document, podium, succeeded
from typer._completion_classes import BashComplete
from typer.main import get_command

from podium import Release
from podium.cli.commands import app
from podium.errors import UnknownColumn


def test_a_file_alone_lists_its_columns_and_a_command_that_runs() -> None:
    shown = succeeded("top", "views.parquet")
    lines = shown.splitlines()
    assert lines[:6] == [
        "column   type", "user_id  integer", "article  text", "country  text", "shelf    integer", "score    float",
    ]  # fmt: skip
    command = shlex.split(lines[-1])
    assert command == shlex.split(
        "podium top views.parquet --item article --user user_id -k 10 --epsilon 1 --delta 1e-6"
    )
    assert "   1  article-0\n" in succeeded(*command[1:])


def test_the_command_to_paste_quotes_names_and_keeps_what_was_stated() -> None:
    Path("kunden liste.csv").write_text("Kunden Nr;Produkt Name\n1;B\u00e4r\n", encoding="windows-1252")
    shown = succeeded("top", "kunden liste.csv", "--encoding", "windows-1252")
    assert shown.splitlines()[-1].strip() == (
        "podium top 'kunden liste.csv' --encoding windows-1252 --item 'Produkt Name' --user 'Kunden Nr' -k 10 "
        "--epsilon 1 --delta 1e-6"
    )


def test_listing_columns_reads_a_file_as_a_question_does() -> None:
    refused = podium("top", "nothing.csv")
    assert (refused.exit_code, refused.stdout) == (4, "")
    assert "is not a file" in refused.stderr


def test_everything_that_is_missing_is_named_at_once() -> None:
    refused = podium("top", "--item", "article")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Usage: Missing SOURCE, --user, --epsilon, --delta.\n")
    domain = podium("top", "views.parquet", *ASK, "--domain-size", "4")
    assert domain.stderr.startswith("Usage: Missing --epsilon.\n")
    create_budget()
    under = podium("top", "views.parquet", "--item", "article", "--ledger", "ledger.db", "--dataset", "views")
    assert under.stderr.startswith("Usage: Missing --user.\n")


def test_a_table_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    text = Path("views.csv").read_text(encoding="utf-8")
    assert "   1  article-0\n" in succeeded("top", "-", *ASK, *TOTAL, "-k", "2", text=text)
    sql = "SELECT article FROM stdin GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2"
    assert "   2  article-1\n" in succeeded("sql", sql, "--source", "-", "--user", "user_id", *TOTAL, text=text)
    rows = [json.dumps({"user_id": str(user), "article": "news"}) for user in range(400)]
    assert "   1  news\n" in succeeded("top", "-", *ASK, *TOTAL, "-k", "1", text="\n".join(rows))
    named = "BZh,article\n" + "\n".join(f"{user},news" for user in range(400))
    looks_compressed = ("--item", "article", "--user", "BZh", *TOTAL, "-k", "1")
    assert "   1  news\n" in succeeded("top", "-", *looks_compressed, text=named)
    refused = podium("top", "-", *ASK, *TOTAL, text="")
    assert (
        refused.stderr.splitlines()[-3] == "SourceUnavailable: source='standard input' is empty: it has no first line."
    )
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "begins"), [("csv", '"rank","article"\n'), ("json", "{"), ("md", "| rank | article |\n")]
)
def test_the_ending_of_a_file_says_its_format(ending: str, begins: str) -> None:
    path = Path(f"answer.{ending}")
    succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "-o", str(path))
    assert path.read_text(encoding="utf-8").startswith(begins)


def test_parquet_by_its_ending_and_a_stated_format_first() -> None:
    succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "-o", "answer.parquet")
    succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "-o", "answer.xlsx", "-f", "csv")
    assert Path("answer.xlsx").read_text(encoding="utf-8").startswith('"rank"')
    assert Path("answer.parquet").read_bytes().startswith(b"PAR1")
    succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "-o", "answer.csv", "-f", "json")
    assert Release.from_json(Path("answer.csv").read_text(encoding="utf-8")).items == tuple(RANKED[:2])


def test_a_file_is_not_overwritten_unless_forced() -> None:
    Path("kept.csv").write_text("kept", encoding="utf-8")
    ask = ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "-o", "kept.csv")
    refused = podium(*ask)
    assert (refused.exit_code, Path("kept.csv").read_text(encoding="utf-8")) == (2, "kept")
    assert "add --force" in refused.stderr
    succeeded(*ask, "--dry-run")
    assert Path("kept.csv").read_text(encoding="utf-8") == "kept"
    succeeded(*ask, "--force")
    assert Path("kept.csv").read_text(encoding="utf-8").startswith('"rank"')


def test_forcing_a_file_does_not_let_another_table_under_a_budget() -> None:
    create_budget()
    Path("other.parquet").write_bytes(Path("views.parquet").read_bytes())
    ask = ("top", "other.parquet", *ASK, "-k", "2", "--ledger", "ledger.db", "--dataset", "views")
    refused = podium(*ask, "--force")
    assert refused.exit_code == 2
    assert "--copy" in refused.stderr
    assert "article-0" in succeeded(*ask, "--copy")


def test_markdown_cannot_be_broken_by_an_item() -> None:
    hostile = "a|b <script> [x](y) `z`"
    rows = "".join(f'{user},"{hostile}"\n' for user in range(500))
    Path("hostile.csv").write_text(f"user_id,article\n{rows}", encoding="utf-8")
    shown = succeeded("top", "hostile.csv", *ASK, *TOTAL, "-k", "1", "-f", "md")
    assert shown.splitlines()[2] == "| 1 | a\\|b \\<script> \\[x](y) \\`z\\` |"


def test_a_file_without_a_header() -> None:
    body = Path("views.csv").read_text(encoding="utf-8").split("\n", 1)[1]
    # A byte order mark belongs to the file and not to its first value.
    Path("bare.csv").write_text(f"\ufeff{body}", encoding="utf-8")
    ask = ("--item", "column2", "--user", "column1", *TOTAL, "-k", "2")
    assert document("release", "top", "bare.csv", "--no-header", *ask)["outcome"] == RANKED[:2]
    assert [line.split()[0] for line in succeeded("top", "bare.csv", "--no-header").splitlines()[1:3]] == [
        "column1", "column2",
    ]  # fmt: skip


def test_the_first_line_counts_where_there_is_no_header() -> None:
    Path("two.csv").write_text("1,a\n2,a\n", encoding="utf-8")
    counted = ("--no-header", "--item", "column2", "--user", "column1", "--epsilon", "1e6", "--delta", "1e-6")
    assert document("release", "top", "two.csv", *counted, "-k", "1", "--counts")["values"] == ["2"]


def test_compressed_text_and_sqlite_files_are_read() -> None:
    content = Path("views.csv").read_bytes()
    Path("views.csv.bz2").write_bytes(bz2.compress(content))
    assert document("release", "top", "views.csv.bz2", *ASK, *TOTAL, "-k", "2")["outcome"] == RANKED[:2]
    with closing(sqlite3.connect("views.db")) as database, database:
        database.execute("CREATE TABLE views (user_id INT, article TEXT)")
        rows = (line.split(",")[:2] for line in content.decode().splitlines()[1:])
        database.executemany("INSERT INTO views VALUES (?, ?)", rows)
    read = document("release", "top", "views.db", "--table", "views", *ASK, *TOTAL, "-k", "2")
    assert read["outcome"] == RANKED[:2]


def completed(line: str) -> list[str]:
    """What the shell offers for the last word of a line."""
    *words, last = line.split(" ")
    found = BashComplete(get_command(app), {}, "podium", "_PODIUM_COMPLETE")
    return [item.value for item in found.get_completions(words, last)]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("top views.csv --item ar", ["article"]),
        ("top views.parquet --item ar", ["article"]),
        ("top views.parquet --item article --user u", ["user_id"]),
        ("top views.csv --by su", [f"sum({name})" for name in ("user_id", "article", "country", "shelf", "score")]),
        ("top views.csv --by e", ["events"]),
        ("top views.csv --per co", ["country"]),
        ("sql SELECT --source views.csv --user us", ["user_id"]),
        ("top broken.csv --item a", []),
        ("top missing.csv --item a", []),
        ("top postgresql://127.0.0.1:1/shop --item a", []),
        ("top - --item a", []),
    ],
)
def test_the_shell_completes_columns_of_files_and_never_asks_a_server(line: str, offered: list[str]) -> None:
    Path("broken.csv").write_text("1,2\n", encoding="utf-8")
    assert completed(line) == offered


def test_a_column_is_suggested_whatever_its_case() -> None:
    assert "Did you mean 'Produkt'?" in str(UnknownColumn("item", "PRODUKT", ("Kunde", "Produkt")))
    assert "Did you mean" not in str(UnknownColumn("item", "weather", ("Kunde", "Produkt")))


def test_a_file_is_served_only_with_all_that_its_first_run_needs() -> None:
    """Nothing is made before everything is said; later runs need nothing, and say nothing else."""
    refused = podium("serve", "views.parquet", "--user", "user_id")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Usage: Missing --epsilon, --delta.")
    assert not Path("views.parquet.podium").exists()
    stated = ("--user", "user_id", "--epsilon", "3", "--delta", "1e-6")
    assert "data sets  views" in succeeded("serve", "views.parquet", *stated, "--check")
    assert "data sets  views" in succeeded("serve", "views.parquet", "--check")
    for arguments, text in (
        (("views.parquet", "--config", "podium.toml"), "nothing beside a file to serve"),
        (("--config", "podium.toml", "--epsilon", "3"), "nothing beside --config"),
        (("views.parquet", "--epsilon", "4"), "3, as it was registered"),
        ((), "a file to serve on this computer, or settings with --config"),
        (("nothing.csv",), "are served with settings in a TOML file"),
    ):
        refused = podium("serve", *arguments)
        assert refused.exit_code == 2
        assert text in refused.stderr, arguments

"""Running podium's commands in this process, on a small table whose order no noise will change."""

from __future__ import annotations

import csv
import functools
import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from podium.cli.commands import app
from podium.sources.parquet import write_parquet

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
RANKED = [f"article-{place}" for place in range(6)]
ASK = ("--item", "article", "--user", "user_id")
TOTAL = ("--epsilon", "5", "--delta", "1e-6")
NEW_BUDGET = ("--ledger", "ledger.db", "--source", "views.parquet", "--user", "user_id", *TOTAL)

# The runner builds all commands anew for each run, which takes longer than most of them.
typer.testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]


def podium(*arguments: str, text: str | None = None) -> Result:
    """Run a command; what it writes is not a terminal."""
    return CliRunner().invoke(app, arguments, input=text, prog_name="podium")


def succeeded(*arguments: str, text: str | None = None) -> str:
    """The output of a command that must work."""
    ran = podium(*arguments, text=text)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def document(schema: str, *arguments: str, text: str | None = None) -> Any:
    """The JSON that a command prints, checked against its schema."""
    printed = json.loads(succeeded(*arguments, "--format", "json", text=text))
    check(schema, printed)
    return printed


def check(schema: str, printed: Any) -> None:
    rules = json.loads((SCHEMAS / f"{schema}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(rules)
    jsonschema.Draft202012Validator(rules).validate(printed)


def write_views(folder: Path) -> None:
    """views.parquet and views.csv: article-i has 3000 - 500 i readers, one in ten of them in France."""
    rows = [
        (user, article, "FR" if user % 10 == 0 else "DE", user % 4, user / 2)
        for place, article in enumerate(RANKED)
        for user in range(3000 - 500 * place)
    ]
    names = ("user_id", "article", "country", "shelf", "score")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    write_parquet(columns, folder / "views.parquet")
    with (folder / "views.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def create_budget(name: str = "views", *extra: str, source: str = "views.parquet", items: int = 20) -> None:
    """Register a data set in ledger.db."""
    succeeded(
        "budget", "create", name, "--ledger", "ledger.db", "--source", source, "--user", "user_id", "--epsilon", "5",
        "--delta", "1e-6", "--items", str(items), "--questions", "4", *extra,
    )  # fmt: skip


@pytest.fixture(scope="session")
def views(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the small table is kept."""
    kept = tmp_path_factory.mktemp("views")
    write_views(kept)
    return kept


@pytest.fixture(autouse=True)
def folder(views: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder: empty but for views.parquet and views.csv."""
    for name in ("views.parquet", "views.csv"):
        shutil.copy(views / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PODIUM_LEDGER", raising=False)
    return tmp_path

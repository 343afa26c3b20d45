"""Every block of code on every page is run, from top to bottom, and what the page shows is what happens."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support import mariadb, postgres
from tests.support.clickhouse import served_clickhouse
from tools.pages import Mismatch, blocks_of, picture_names, run_page

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
GENERATED = ("reference/cli.md", "reference/mechanisms.md", "reference/python.md")
ELSEWHERE = {"audit.md": ROOT / "tests" / "integration" / "audit" / "test_pages.py"}
"""Pages that need more than running, with the test that runs them."""

SERVERS = {
    "how-to/clickhouse.md": ("CLICKS", served_clickhouse),
    "how-to/mariadb.md": ("SHOP", mariadb.new_database),
    "how-to/postgresql.md": ("SHOP", postgres.new_database),
}
"""Pages whose commands reach a real server: the variable that says where it is, and what starts it."""

NOT_RUN = {
    "how-to/agents.md": 1,
    "how-to/clickhouse.md": 2,
    "how-to/mariadb.md": 2,
    "how-to/postgresql.md": 1,
    "how-to/release.md": 4,
    "how-to/schedules.md": 3,
    "how-to/snowflake.md": 1,
    "how-to/spark.md": 2,
    "how-to/sqlalchemy.md": 1,
    "install.md": 3,
    "pictures.md": 1,
    "service.md": 5,
}
"""How many blocks of a page are marked as not run."""

GALLERY = {"budget", "composition", "counts", "fewer", "profile", "ranking", "recall"}
"""What ``python -m tools.pictures`` draws."""


def name(page: Path) -> str:
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def runnable(page: Path) -> bool:
    if name(page) in (*GENERATED, *ELSEWHERE):
        return False
    found = list(blocks_of(page.read_text(encoding="utf-8")))
    return any(block.skipped is None and (block.language != "text" or block.marker) for block in found)


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=name)
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    with ExitStack() as servers:
        variables = {}
        if needed := SERVERS.get(name(page)):
            variable, start = needed
            variables[variable] = servers.enter_context(start())
        run_page(page, tmp_path, variables=variables)
    made = {path.name for path in tmp_path.glob("*.png")}
    for picture in picture_names(page.read_text(encoding="utf-8")):
        assert picture in made or Path(picture).stem.removesuffix("-dark") in GALLERY


def test_what_is_not_run_is_counted() -> None:
    skipped = {}
    for page in PAGES:
        blocks = list(blocks_of(page.read_text(encoding="utf-8")))
        if count := sum(block.skipped is not None for block in blocks):
            skipped[name(page)] = count
    assert skipped == NOT_RUN


def test_pages_that_are_run_elsewhere_are() -> None:
    for page, test in ELSEWHERE.items():
        assert f'"{page}"' in test.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```console\n$ podium --version\npodium 9\n```", "prints\npodium "),
        ("```console\n$ podium top missing.csv --item a --user b --epsilon 1 --delta 1e-6\n```", "exits with 4"),
        ("```console\n$ rm -rf site\n```", "'rm' is not run here"),
        ("```console\npodium --version\n```", "begins with a command"),
        ("```bash\npodium serve\n```", "a block of bash that nobody runs"),
        ('```python\nprint("a")\n```\n\n<!-- output -->\n```text\nb\n```', "prints\na\n"),
        ("<!-- noise -->\n```text\n```", "the marker 'noise' is not known"),
        ("<!-- noisy -->\n```console\n$ podium --version\npodium 1 2\n```", "prints\npodium "),
    ],
)
def test_a_page_that_is_wrong_is_found(text: str, problem: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Mismatch) as raised:
        run_page(page, folder)
    assert problem in str(raised.value)


def test_dots_and_noise_stand_for_anything(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    noisy = "<!-- noisy -->\n```console\n$ podium --version\npodium 7\n```\n"
    page.write_text(f"{noisy}```console\n$ podium --help\nUsage: ...\n...\n```\n", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    run_page(page, folder)

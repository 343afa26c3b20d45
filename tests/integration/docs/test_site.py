"""The site builds without a complaint, and its pages, links and pictures hang together."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a copy: whatever is in site/ stays as it is."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    ran = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, "No issues found" in ran.stdout + ran.stderr) == (0, True), ran.stdout + ran.stderr
    return folder / "site"


def listed(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else []
    return [page for part in parts for page in listed(part)]


def test_every_page_is_in_the_navigation_once() -> None:
    nav = listed(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    assert sorted(nav) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_every_page_is_built(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        built = site / ("index.html" if name.name == "index" else f"{name}/index.html")
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition("`")[0]
        assert "<h1" in built.read_text(encoding="utf-8"), name
        assert title, name


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def test_links_to_headings_find_them(site: Path) -> None:
    """The builder checks pages; this checks the part after #."""
    missing = []
    for page in DOCS.rglob("*.md"):
        for target, anchor in re.findall(r"\]\(([^):#]*\.md)#([\w-]+)\)", page.read_text(encoding="utf-8")):
            name = (page.parent / target).resolve().relative_to(DOCS).with_suffix("").as_posix()
            if f'id="{anchor}"' not in (site / name / "index.html").read_text(encoding="utf-8"):
                missing.append((page.name, target, anchor))
    assert missing == []

"""What podium stands on, what is in its wheel, and that the wheel can be made again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from tools.fuzz import TARGETS
from tools.sbom import document

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9-]+", requirement)
    assert found is not None
    return found.group()


def rows(page: str, heading: str) -> list[list[str]]:
    part = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_dependency_has_its_row_and_no_other() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    always, extra = rows(page, "Always"), rows(page, "With an extra")
    assert [row[0] for row in always] == sorted(name_of(one) for one in PROJECT["dependencies"])
    wanted: dict[str, set[str]] = {}
    for extra_name, requirements in PROJECT["optional-dependencies"].items():
        for requirement in requirements:
            wanted.setdefault(name_of(requirement), set()).add(extra_name)
    assert {row[0]: set(row[1].split(", ")) for row in extra} == wanted
    assert all(all(row) for row in (*always, *extra))


def test_make_demo_installs_what_the_readme_uses() -> None:
    makefile, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "README.md"))
    (installed,) = re.findall(r"install --editable '\.\[(.+)\]'", makefile)
    used = {"plot": "--plot", "service": "podium serve", "postgresql": "postgresql://", "pandas": "pandas()  "}
    assert set(installed.split(",")) == {extra for extra, sign in used.items() if sign in readme}


def test_the_bill_of_materials() -> None:
    made = document()
    names = {component["name"].lower() for component in made["components"]}
    assert {name_of(one) for one in PROJECT["dependencies"]} <= names
    known = {component["bom-ref"] for component in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
    assert all(ref in known for one in made["dependencies"] for ref in (one["ref"], *one["dependsOn"]))
    assert made == document()


def built(folder: Path) -> bytes:
    """The wheel of a fresh copy of the source, whose files are as new as the copy."""
    source = folder / "source"
    shutil.copytree(
        ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(
        command, cwd=source, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    )
    (wheel,) = folder.glob("*.whl")
    return wheel.read_bytes()


def test_the_wheel_is_the_same_again(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert built(first) == built(second)
    (wheel,) = first.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "podium/py.typed" in names
    assert not [name for name in names if not name.startswith(("podium/", "podium_topk-"))]


def test_every_target_of_the_fuzzer_is_a_property() -> None:
    for address in TARGETS.values():
        module, _, name = address.partition(":")
        assert f"def {name}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")

"""What podium stands on, what is in its wheel, and that the wheel can be made again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import partial
from pathlib import Path

from tools.fuzz import TARGETS
from tools.sbom import document

from podium.version import __version__

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


def built(folder: Path) -> dict[str, bytes]:
    """The wheel and the source distribution of a fresh copy of the source, whose files are as new as the copy."""
    source = folder / "source"
    shutil.copytree(
        ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy
    )
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(
        command, cwd=source, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    )
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_wheel_and_sdist_are_the_same_again_and_the_wheel_answers_the_readme(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    found = built(first)
    assert found == built(second)
    assert sorted(found) == [f"podium_topk-{__version__}-py3-none-any.whl", f"podium_topk-{__version__}.tar.gz"]
    wheel = zipfile.ZipFile(first / min(found))
    names = wheel.namelist()
    assert "podium/py.typed" in names
    assert not [name for name in names if not name.startswith(("podium/", "podium_topk-"))]
    answer_readme(wheel, tmp_path / "installed")


def answer_readme(wheel: zipfile.ZipFile, place: Path) -> None:
    """What is in the wheel answers what the README asks; the libraries are ours, podium is the wheel's."""
    wheel.extractall(place)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    asked = next(block for block in blocks if 'podium.top("orders.csv"' in block)
    program = f"import podium; assert podium.__file__.startswith({str(place)!r}), podium.__file__\n{asked}"
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    run = partial(subprocess.run, cwd=place, check=True, capture_output=True, text=True, env=environment)
    run([sys.executable, str(ROOT / "examples" / "make_orders.py"), "orders.csv"])
    assert "customer" in run([sys.executable, "-c", program]).stdout
    shown = run([sys.executable, "-m", "podium", "demo"]).stdout
    assert "epsilon 1" in shown
    assert __version__ in run([sys.executable, "-m", "podium", "--version"]).stdout


def test_every_target_of_the_fuzzer_is_a_property() -> None:
    for address in TARGETS.values():
        module, _, name = address.partition(":")
        assert f"def {name}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")

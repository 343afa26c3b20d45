"""The architecture page shows the packages and the imports that the code has now."""

from __future__ import annotations

import ast
import re
import tomllib
from itertools import accumulate
from pathlib import Path

from tools.architecture import PAGE, PICTURE, arrows, page, picture

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "podium"
CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
EXCEPTED = CONTRACT["ignore_imports"]
SIZE = 400
"""How many lines a file of Python may have."""


def test_the_page_and_its_picture_are_current() -> None:
    # If they are not: python -m tools.architecture
    assert PAGE.read_text(encoding="utf-8") == page()
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_the_packages_shown_are_the_layers_of_the_contract_and_the_folders_of_podium() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \S", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rows == CONTRACT["layers"]
    boxes = re.findall(r">(\w+)</text>", PICTURE.read_text(encoding="utf-8"))
    assert boxes == CONTRACT["layers"]
    assert set(boxes) == {path.stem for path in SOURCE.iterdir() if path.is_dir() or path.suffix == ".py"} - {
        "__init__",
        "__main__",
        "__pycache__",
    }


def test_whoever_imports_whom_is_joined_by_arrows_and_nobody_else() -> None:
    """Read a second time, from the text of the modules: along arrows one gets exactly as far as along imports."""
    drawn = arrows()
    assert len(set(drawn)) == PICTURE.read_text(encoding="utf-8").count('class="arrow"')
    assert reached(set(drawn)) == reached(imported())


def test_no_arrow_could_be_left_out() -> None:
    for arrow in arrows():
        assert arrow not in reached(set(arrows()) - {arrow})


def test_files_that_the_page_names_exist() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]*)?(?:\.py)?)`", PAGE.read_text(encoding="utf-8"))
    places = (SOURCE, ROOT, ROOT / "tests")
    assert len(named) > 40
    assert [
        name for name in named if not any((at / name).exists() or (at / f"{name}.py").exists() for at in places)
    ] == []


def test_no_file_grows_too_long() -> None:
    folders = ("bench", "examples", "reproduce", "src", "tests", "tools")
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
    }
    assert len(lengths) > 400
    assert {name: length for name, length in lengths.items() if length > SIZE} == {}


def imported() -> set[tuple[str, str]]:
    """Pairs of packages of which the first imports the second, without the listed exceptions."""
    pairs = set()
    for path in SOURCE.glob("*/**/*.py"):
        pairs |= {(path.relative_to(SOURCE).parts[0], name) for name in packages_imported(path)}
    for path in SOURCE.glob("*.py"):
        pairs |= {(path.stem, name) for name in packages_imported(path)}
    return {(start, end) for start, end in pairs if start != end and start in CONTRACT["layers"]}


def packages_imported(path: Path) -> set[str]:
    """The packages that a module imports, at its top or inside a function."""
    found = set()
    module = path.relative_to(SOURCE.parent).with_suffix("").as_posix().replace("/", ".")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{each.name}" for each in node.names}
        else:
            continue
        found |= {name for name in named if not any(f"{module} -> {way}" in EXCEPTED for way in prefixes(name))}
    return {name.split(".")[1] for name in found if name.startswith("podium.")} & set(CONTRACT["layers"])


def prefixes(name: str) -> list[str]:
    """``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``."""
    return list(accumulate(name.split("."), "{}.{}".format))


def reached(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs that are joined by a path of any length."""
    while longer := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | longer
    return pairs

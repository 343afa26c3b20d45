"""The packages of podium, read from the code: ``python -m tools.architecture`` writes docs/architecture.md and .svg.

The order of the packages is that of the layers in the import contract of pyproject.toml, a package's purpose is the
first sentence of its docstring, and the imports are those that import-linter sees. The prose of the page is written by
hand: only the text between the two markers is replaced.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grimp
from tools.arrows import drawing

__all__ = ["PAGE", "PICTURE", "Package", "arrows", "packages", "page", "picture"]

ROOT = Path(__file__).resolve().parents[1]
ROOT_PACKAGE = "podium"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = PAGE.with_suffix(".svg")
BEGIN = "<!-- made by python -m tools.architecture: begin -->"
END = "<!-- made by python -m tools.architecture: end -->"


@dataclass(frozen=True, slots=True)
class Package:
    """A top-level package or module of podium: its purpose, and which packages and libraries it imports."""

    name: str
    purpose: str
    imports: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def reach(self) -> set[str]:
        """Every package that it depends on, directly or indirectly."""
        found = set(self.imports)
        for name in self.imports:
            found |= _by_name()[name].reach
        return found


@cache
def packages() -> tuple[Package, ...]:
    """The packages in the order of the layers contract: each imports only from those after it."""
    graph = grimp.build_graph(ROOT_PACKAGE, include_external_packages=True)
    names = _contracts()[0]["layers"]
    excepted = {tuple(each.split(" -> ")) for each in _contracts()[0]["ignore_imports"]}
    own: dict[str, set[str]] = {name: set() for name in names}
    outside: dict[str, set[str]] = {name: set() for name in names}
    for importer in sorted(graph.modules):
        if (package := _package(importer)) not in own:
            continue
        for imported in graph.find_modules_directly_imported_by(importer):
            if _package(imported) in own and (importer, imported) not in excepted:
                own[package].add(_package(imported))
            elif not imported.startswith(ROOT_PACKAGE) and imported not in sys.stdlib_module_names:
                outside[package].add(imported)
    return tuple(
        Package(
            name, _purpose(name), tuple(one for one in names if one in own[name] - {name}), tuple(sorted(outside[name]))
        )
        for name in names
    )


def arrows() -> list[tuple[str, str]]:
    """The transitive reduction of the imports: no arrow where a longer path leads to the same package."""
    return [
        (package.name, name)
        for package in packages()
        for name in package.imports
        if not any(name in _by_name()[other].reach for other in package.imports)
    ]


def page() -> str:
    """The page as it should be: the prose as it stands, the rest from the code."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_table()}\n{_exceptions()}\n{_others()}\n{END}{after}"


def picture() -> str:
    """The diagram, as SVG."""
    return drawing([package.name for package in packages()], arrows(), title="The packages of podium and their imports")


def _table() -> str:
    rows = (
        f"| `{one.name}` | {one.purpose} | {', '.join(one.imports) or 'none'} | {', '.join(one.libraries)} |"
        for one in packages()
    )
    return "\n".join(["| package | purpose | packages it imports | libraries |", "|---|---|---|---|", *rows, ""])


def _exceptions() -> str:
    listed = (f"- `{each}`" for each in _contracts()[0]["ignore_imports"])
    return "\n".join(["The only upward imports are these. None of them runs when podium is imported:", "", *listed, ""])


def _others() -> str:
    named = (f"- {contract['name']}." for contract in _contracts()[1:])
    return "\n".join(["The other contracts:", "", *named, ""])


@cache
def _contracts() -> list[dict[str, list[str]]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, list[str]]] = settings["tool"]["importlinter"]["contracts"]
    return contracts


@cache
def _by_name() -> dict[str, Package]:
    return {package.name: package for package in packages()}


def _package(module: str) -> str:
    """The package of a module; empty for ``podium`` itself and for modules of other projects."""
    root, *inside = module.split(".")
    return inside[0] if root == ROOT_PACKAGE and inside else ""


def _purpose(name: str) -> str:
    home = ROOT / "src" / ROOT_PACKAGE / name
    source = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("``", "`")


def main() -> int:
    """Write the page and its picture."""
    PAGE.write_text(page(), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

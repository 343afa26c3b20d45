"""The rooms of the package, read off the code: ``python -m tools.architecture`` writes docs/architecture.md and .svg.

The order of the rooms is the import contract in pyproject.toml, what lives in a room is the first sentence of its
docstring, and who imports whom is what import-linter itself sees. The page's prose is written by hand: only what
stands between the two markers is replaced.
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

__all__ = ["PAGE", "PICTURE", "Room", "arrows", "page", "picture", "rooms"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "podium"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = PAGE.with_suffix(".svg")
BEGIN = "<!-- made by python -m tools.architecture: begin -->"
END = "<!-- made by python -m tools.architecture: end -->"


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or file of the package: what it is for, which rooms and which libraries it imports."""

    name: str
    purpose: str
    imports: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def reach(self) -> set[str]:
        """Every room that it rests on, directly or through others."""
        found = set(self.imports)
        for name in self.imports:
            found |= _by_name()[name].reach
        return found


@cache
def rooms() -> tuple[Room, ...]:
    """The rooms in the order of the contract: each imports only from those after it."""
    graph = grimp.build_graph(PACKAGE, include_external_packages=True)
    names = _contracts()[0]["layers"]
    excepted = {tuple(each.split(" -> ")) for each in _contracts()[0]["ignore_imports"]}
    own: dict[str, set[str]] = {name: set() for name in names}
    outside: dict[str, set[str]] = {name: set() for name in names}
    for importer in sorted(graph.modules):
        if (room := _room(importer)) not in own:
            continue
        for imported in graph.find_modules_directly_imported_by(importer):
            if _room(imported) in own and (importer, imported) not in excepted:
                own[room].add(_room(imported))
            elif not imported.startswith(PACKAGE) and imported not in sys.stdlib_module_names:
                outside[room].add(imported)
    return tuple(
        Room(
            name, _purpose(name), tuple(one for one in names if one in own[name] - {name}), tuple(sorted(outside[name]))
        )
        for name in names
    )


def arrows() -> list[tuple[str, str]]:
    """The imports that the others follow from: an arrow is left out where a longer way leads to the same room."""
    return [
        (room.name, name)
        for room in rooms()
        for name in room.imports
        if not any(name in _by_name()[other].reach for other in room.imports)
    ]


def page() -> str:
    """The page as it should be: its prose as it is, the rest from the code."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_table()}\n{_exceptions()}\n{_others()}\n{END}{after}"


def picture() -> str:
    """The diagram, as SVG."""
    return drawing([room.name for room in rooms()], arrows(), title="The rooms of podium, and which rests on which")


def _table() -> str:
    rows = (
        f"| `{room.name}` | {room.purpose} | {', '.join(room.imports) or 'none'} | {', '.join(room.libraries)} |"
        for room in rooms()
    )
    return "\n".join(["| room | what lives there | rooms it imports | libraries |", "|---|---|---|---|", *rows, ""])


def _exceptions() -> str:
    listed = (f"- `{each}`" for each in _contracts()[0]["ignore_imports"])
    return "\n".join(["Upwards go only these imports, none of which runs when the package is loaded:", "", *listed, ""])


def _others() -> str:
    named = (f"- {contract['name']}." for contract in _contracts()[1:])
    return "\n".join(["The other contracts:", "", *named, ""])


@cache
def _contracts() -> list[dict[str, list[str]]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, list[str]]] = settings["tool"]["importlinter"]["contracts"]
    return contracts


@cache
def _by_name() -> dict[str, Room]:
    return {room.name: room for room in rooms()}


def _room(module: str) -> str:
    """The room of a module; nothing for the package itself and for what is not ours."""
    package, *inside = module.split(".")
    return inside[0] if package == PACKAGE and inside else ""


def _purpose(name: str) -> str:
    home = ROOT / "src" / PACKAGE / name
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

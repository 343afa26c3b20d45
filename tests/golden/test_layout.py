"""Where files lie: families are folders, names stand once, files stay readable."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import podium

PACKAGE = Path(podium.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
PARTS_OF_ENGINES = {"source", "connection", "catalog", "types", "dialect"}
MAX_LINES = 400


def test_no_family_of_names_lies_flat_in_one_folder() -> None:
    families: dict[tuple[Path, str], list[str]] = defaultdict(list)
    for path in FILES:
        families[path.parent, path.stem.partition("_")[0]].append(path.name)
    assert [names for names in families.values() if len(names) > 2] == []


def test_a_file_name_stands_once_but_for_the_parts_of_engines() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        places[path.stem].append(str(path.relative_to(PACKAGE)))
    assert {stem: found for stem, found in places.items() if len(found) > 1 and stem not in PARTS_OF_ENGINES} == {}
    assert all(found.startswith("sources/") for stem in PARTS_OF_ENGINES for found in places[stem])


def test_files_are_short_enough_to_read() -> None:
    lengths = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}

"""The reference of the library is what the code says now."""

from __future__ import annotations

import pytest
from tools.reference import FOLDER, PAGES

import podium
from podium.mechanisms.catalogue import catalogue


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    # If it is not: python tools/reference.py
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name]()


def test_every_public_name_and_mechanism_is_there() -> None:
    page = (FOLDER / "python.md").read_text(encoding="utf-8")
    table = (FOLDER / "mechanisms.md").read_text(encoding="utf-8")
    for name in set(podium.__all__) - {"BOTTOM", "__version__"}:
        assert f"\n### {name}\n" in page
    for described in catalogue():
        assert described.use
        assert f"\n### {described.name}\n" in page
        assert f"| [{described.name}](python.md#{described.name.lower()}) | " in table

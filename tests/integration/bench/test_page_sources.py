"""Every table of the pages names the command and the commit that its numbers are from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.page import places, write
from bench.page.layout import command_of

ROOT = Path(__file__).parents[3]
KEPT = write.load(ROOT / write.DEFAULT_KEPT)


def below_tables(text: str) -> list[str]:
    """What follows each table of a page; for one that has columns for it, the last of their headings."""
    found, lines = [], text.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("|") and not lines[place + 1].startswith("|"):
            first = max(row for row in range(place) if not lines[row].startswith("|")) + 1
            found.append("commit" if lines[first].endswith("| command | commit |") else lines[place + 2])
    return found


def test_every_table_names_its_command_and_commit() -> None:
    at = {name: {**report, "machine": {"cpus": 3, "commit": f"abc{name}"}} for name, report in KEPT.items()}
    text = write.render(at)
    overview, *sources = below_tables(text)
    assert overview == "commit"
    assert set(sources) == {f"`{command_of(name, report)}`, commit abc{name}." for name, report in at.items()}
    assert "| `python -m bench joint` | abcjoint |" in text
    # A commit is with the tables, and no fact of the machine.
    assert text.count("Machine: cpus 3.\n") == len(KEPT)


def test_what_was_not_recorded_is_not_made_up() -> None:
    before = {name: {**report, "machine": {"cpus": 3}} for name, report in KEPT.items()}
    text = write.render(before)
    assert {line.partition("`, ")[2] for line in below_tables(text)[1:]} == {"commit not recorded."}
    assert "| `python -m bench joint` | not recorded |" in text


@pytest.mark.parametrize("page", [write.PAGE, *dict.fromkeys(name for name, _ in places.PAGES)])
def test_every_table_of_the_documentation_names_its_command_and_commit(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if page != write.PAGE:
        text = "\n".join(re.findall(r"<!-- bench .*?<!-- end -->", text, re.DOTALL))
    lines = below_tables(text)
    assert len(lines) > 2
    assert [line for line in lines if not re.fullmatch(r"`python -m bench [^`]+`, commit .+\.|commit", line)] == []


@pytest.mark.parametrize(("mode", "option"), [("quick", " --quick"), ("medium", " --medium"), ("full", "")])
def test_a_mode_is_an_option_of_its_command(mode: str, option: str) -> None:
    assert command_of("engines", {"settings": {"mode": mode}}) == f"python -m bench engines{option}"

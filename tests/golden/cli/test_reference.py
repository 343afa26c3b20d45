"""The reference page, which holds the help of every command at a fixed width, is what the commands say now."""

from __future__ import annotations

import json

import jsonschema
import pytest
from tests.support.command_line import ROOT, SCHEMAS, podium
from tools.cli_reference import help_texts, reference

from podium.cli.exit_codes import EXIT_CODES

PAGE = ROOT / "docs" / "reference" / "cli.md"


def test_the_page_is_current() -> None:
    # If it is not: python -m tools.cli_reference > docs/reference/cli.md
    assert PAGE.read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize("name", help_texts())
def test_help_is_what_a_terminal_of_that_width_shows(name: str) -> None:
    ran = podium(*name.split()[1:], "--help")
    assert ran.exit_code == 0
    assert ran.stdout == help_texts(width=80)[name] + "\n"


@pytest.mark.parametrize("group", ["podium", "podium budget", "podium token"])
def test_no_summary_is_cut_short_in_a_list_of_commands(group: str) -> None:
    _, commands = help_texts(width=80)[group].split("\nCommands:\n")
    assert commands.count("\n") >= 2
    assert "..." not in commands


def test_the_exit_codes_are_in_the_help_and_on_the_page() -> None:
    for entry in EXIT_CODES:
        assert f"{entry.code:>5}  {entry.meaning}\n" in help_texts()["podium"]
        assert f"| {entry.code} | {entry.meaning} |" in PAGE.read_text(encoding="utf-8")


def test_every_schema_is_valid_and_on_the_page() -> None:
    names = sorted(path.name for path in SCHEMAS.glob("*.json"))
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"(schemas/{name})" in page for name in names)
    assert page.count("(schemas/") == len(names)
    for name in names:
        jsonschema.Draft202012Validator.check_schema(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))

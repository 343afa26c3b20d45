"""The pictures that README and docs show: a session as its tool draws it now, up to the noise, and pages."""

from __future__ import annotations

import html
import re
import struct
from pathlib import Path

from tools.screens.screens import IN_DOCS
from tools.terminal import SESSION, draw_session

SCREENS = Path(__file__).parents[3] / "docs" / "screens"


def texts(svg: str) -> list[str]:
    """What stands in the picture, line by line, without what is random."""
    lines: dict[str, str] = {}
    for place, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        lines[place] = lines.get(place, "") + html.unescape(text)
    shown = (re.sub(r"[\s\u2500]+", " ", line).strip() for line in lines.values())
    return [line for line in shown if not re.match(r"[123] ", line)]


def test_the_session_is_the_one_that_is_shown() -> None:
    shown = (SCREENS / "terminal.svg").read_text(encoding="utf-8")
    assert texts(shown) == texts(draw_session())
    assert [f"$ {command}" for command in SESSION] == [line for line in texts(shown) if line.startswith("$ ")]
    assert len(re.findall(r"[123] +[a-z]+ +\d+ +\d+ to \d+", html.unescape(shown).replace("\xa0", " "))) == 3


def test_a_picture_of_a_terminal_loads_nothing() -> None:
    shown = (SCREENS / "terminal.svg").read_text(encoding="utf-8")
    assert re.findall(r"url\((?!#)|@import|@font-face|href", shown) == []


def test_the_pictures_of_pages_are_there_wide_light_and_dark() -> None:
    for screen in IN_DOCS:
        for look in ("light", "dark"):
            head = (SCREENS / f"{screen.name}-{look}.png").read_bytes()[:24]
            assert head.startswith(b"\x89PNG")
            assert struct.unpack(">II", head[16:]) == (1280, 800)

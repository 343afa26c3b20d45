"""Draw a session at a terminal as it looks: ``python -m tools.terminal docs/screens/terminal.svg``.

The commands run at a terminal of their own, and what they print is drawn with its colours and lines. The picture is SVG
whose text is text, and it loads no font.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

__all__ = ["SESSION", "draw_session"]

SESSION = (
    "podium top orders.csv",
    "podium top orders.csv --item product --user customer -k 3 --counts --epsilon 1 --delta 1e-6",
)
"""What is typed, in a folder with the file of the README."""
_WIDTH = 96
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_FONT = "ui-monospace, 'Cascadia Mono', 'DejaVu Sans Mono', 'Liberation Mono', monospace"


def draw_session(commands: Sequence[str] = SESSION) -> str:
    """The session as SVG."""
    drawn = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        _run([sys.executable, str(_EXAMPLES / "make_orders.py"), "orders.csv"], folder)
        for command in commands:
            drawn.print(Text.assemble(("$ ", "green"), (command, "bold")))
            drawn.print(Text.from_ansi(_run([sys.executable, "-m", *shlex.split(command)], folder)))
    svg = drawn.export_svg(title="podium", theme=SVG_EXPORT_THEME, unique_id="session")
    # Rich would load its font from another host.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", _FONT)


def _run(command: Sequence[str], folder: str) -> str:
    """What a command prints at a terminal; messages and progress are left out."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(_WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)  # noqa: S603
    os.close(theirs)
    parts = []
    # At its end a terminal is an error and not an empty read.
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    if process.wait():
        sys.exit(f"{shlex.join(command)} failed")
    return b"".join(parts).decode().replace("\r\n", "\n")


def main() -> int:
    """Draw it."""
    parser = argparse.ArgumentParser(prog="python -m tools.terminal", description="Draw a session at a terminal.")
    parser.add_argument("file", type=Path, help="where the picture goes")
    file = parser.parse_args().file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(draw_session(), encoding="utf-8")
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The pages of the documentation as programs: every block of code on them is run, and what they show is compared.

    python tools/pages.py docs/tutorial.md --pictures docs/pictures

runs a page in a temporary folder and keeps the pictures that it made. A page is run from top to bottom:

- ``python`` blocks share their names; a ``text`` block marked ``<!-- output -->`` is what the block before it prints;
- ``console`` blocks hold commands (``$ ...``) and what they print, on stdout or stderr. A ``...`` stands for anything,
  on a line of its own for any lines. After ``<!-- noisy -->`` ranked lines may name other items, and numbers may be
  others, because that is what noise does;
- ``text`` blocks are not code; everything else needs ``<!-- not run: why -->``.

A marker stands in the line before its block.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Mismatch", "blocks_of", "picture_names", "run_page"]

ROOT = Path(__file__).resolve().parents[1]

_BLOCK = re.compile(r"(?:^<!-- (?P<marker>[^\n]*?) -->\n)?^```(?P<language>[\w-]*)\n(?P<text>.*?)^```$", re.M | re.S)
_PICTURE = re.compile(r"!\[[^\]]*\]\((?:\.\./)?pictures/([\w.-]+?)(?:#[\w-]+)?\)")
_PROGRESS = re.compile(r"^(?:asking|planning|auditing .*) \.\.\.\n", re.M)
_VARYING = re.compile(r"(?<![^ ])\d+  .*$|\d[\d.,]*(?:e-?\d+)?")
"""Numbers, and what has a rank: noise decides the order, of a list for each group too."""
_PROGRAMS = ("cat", "cp", "head", "ls", "python", "sh", "wc")
_COMMAND = "$ "
_NOT_RUN = "not run: "
_MARKERS = ("noisy", "output")


class Mismatch(AssertionError):
    """A page does not say what happens."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page, and the marker before it."""

    language: str
    text: str
    line: int
    marker: str = ""

    @property
    def skipped(self) -> str | None:
        """Why it is not run; None if it is."""
        return self.marker.removeprefix(_NOT_RUN) if self.marker.startswith(_NOT_RUN) else None


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in Markdown."""
    for found in _BLOCK.finditer(page):
        marker = found["marker"] or ""
        block = Block(found["language"], found["text"], page.count("\n", 0, found.start("text")) + 1, marker)
        if marker and block.skipped is None and marker not in _MARKERS:
            raise Mismatch(f"line {block.line}: the marker {marker!r} is not known")
        yield block


def picture_names(page: str) -> set[str]:
    """The files in pictures/ that a page shows."""
    return set(_PICTURE.findall(page))


def run_page(path: Path, folder: Path, *, variables: dict[str, str] | None = None) -> None:
    """Run every block of a page in a folder, in which ``examples`` is found as in a clone.

    ``variables`` are set in the environment of its commands.
    """
    page = path.read_text(encoding="utf-8")
    (folder / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    with contextlib.chdir(folder), _environment(variables or {}):
        for block in blocks_of(page):
            place = f"{path.name}, line {block.line}"
            if block.skipped is not None or (block.language == "text" and not block.marker):
                continue
            if block.language == "python":
                printed = _run_python(block, place, names)
            elif block.language == "console":
                _run_console(block, place)
            elif block.language == "text":
                _compare(block.text, printed, place, noisy=False)
            else:
                raise Mismatch(f"{place}: a block of {block.language or 'no language'} that nobody runs")


def _run_python(block: Block, place: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    # Empty lines in front, so that an error names the line of the page.
    code = compile("\n" * (block.line - 1) + block.text, place, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)  # noqa: S102 - our own pages
    return printed.getvalue()


def _run_console(block: Block, place: str) -> None:
    for command, shown in _commands(block.text, place):
        code, printed = _run(command, place)
        if code and not shown:
            raise Mismatch(f"{place}: {command!r} exits with {code} and prints:\n{printed}")
        if shown:
            _compare(shown, printed, f"{place}: {command!r}", noisy=block.marker == "noisy")


def _commands(text: str, place: str) -> Iterator[tuple[str, str]]:
    command, shown, continued = "", "", False
    for line in text.splitlines(keepends=True):
        if continued:
            command += line
        elif line.startswith(_COMMAND):
            if command:
                yield command.strip(), shown
            command, shown = line.removeprefix(_COMMAND), ""
        elif not command:
            raise Mismatch(f"{place}: a console block begins with a command")
        else:
            shown += line
            continue
        continued = line.endswith("\\\n")
    yield command.strip(), shown


def _run(command: str, place: str) -> tuple[int, str]:
    """The exit code of a command and all that it prints."""
    command = os.path.expandvars("podium demo" if command == "make demo" else command.replace("\\\n", " "))
    words = shlex.split(command)
    plain = not set(words) & {"|", ">", "&&"}
    if words[0] == "podium" and plain:
        from typer.testing import CliRunner  # noqa: PLC0415 - only needed for running

        from podium.cli.commands import app  # noqa: PLC0415

        ran = CliRunner().invoke(app, words[1:], prog_name="podium")
        return ran.exit_code, ran.output
    if words[0] not in (*_PROGRAMS, "podium"):
        raise Mismatch(f"{place}: {words[0]!r} is not run here; mark its block <!-- not run: why -->")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - our own pages
        ["bash", "-c", command],  # noqa: S607
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    return done.returncode, done.stdout


def _compare(shown: str, printed: str, place: str, *, noisy: bool) -> None:
    expected, found = (_lines(text, noisy=noisy) for text in (shown, _PROGRESS.sub("", printed)))
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in expected
    )
    if not re.fullmatch(pattern, "".join(f"{line}\n" for line in found)):
        raise Mismatch(f"{place} prints\n{printed}\nand the page shows\n{shown}")


def _lines(text: str, *, noisy: bool) -> list[str]:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return [re.sub(r" +", " ", _VARYING.sub("#", line)) for line in lines] if noisy else lines


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Only these ledgers and servers: none that whoever runs this has set up."""
    before = dict(os.environ)
    os.environ.pop("PODIUM_LEDGER", None)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pages, and keep the pictures that they made."""
    parser = argparse.ArgumentParser(prog="python tools/pages.py", description="Run pages of the documentation.")
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="copy the pictures that the pages show here")
    options = parser.parse_args(arguments)
    for page in options.pages:
        with tempfile.TemporaryDirectory(prefix="podium-pages-") as temporary:
            run_page(page, Path(temporary))
            if options.pictures is not None:
                options.pictures.mkdir(parents=True, exist_ok=True)
                for name in sorted(picture_names(page.read_text(encoding="utf-8"))):
                    if (made := Path(temporary) / name).exists():
                        shutil.copy(made, options.pictures / name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

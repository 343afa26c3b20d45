"""The command line as a process: in a pipe, in a terminal, interrupted, and how little it imports for help."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from tests.support.command_line import ASK, TOTAL, create_budget, write_views

from podium.ledger import Kind, open_ledger
from podium.version import __version__

PODIUM = (sys.executable, "-m", "podium")
DEADLINE = 60.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "PODIUM_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return tmp_path


def in_terminal(*arguments: str) -> tuple[int, str]:
    """Run in a pseudo-terminal of 100 columns; what it shows, with its escape codes."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen([*PODIUM, *arguments], stdin=child, stdout=child, stderr=child)
    os.close(child)
    shown = b""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        ready, _, _ = select.select([parent], [], [], 0.1)
        try:
            shown += os.read(parent, 65536) if ready else b""
        except OSError:
            break
        if not ready and process.poll() is not None:
            break
    os.close(parent)
    return process.wait(timeout=DEADLINE), shown.decode("utf-8")


def test_a_terminal_gets_lines_and_colours_a_pipe_does_not(folder: Path) -> None:
    write_views(folder)
    asked = ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--counts")
    code, shown = in_terminal(*asked)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert code == 0
    assert "\x1b[1m" in shown
    assert "─" * 20 in plain
    assert re.search(r"1 +article-0 +\d+ +\d+ to \d+", plain)
    piped = subprocess.run([*PODIUM, *asked], capture_output=True, text=True, check=True)
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "─" not in piped.stdout


def long_query(path: Path) -> None:
    """A table that takes an hour to read: a view, so that the file is small."""
    rows = "SELECT range % 1000003 AS user_id, range % 1009 AS article FROM range(100000000000)"
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE VIEW views AS {rows}")


def interrupted(*arguments: str, ready: Callable[[], bool]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Start a command, send SIGINT once it is at work and ready for it, and wait for its end."""
    with subprocess.Popen([*PODIUM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            assert process.stderr.readline() == "asking ...\n"
            while not ready():
                time.sleep(0.1)
            time.sleep(0.5)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE)
        finally:
            process.kill()
    return time.monotonic() - start, subprocess.CompletedProcess(arguments, process.returncode, out, err)


def reserved() -> bool:
    with open_ledger("ledger.db") as ledger:
        return any(entry.kind is Kind.RESERVED for entry in ledger.history("views"))


def test_ctrl_c_stops_the_engine_and_says_what_is_forfeited(folder: Path) -> None:
    long_query(folder / "long.duckdb")
    create_budget(source="long.duckdb")
    asked = ("top", "long.duckdb", *ASK, "--ledger", "ledger.db", "--dataset", "views", "-k", "3")
    took, ran = interrupted(*asked, ready=reserved)
    assert took < 20
    assert (ran.returncode, ran.stdout) == (130, "")
    with open_ledger("ledger.db") as ledger:
        kinds = [entry.kind for entry in ledger.history("views")]
        status = ledger.status("views")
    assert kinds == [Kind.REGISTERED, Kind.RESERVED, Kind.FORFEITED]
    assert (status.open_reservations, status.failures) == (0, 1)
    rho = f"{float(status.spent.rho):.3g}"[:5]
    assert ran.stderr.startswith(
        "Interrupted: The question on 'views' was interrupted after its data may have been read, so what was reserved "
        f"for it (rho={rho}"
    )
    assert ran.stderr.endswith("is forfeited.\n  Nothing was released.\n  Asking again costs again.\n")


def test_ctrl_c_without_a_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_query(folder / "long.duckdb")
    spill = folder / "spill"
    spill.mkdir()
    monkeypatch.setenv("TMPDIR", str(spill))
    # The engine has its folder for what does not fit into memory once it is open.
    took, ran = interrupted("top", "long.duckdb", *ASK, *TOTAL, "--debug", ready=lambda: any(spill.glob("podium-*")))
    assert took < 20
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr.endswith("Interrupted: nothing was released.\n  Any budget that was reserved stays charged.\n")
    assert "podium/cli/top.py:" in ran.stderr
    assert "duckdb_connection" not in ran.stderr


def test_help_waits_for_no_engine() -> None:
    script = (
        "import json, sys\n"
        "from podium.cli import main\n"
        "sys.argv = ['podium', 'top', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Usage: podium top ")
    imported = {name.partition(".")[0] for name in json.loads(ran.stderr)}
    slow = "duckdb pyarrow matplotlib pyspark fastapi numpy scipy flint sqlglot rich pandas sqlalchemy"
    assert not imported & set(slow.split())


@pytest.mark.parametrize(("before", "last"), [
    ("", ""),
    ("import threading as t; t.Thread(target=lambda: t.main_thread().join() or print('thread')).start()", "thread\n"),
    ("sys.setprofile(lambda *_: None)", ""),
])  # fmt: skip
def test_a_process_ends_with_all_that_an_end_needs(before: str, last: str) -> None:
    """Callbacks, output that is still buffered, and threads that are waited for."""
    script = (
        f"import atexit, sys\n{before}\natexit.register(print, 'callback')\n"
        "from podium.cli.process import run\nsys.argv = ['podium', '--version']\nrun()\nprint('never')"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == f"podium {__version__}\n{last}callback\n"
    assert ran.stderr == ""


def test_a_process_whose_reader_went_away_does_not_end_silently() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run([*PODIUM, "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert ran.returncode not in (0, -signal.SIGPIPE)

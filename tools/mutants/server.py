"""A process that has everything loaded but podium, and runs pytest in forks of itself: starting is most of the work.

A line on standard input is one run, ``{"arguments": [...], "seconds": 600}``; a line comes back when it is over,
``{"code": 1, "output": "the end of what it said"}``; the code is None if it had to be stopped. Podium is loaded in the
fork, from whatever its files say by then.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from typing import IO, Any

import pytest

__all__ = ["main"]

_LOADED = (
    "_pytest.assertion.rewrite", "anyio", "cryptography.hazmat.primitives.ciphers", "duckdb", "fastapi.testclient",
    "flint", "hypothesis", "hypothesis.stateful", "hypothesis.internal.conjecture.providers", "jinja2", "mpmath",
    "numpy", "psycopg", "pyarrow.parquet", "rich.console", "scipy.special", "scipy.stats", "sqlglot", "typer",
    "xdist.plugin", "xdist.scheduler",
)  # fmt: skip
_SHOWN = 2000
_PAUSE = 0.02


def main() -> None:
    """Serve until standard input ends."""
    for name in _LOADED:
        # What is not installed here cannot be loaded ahead; the tests that need it will say so.
        with suppress(ImportError):
            importlib.import_module(name)
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "podium")
    if loaded:
        raise RuntimeError(f"podium must be loaded in forks only, but {loaded[0]} is here")
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            code = _forked(request["arguments"], float(request["seconds"]), said)
            said.seek(0)
            print(json.dumps({"code": code, "output": said.read()[-_SHOWN:]}), flush=True)


def _forked(arguments: list[str], seconds: float, said: IO[str]) -> int | None:
    child = os.fork()
    if not child:
        _run(arguments, said)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run(arguments: list[str], said: IO[str]) -> None:
    code = 70
    try:
        os.setsid()
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code = int(pytest.main(arguments))
    except BaseException:  # noqa: BLE001 - a fork must never go on with its parent's work
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

"""Real servers with real workers on a small synthetic table: for the benches and the tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from podium.service.store.database import open_state
from podium.service.store.tokens import Tokens

__all__ = ["Running", "dataset", "free_port", "new_token", "new_tokens", "running", "stopped", "views", "wait_for"]


_BUDGET = "epsilon = 3\ndelta = 1e-6\nitems = 200\nquestions = 20"


def dataset(name: str, source: str, user: str, budget: str) -> str:
    """A data set as the configuration has it: its table, and what all questions about it may cost."""
    return f'[datasets.{name}]\nsource = "{source}"\nuser = "{user}"\n[datasets.{name}.budget]\n{budget}\n'


def views(path: Path, *, users: int = 3_000, without: int | None = None) -> Path:
    """Users who read articles a0 (the most read) to a9; one user may be left out, which makes a neighbour."""
    left_out = -1 if without is None else without
    rows = f"""SELECT 'u' || u AS user_id, 'a' || a AS article, u % 7 AS weekday,
        CASE WHEN u % 3 = 0 THEN 'DE' ELSE 'FR' END AS country
        FROM range({users}) AS t(u), range(10) AS s(a) WHERE u % (a + 1) = 0 AND u <> {left_out}"""  # noqa: S608
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


@dataclass
class Running:
    """A real server: its address and its process."""

    url: str
    process: subprocess.Popen[bytes]
    state: str

    def workers(self) -> list[int]:
        """The numbers of the worker processes, which are children of children of nobody else."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        # The multiprocessing module's own helper process is a child too.
        return [int(pid) for pid in listed.split() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@contextmanager
def running(
    folder: Path, *, workers: int = 2, ledger: str = "ledger.db", extra: str = "", budget: str = _BUDGET
) -> Iterator[Running]:
    """``podium serve`` on a free port, ready, stopped at the end."""
    if not (folder / "views.parquet").exists():
        views(folder / "views.parquet")
    port = free_port()
    config = folder / "podium.toml"
    config.write_text(
        f"""ledger = "{ledger}"
{extra}
[server]
port = {port}
workers = {workers}
[limits]
requests_per_minute = 1000000
questions_per_minute = 1000000
plans_per_minute = 1000000
{dataset("views", "views.parquet", "user_id", budget)}""",
        encoding="utf-8",
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "podium", "serve", "--config", str(config)], stdout=log, stderr=log, env=environment
        )
        state = ledger if "://" in ledger else str(folder / "service.db")
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/ready", process)
            yield Running(url, process, state)
        finally:
            stopped(process)


def stopped(process: subprocess.Popen[bytes]) -> None:
    """End a server, politely at first."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(40)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def new_token(server: Running, name: str, role: str = "analyst") -> str:
    """A token for a real server, made as the command line makes it."""
    (secret,) = new_tokens(server, [name], role)
    return secret


def new_tokens(server: Running, names: Iterable[str], role: str = "analyst") -> list[str]:
    """One for each name."""
    state = open_state(server.state)
    try:
        return [Tokens(state).create(name, role=role, datasets=["*"])[0] for name in names]
    finally:
        state.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the address answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError("the server ended before it was ready")
        try:
            with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - our own address
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the server was not ready in time")

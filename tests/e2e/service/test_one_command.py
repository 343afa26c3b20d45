"""From nothing to the first answer: one command and three clicks. And the service is ready soon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from bench.service.serving import free_port, stopped, wait_for
from playwright.sync_api import expect, sync_playwright

COMMAND = ["serve", "orders.csv", "--user", "customer", "--epsilon", "3", "--delta", "1e-6"]
READY_SECONDS = 3.0
"""Processor time from the start of the command to the first answer of /ready, of all processes and threads."""


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    rows = """SELECT 'p' || a AS product, 'c' || u AS customer
        FROM range(3000) AS t(u), range(9) AS s(a) WHERE u % (a + 1) = 0"""
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 'orders.csv'}' (HEADER)")
    return tmp_path


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The command, and the link that it prints."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    with (folder / "err.txt").open("wb") as messages:
        process = subprocess.Popen(
            [sys.executable, "-m", "podium", *arguments, "--port", str(port)], cwd=folder, env=environment,
            stdout=subprocess.PIPE, stderr=messages,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        link = process.stdout.readline().decode().strip()
        assert link.startswith(f"http://127.0.0.1:{port}/sign-in/link?code="), (folder / "err.txt").read_text()
        wait_for(f"http://127.0.0.1:{port}/ready", process)
        yield link, process
    finally:
        stopped(process)
        if process.stdout is not None:
            process.stdout.close()


def test_one_command_and_three_clicks(orders: Path) -> None:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found is not None, "these tests need Chromium: tools/system-packages installs it"
    with served(orders, *COMMAND) as (link, process), sync_playwright() as playwright:
        used = _processor_seconds(process.pid)
        assert used < READY_SECONDS
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        expect.set_options(timeout=60_000)
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Show what it would cost").first.click()
        page.get_by_role("button", name="Ask and spend").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("top 10 of product")
        expect(page.get_by_text("Private for every customer (epsilon 3, delta 1e-6)")).to_be_visible()
        expect(page.get_by_role("rowheader", name="p0")).to_be_visible()
        address = page.url
        browser.close()
    written = [path for path in (orders / "orders.csv.podium").rglob("*") if path.is_file()]
    assert {"podium.toml", "ledger.db", "service.db", "log.jsonl"} <= {path.name for path in written}
    code = link.partition("=")[2].encode()
    assert all(code not in path.read_bytes() for path in [*written, orders / "err.txt"])
    # Another run goes on with the same ledger: the answer is still there, and the link is another one.
    with served(orders, "serve", "orders.csv") as (another, _):
        assert another.partition("=")[2] != link.partition("=")[2]
        entry = address.rpartition("/")[2]
        history = subprocess.run(
            [sys.executable, "-m", "podium", "budget", "history", "orders", "--ledger", "orders.csv.podium/ledger.db"],
            cwd=orders, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert entry[:12] in history


def _processor_seconds(process: int) -> float:
    """What a process and its children have used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_processor_seconds(int(child)) for child in children)

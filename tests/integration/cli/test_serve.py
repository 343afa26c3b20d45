"""``podium serve``: what goes wrong before anybody can ask."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.command_line import succeeded

from podium.cli import USUAL_COLLECTION

CONFIG = """
ledger = "ledger.db"
registration = "."
[server]
port = {port}
workers = 1
"""


def test_a_port_that_is_taken_is_not_a_defect(tmp_path: Path) -> None:
    config = tmp_path / "podium.toml"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config.write_text(CONFIG.format(port=port), encoding="utf-8")
        command = [sys.executable, "-m", "podium", "serve", "--config", str(config)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 2
    assert f"server.port={port} is not valid." in ran.stderr
    assert "a port of 127.0.0.1 that is free" in ran.stderr
    assert "listening" not in ran.stderr


def test_a_service_collects_its_garbage_as_often_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "podium.toml"
    config.write_text(CONFIG.format(port=8737), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # As every command begins, because it ends before garbage matters.
    gc.set_threshold(200_000)
    try:
        succeeded("serve", "--config", str(config), "--check")
        assert gc.get_threshold() == USUAL_COLLECTION
    finally:
        gc.set_threshold(*USUAL_COLLECTION)

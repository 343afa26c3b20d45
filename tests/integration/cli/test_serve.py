"""``podium serve``: what goes wrong before anybody can ask."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

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

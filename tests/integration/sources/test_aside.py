"""What is put aside does not stay: not after closing, and not after a process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from podium.sources import DuckDBSource

CODE = """
import sys, time
from podium.sources import DuckDBSource
source = DuckDBSource(sys.argv[1], bad_lines="drop", temp_directory=sys.argv[2])
print("open", flush=True)
time.sleep(600)
"""


def test_a_killed_process_leaves_no_copy_after_the_next_start(tmp_path: Path) -> None:
    path, aside = tmp_path / "e.csv", tmp_path / "aside"
    path.write_text("u,i\n1,a\n", encoding="utf-8")
    aside.mkdir()
    command = [sys.executable, "-c", CODE, str(path), str(aside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        (left,) = aside.iterdir()
        assert left.stat().st_mode & 0o777 == 0o700
        assert list(left.rglob("e.csv"))
        long_ago = time.time() - 3600
        os.utime(left, (long_ago, long_ago))
        DuckDBSource(path, temp_directory=aside).close()
        assert left.exists()  # its process lives
        process.send_signal(signal.SIGKILL)
    assert left.exists()
    source = DuckDBSource(path, temp_directory=aside)
    assert left not in set(aside.iterdir())
    source.close()
    assert list(aside.iterdir()) == []

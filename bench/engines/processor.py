"""How much processor time an engine takes, wherever it runs: that of its processes, and of this one, which asks it.

Other people's work makes a question wait, but adds hardly anything to its processor time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

__all__ = ["Clock", "clock_with"]

Clock: TypeAlias = Callable[[], float]
"""Seconds of processor time so far."""

_PROCESSES = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# From the fields of proc_pid_stat(5) after the name: the parent, and user and system time of a process and of those
# children that ended and were waited for.
_PARENT, _TIMES = 1, slice(11, 15)


def clock_with(server: int | None) -> Clock | None:
    """The processor time of this process and of a server with all of its processes; None where nobody says."""
    if server is None:
        return time.process_time
    if not (_PROCESSES / str(server) / "stat").exists():
        return None
    return lambda: time.process_time() + _tree_seconds(server)


def _tree_seconds(root: int) -> float:
    """Of a process and its descendants, dead ones included: a worker that ended counts for whoever started it."""
    parents, ticks = {}, {}
    for process, fields in _statistics():
        parents[process] = int(fields[_PARENT])
        ticks[process] = sum(map(int, fields[_TIMES]))
    return sum(ticks[process] for process in ticks if _descends(process, root, parents)) / _TICKS


def _statistics() -> Iterator[tuple[int, list[str]]]:
    for folder in _PROCESSES.iterdir():
        if folder.name.isdecimal():
            try:
                text = (folder / "stat").read_text(encoding="ascii", errors="replace")
            except OSError:
                # It ended in between.
                continue
            # A name may hold spaces and parentheses; what follows the last one does not.
            yield int(folder.name), text.rpartition(")")[2].split()


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process != root:
        if process not in parents:
            return False
        process = parents[process]
    return True

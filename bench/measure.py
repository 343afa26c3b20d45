"""How a benchmark measures: side by side, and never memory and time in the same run.

The machines that run this are shared, so an absolute time says little. What holds up is a ratio of medians whose
repetitions took turns: a slow minute then hits every contestant alike.
"""

from __future__ import annotations

import functools
import math
import os
import platform
import statistics
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Generic, TypeVar

__all__ = [
    "Contestant",
    "Timing",
    "commit",
    "committed_in",
    "interleaved",
    "machine",
    "peak_extra_bytes",
    "standard_error",
]

Name = TypeVar("Name", bound=Hashable)

_ROOT = Path(__file__).parents[1]
_CODE = ("src", ":(glob)bench/**/*.py", ":(glob)reproduce/**/*.py")


@dataclass(frozen=True, slots=True)
class Contestant(Generic[Name]):
    """A job to time, and how often: a slow peer may take fewer turns than the rest."""

    name: Name
    job: Callable[[], object]
    repetitions: int


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of every repetition, in the order they ran."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The typical repetition; the median because other people's work only ever adds time."""
        return statistics.median(self.seconds)


def interleaved(
    contestants: Sequence[Contestant[Name]], *, clock: Callable[[], float] = time.perf_counter
) -> dict[Name, Timing]:
    """Times all contestants in turns; every other round runs backwards so that nobody always follows the same one."""
    timings = {contestant.name: Timing() for contestant in contestants}
    for turn in range(max(contestant.repetitions for contestant in contestants)):
        for contestant in contestants if turn % 2 == 0 else reversed(contestants):
            if turn < contestant.repetitions:
                start = clock()
                contestant.job()
                timings[contestant.name].seconds.append(clock() - start)
    return timings


def standard_error(values: Sequence[float]) -> float:
    """Of the mean of several runs."""
    return statistics.stdev(values) / math.sqrt(len(values))


def peak_extra_bytes(job: Callable[[], object]) -> int:
    """The most that the job had allocated at once, its input not counted.

    tracemalloc sees Python and NumPy buffers but not those of compiled libraries, so it says nothing about OpenDP.
    It also slows the job down: never time a job in here.
    """
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        job()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def machine() -> dict[str, str | int | None]:
    """What a reader needs to judge the numbers, and nothing that identifies whose machine it was."""
    return {
        "commit": commit(),
        "cpus": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "cryptography": _version("cryptography"),
        "opendp": _version("opendp"),
    }


@functools.cache
def commit(root: Path = _ROOT) -> str | None:
    """The commit of the code, with "+ changes" if its files differ from it; None where there is no repository.

    Kept from the first call, which ``python -m bench`` makes before it measures: others may commit in the meantime.
    """
    # An unpacked archive may lie inside a repository that has nothing to do with it.
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None
    found, changed = _git(root, "rev-parse", "--short", "HEAD"), _git(root, "status", "--porcelain", "--", *_CODE)
    return f"{found} + changes" if found and changed else found


def committed_in(file: Path) -> str | None:
    """The last commit that changed a file; None where there is none."""
    return _git(file.parent, "log", "-1", "--format=%h", "--", file.name) or None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        ran = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None

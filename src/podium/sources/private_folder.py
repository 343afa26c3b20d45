"""A folder for private rows on disk: readable by this account only, and removed at the next start after a kill."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

try:
    _locks: ModuleType | None = import_module("fcntl")
except ImportError:  # where there are no such locks, nothing is swept
    _locks = None

__all__ = ["make_folder"]

_PREFIX = "podium-aside-"
_SETTLED = 60.0
"""Seconds after which an unlocked folder is abandoned: its creator locks it at once."""


def make_folder(parent: str | Path | None) -> tuple[str, Callable[[], None]]:
    """A new folder of mode 0700, and a function that removes it. Folders left by killed processes are removed too."""
    _sweep(Path(parent or tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
    lock = _locked(folder)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            with suppress(OSError):
                os.close(lock)

    return folder, remove


def _locked(folder: str | Path) -> int | None:
    """A lock that is released when this process ends; None if another process holds it."""
    if _locks is None:
        return None
    try:
        found = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        _locks.flock(found, _locks.LOCK_EX | _locks.LOCK_NB)
    except OSError:
        os.close(found)
        return None
    return found


def _sweep(parent: Path) -> None:
    if _locks is None:
        return
    with suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            about = folder.lstat()
            if about.st_uid != os.getuid() or time.time() - about.st_mtime < _SETTLED:
                continue
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)

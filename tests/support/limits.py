"""Real shortages, made for the length of a with-block: of disk, of rights."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["files_no_larger_than", "without_rights"]

_NOBODY = 65534


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The kernel refuses every write beyond this size of a file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def without_rights(*paths: os.PathLike[str]) -> Iterator[None]:
    """Only what the modes of files say counts: root, who may do anything, becomes their plain owner."""
    if os.geteuid() != 0:
        yield
        return
    for path in paths:
        os.chown(path, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        for path in paths:
            os.chown(path, 0, 0)

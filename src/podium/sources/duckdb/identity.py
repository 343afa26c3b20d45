"""Whether a file is still the one that was checked, by its metadata.

Device, inode, size and modification time are cheap to compare before every question; a digest of the content would
read the whole file each time. An owner who resets the time by hand is not detected: owners are trusted, but make
mistakes. The name is not part of it, because a file that is moved away and back is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fingerprint", "file_identities", "fingerprint"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The metadata that changes with a file's content."""

    device: int
    inode: int
    size: int
    modified: int


def fingerprint(paths: Iterable[str]) -> tuple[Fingerprint, ...] | None:
    """The files as they are now; None if one of them cannot be reached."""
    try:
        found = [Path(path).stat() for path in paths]
    except OSError:
        return None
    return tuple(Fingerprint(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in found)


def file_identities(paths: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Device and inode of each file, the same under every name; empty if a file is missing."""
    return frozenset((found.device, found.inode) for found in fingerprint(paths) or ())

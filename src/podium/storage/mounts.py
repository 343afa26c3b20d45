"""Network mounts: SQLite's locks work between the processes of one machine, not across a network.

Two machines that write to one file over a network mount may both believe that they hold its lock, and then spend the
same budget twice. Linux reports the type of each mount; on other systems it is unknown, and nothing is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from podium.errors import LedgerUnavailable

__all__ = ["ALLOWING_VARIABLE", "network_filesystem", "refuse_network_file"]

ALLOWING_VARIABLE = "PODIUM_NETWORK_LEDGER"
"""Set to 'one machine' by an owner who knows that no other machine opens the file."""

_ALLOWING = "one machine"
_MOUNTS = Path("/proc/self/mountinfo")
_KINDS = frozenset({
    "9p", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs",
    "vmhgfs",
})  # fmt: skip
_FUSE_ON_THE_MACHINE = ("fuseblk", "fuse.lxcfs", "fuse.overlayfs", "fuse.fuse-overlayfs", "fuse.portal")


def refuse_network_file(path: Path) -> None:
    """Raise for a file on a network file system, unless the owner says that only one machine uses it."""
    if os.environ.get(ALLOWING_VARIABLE) == _ALLOWING:
        return
    kind = network_filesystem(path)
    if kind is not None:
        raise LedgerUnavailable(
            f"ledger={str(path)!r} lies on a network file system ({kind}), where two machines may both believe that "
            "they own it and spend the same budget twice. Use a local disk, or a ledger in PostgreSQL. If no other "
            f"machine ever opens it, set {ALLOWING_VARIABLE}='{_ALLOWING}'."
        )


def network_filesystem(path: Path) -> str | None:
    """The type of network file system that holds a path; None if it is local or unknown."""
    try:
        table = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        place = path.resolve()
    except OSError:
        return None
    kind, depth = "", -1
    for line in table.splitlines():
        # ... mount-point options [fields] - type source options (proc(5)); a later mount hides an earlier one.
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(_unescaped(fields[4]))
        if len(point.parts) >= depth and place.is_relative_to(point):
            kind, depth = after.split()[0], len(point.parts)
    return kind if _is_network(kind) else None


def _is_network(kind: str) -> bool:
    if kind.startswith("fuse") and kind not in _FUSE_ON_THE_MACHINE:
        # fuse.sshfs, fuse.s3fs, fuse.rclone ...: an unknown type is assumed to be remote.
        return True
    return kind in _KINDS


def _unescaped(text: str) -> str:
    """Undo the kernel's octal escapes of blanks and backslashes."""
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, sign)
    return text

"""Owners of reservations: which process holds one, and whether that process is certainly gone.

The reservation of a dead process must be forfeited, and that of a live one left alone. A process is identified by its
pid, its start time, the boot id of the machine, the pid namespace (containers have their own) and a random token. If
in doubt, the process counts as alive: forfeiting is then the owner's decision.
"""

from __future__ import annotations

import functools
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from podium.randomness import system_bits

__all__ = ["Owner", "is_certainly_gone", "this_process"]

_DEAD_STATES = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. Fields that the platform does not provide are empty."""

    host: str
    boot: str
    namespace: str
    pid: int
    started: str
    token: str

    def to_text(self) -> str:
        """JSON text for the ledger."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Owner | None:
        """The owner that ``to_text`` wrote; None if the text is something else."""
        try:
            found = cls(**json.loads(text))
        except (RecursionError, TypeError, ValueError):
            return None
        pid: object = found.pid
        names: tuple[object, ...] = (found.host, found.boot, found.namespace, found.started, found.token)
        sound = all(isinstance(name, str) for name in names) and isinstance(pid, int) and 0 < pid < 2**31
        return found if sound else None


def this_process() -> Owner:
    """The current process."""
    return _process(os.getpid())


@functools.lru_cache(maxsize=1)
def _process(pid: int) -> Owner:
    # Keyed by the pid, so that a forked child does not take the identity of its parent.
    state = _stat(pid)
    return Owner(
        host=f"{platform.node()} {_read(Path('/etc/machine-id'))}".strip(),
        boot=_read(Path("/proc/sys/kernel/random/boot_id")),
        namespace=_namespace(),
        pid=pid,
        started=state[1] if state else "",
        token=system_bits().read(16).hex(),
    )


def is_certainly_gone(owner: Owner, *, viewer: Owner | None = None) -> bool:
    """Whether the process has ended, for certain, as seen from the viewer (this process)."""
    here = this_process() if viewer is None else viewer
    if owner.token == here.token or not (owner.boot and here.boot and owner.started):
        return False
    if owner.boot != here.boot:
        # Another boot of this machine, or another machine: only the first is certain.
        return owner.host == here.host
    if owner.namespace != here.namespace:
        return False
    state = _stat(owner.pid)
    if state is None:
        return _nobody(owner.pid)
    return state[0] in _DEAD_STATES or state[1] != owner.started


def _stat(pid: int) -> tuple[str, str] | None:
    """State and start time of a process, from Linux; None if they cannot be read."""
    text = _read(Path(f"/proc/{pid}/stat"))
    if not text:
        return None
    # The name of the program is in parentheses and may itself contain parentheses.
    fields = text.rpartition(")")[2].split()
    return fields[0], fields[19]


def _nobody(pid: int) -> bool:
    """Whether no process has this pid. Another user's process may be hidden in /proc, but not from a signal."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

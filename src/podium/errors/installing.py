"""What to run to install an extra, from where the reader stands."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["install_command", "install_library"]

_PROJECT = "podium-topk"


def install_command(extra: str) -> str:
    """A command for this interpreter: of a clone the clone itself is installed again, because no registry has it."""
    clone = _clone()
    return install_library(f"{_PROJECT}[{extra}]" if clone is None else f"{clone}[{extra}]", editable=clone is not None)


def install_library(requirement: str, *, editable: bool = False) -> str:
    """A command that installs this for the interpreter that runs."""
    python = _seen(Path(sys.executable)) if sys.executable else "python3"
    return f"{shlex.quote(python)} -m pip install {'--editable ' * editable}{shlex.quote(requirement)}"


def _clone() -> str | None:
    """The folder that podium was installed from, if it was."""
    # Every process loads this module, and hardly any gets here; with these two it would take twice as long to start.
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    try:
        origin = json.loads(distribution(_PROJECT).read_text("direct_url.json") or "{}")
        place = urlsplit(str(origin["url"]))
        folder = Path(url2pathname(place.path))
    except (PackageNotFoundError, KeyError, TypeError, ValueError):
        return None
    return _seen(folder) if place.scheme == "file" and (folder / "pyproject.toml").is_file() else None


def _seen(path: Path) -> str:
    """A path as it is seen from the working folder, if it lies in there."""
    try:
        near = path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(path)
    return str(near)

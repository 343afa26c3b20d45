"""Where the data of a budget is, told the same however it is written."""

from __future__ import annotations

from pathlib import Path

from podium.errors import InvalidArgument
from podium.ledger import Status
from podium.ledger.status import require_user

__all__ = ["location_of", "require_registered"]


def require_registered(status: Status, location: str, user: str, *, insist: bool) -> None:
    """Raise unless the data set was registered for these users: their column, and their table unless ``insist``."""
    require_user(status.dataset, status.user, user)
    known = status.source
    if not insist and location not in (known, location_of(known, known, None)):
        raise InvalidArgument(
            "source",
            location,
            allowed=f"{known!r}, for whose users dataset={status.dataset!r} was registered",
            hint="Register another data set for another table, or say insist=True if this is a copy of that one.",
        )


def location_of(source: object, name: str, table: str | None) -> str:
    """Where the data is, the same however its path is written: a path in full, and which of several tables."""
    path = isinstance(source, (str, Path)) and "://" not in str(source)
    where = str(Path(name).resolve()) if path or Path(name).exists() else name
    return where if table is None or where.endswith(f"#{table}") else f"{where}#{table}"

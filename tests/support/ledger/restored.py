"""Ledgers of earlier versions, kept as SQL text."""

from __future__ import annotations

import sqlite3
from pathlib import Path

__all__ = ["restored"]


def restored(path: Path, sql: Path) -> Path:
    """A file with the tables and rows of this text, as a ledger of its time had them."""
    connection = sqlite3.connect(path)
    connection.executescript(sql.read_text(encoding="utf-8"))
    connection.close()
    path.chmod(0o600)
    return path

"""Releases as JSON objects, the same from the command line and from the service; exact numbers are text."""

from __future__ import annotations

import json
from typing import Any

from podium.release import Release

__all__ = ["json_text", "release_document"]


def json_text(document: object, *, indent: int | None = None) -> str:
    """JSON that a terminal shows and does not obey: signs that cannot be seen are written as their numbers."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if all(sign.isprintable() or sign == "\n" for sign in text):
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def release_document(release: Release) -> dict[str, Any]:
    """What ``Release.to_dict`` says, and the ledger's entry that settled it, also where there is none."""
    return {**release.to_dict(), "entry": release.paid.entry}

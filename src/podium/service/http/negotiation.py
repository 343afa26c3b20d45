"""Who gets a page and who gets JSON: browsers say that they want HTML, programs do not."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

__all__ = ["prefers_page"]


def prefers_page(scope: Scope) -> bool:
    """Whether the caller names HTML among what it accepts, and sends no token of a program.

    A wildcard is not enough: that is what programs send that were told nothing.
    """
    headers = Headers(scope=scope)
    if "authorization" in headers:
        return False
    accepted = [part.strip().lower() for part in headers.get("accept", "").split(",")]
    return any(_names_html(part) for part in accepted)


def _names_html(part: str) -> bool:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    refused = any(piece.startswith("q=") and piece[2:].strip("0.") == "" for piece in parameters)
    return kind in ("text/html", "application/xhtml+xml") and not refused

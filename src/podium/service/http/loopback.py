"""Requests from this computer to this computer, and through nothing in between."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request

from podium.wire.refusals import Refusal

__all__ = ["require_loopback"]

_PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def require_loopback(request: Request) -> None:
    """Raise unless the caller is on this computer, and the address that it named is, too.

    A page elsewhere may give its own name the address of this computer; browsers then send that name as the host. A
    proxy on this computer calls for somebody else.
    """
    host = request.headers.get("host", "")
    origin = request.headers.get("origin", "null")
    caller = "" if request.client is None else request.client.host
    # Where pages send no referrer, browsers call the origin of their forms null.
    local = _is_loopback(caller) and _is_loopback(_name_of(host)) and origin in ("null", f"http://{host}")
    if not local or any(name in request.headers for name in _PASSED_ON):
        raise Refusal(
            403,
            "A sign-in link works on the computer where the service runs, at the address that it was printed with. "
            "Elsewhere, sign in with a token: its owner issues one on the owner's page.",
            error="NotLocal",
        )


def _name_of(host: str) -> str:
    with suppress(ValueError):
        return urlsplit(f"//{host}").hostname or ""
    return ""


def _is_loopback(name: str) -> bool:
    with suppress(ValueError):
        return ip_address(name).is_loopback
    return name == "localhost"

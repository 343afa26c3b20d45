"""What every request gets: an id, a body limit, security headers, a log line and a count."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from podium.service.core import Service
from podium.service.ops.logs import log
from podium.wire.identifiers import new_id
from podium.wire.problems import MEDIA_TYPE, problem, status_of
from podium.wire.refusals import Refusal, ambiguous_length, too_large

__all__ = ["Envelope", "problem_body"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


class Envelope:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app, self._service = app, service
        secure = service.settings.server.secure
        self._headers = [*_HEADERS, *([_STRICT_TRANSPORT] if secure else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; an unexpected failure becomes a problem without details."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        call = _Call(scope, send, self._headers)
        try:
            _check_framing(scope)
            body = await _read(scope, receive, self._service.settings.limits.body_bytes)
            await self._app(scope, body, call.send)
        except _IncompleteRequestError:
            # The client is gone; a partial request is not processed.
            call.status = 408
        except Exception as error:  # noqa: BLE001 - its text may quote rows
            if not isinstance(error, Refusal):
                log("unexpected failure", level=logging.ERROR, request=call.id, kind=type(error).__name__)
            if call.status == 0:
                await call.fail(error)
        finally:
            self._log(scope, call)

    def _log(self, scope: Scope, call: _Call) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        who = scope["state"].get("who")
        self._service.metrics.count(_method(scope), route, call.status)
        log(
            "request", request=call.id, method=_method(scope), route=route, status=call.status, who=who,
            milliseconds=round(1000 * (time.monotonic() - call.start)),
        )  # fmt: skip


class _Call:
    """The response to one request."""

    def __init__(self, scope: Scope, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self.id, self.start, self.status = new_id(), time.monotonic(), 0
        self._send, self._headers = send, headers
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = self.id

    async def send(self, message: Message) -> None:
        """Send a message, with our headers added."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message.get("headers", [])
            names = {name.lower() for name, _ in given}
            # Releases and budgets change, and a cached page could be found by somebody else.
            added = [*self._headers, (b"cache-control", b"no-store"), (b"x-request-id", self.id.encode())]
            message = {**message, "headers": [*given, *(pair for pair in added if pair[0] not in names)]}
        await self._send(message)

    async def fail(self, error: Exception) -> None:
        """Respond to an unhandled error."""
        body, status = problem_body(error, self.id), status_of(error)
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        if status == 400:
            # The end of the request is ambiguous, so nothing else on this connection may be parsed as a request.
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def problem_body(error: BaseException, request_id: str) -> bytes:
    """A problem as bytes; ASCII, because text from a request may hold lone surrogates."""
    return json.dumps(problem(error, request_id=request_id), ensure_ascii=True).encode("ascii")


class _IncompleteRequestError(Exception):
    """The connection ended before the request did."""


def _check_framing(scope: Scope) -> None:
    """Raise if the end of the body is ambiguous, which would allow request smuggling past proxies."""
    names = [name.lower() for name, _ in scope["headers"]]
    if b"transfer-encoding" in names and (b"content-length" in names or scope.get("http_version") == "1.0"):
        raise ambiguous_length()


async def _read(scope: Scope, receive: Receive, maximum: int) -> Receive:
    """Read the whole body; raise as soon as it is too long, whatever its headers say."""
    stated = dict(scope["headers"]).get(b"content-length", b"0")
    if stated.isdigit() and int(stated) > maximum:
        raise too_large(maximum)
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise _IncompleteRequestError
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
        if sum(map(len, parts)) > maximum:
            raise too_large(maximum)
    waiting: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _method(scope: Scope) -> str:
    """The method, from a closed list: callers must not be able to create metric labels."""
    known = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")
    return str(scope["method"]) if scope["method"] in known else "OTHER"

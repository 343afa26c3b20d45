"""Connections: deadlines for the arrival of requests, and limits per address.

Without deadlines, a client that sends half a request and stops would hold a connection for ever, and a thousand of them
would hold them all. Here a request that does not arrive in time is answered with 408 and its connection closed. When
connections run out, one whose request has not arrived yet gives way to a new one: first of the same address, then of
the address that holds the most. Requests that have arrived are always answered.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from podium.service.http.middleware import problem_body
from podium.service.settings import CONFIG_VARIABLE, Limits, load
from podium.wire.identifiers import new_id
from podium.wire.problems import MEDIA_TYPE
from podium.wire.refusals import Refusal

__all__ = ["Connection", "Crowd"]

_PHRASES = {408: "Request Timeout", 503: "Service Unavailable"}


@dataclass(slots=True)
class Crowd:
    """The connections of a worker by address, oldest first."""

    limits: Limits
    _members: defaultdict[str, dict[Connection, None]] = field(default_factory=lambda: defaultdict(dict))
    _number: int = 0

    def enter(self, one: Connection) -> bool:
        """Admit a connection, evicting another if needed; False if all others have requests to answer."""
        if len(self._members[one.address]) >= self.limits.connections_per_address:
            room = self._make_room([one.address])
        elif self._number >= self.limits.connections:
            room = self._make_room(sorted(self._members, key=lambda address: -len(self._members[address])))
        else:
            room = True
        if room:
            self._members[one.address][one] = None
            self._number += 1
        return room

    def leave(self, one: Connection) -> None:
        """Remove a connection, if it is still there."""
        if one in self._members[one.address]:
            del self._members[one.address][one]
            self._number -= 1
        if not self._members[one.address]:
            del self._members[one.address]

    def _make_room(self, addresses: list[str]) -> bool:
        for address in addresses:
            idle = next((one for one in self._members[address] if one.arriving), None)
            if idle is not None:
                self.leave(idle)
                idle.give_way()
                return True
        return False


class Connection(H11Protocol):
    """A connection that closes if a request does not arrive in time."""

    def __init__(self, *arguments: Any, crowd: Crowd | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._crowd = _crowd_of_worker() if crowd is None else crowd
        self._deadline: asyncio.TimerHandle | None = None
        self._stage: object = None
        self.address: str = ""

    @property
    def arriving(self) -> bool:
        """Whether no complete request has arrived yet."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Enter the crowd, or close if it is full."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if self._crowd.enter(self):
            self._watch()
        else:
            self._close(_full())

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the crowd."""
        self._crowd.leave(self)
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process bytes; the deadline moves only when headers or a request are complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse an unreadable request; once a response has begun, just close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def give_way(self) -> None:
        """Close to make room for another connection."""
        self._close(_full() if self._begun else None)

    @property
    def _begun(self) -> bool:
        """Whether part of a request has arrived and no response has started."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return not self.cycle.response_started

    def _watch(self) -> None:
        """Set the deadline for the current stage, counted from its start and not from the last byte."""
        state = self.conn.their_state
        stage = (state, self.cycle) if self.arriving and not self.transport.is_closing() else None
        if stage == self._stage:
            return
        self._forget()
        self._stage = stage
        if stage is not None:
            limits = self._crowd.limits
            seconds = limits.header_seconds if state is h11.IDLE else limits.body_seconds
            self._deadline = self.loop.call_later(seconds, self._give_up)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._close(_too_slow() if self._begun else None)

    def _close(self, refusal: Refusal | None) -> None:
        if self.transport.is_closing():
            return
        if refusal is not None:
            self.transport.write(_response_bytes(refusal))
        self.transport.close()


@cache
def _crowd_of_worker() -> Crowd:
    """The crowd of this process, with the settings of its app."""
    return Crowd(load(os.environ[CONFIG_VARIABLE]).limits)


def _response_bytes(refusal: Refusal) -> bytes:
    """A complete response, sent before a request has arrived."""
    body = problem_body(refusal, new_id())
    head = (
        f"HTTP/1.1 {refusal.status} {_PHRASES[refusal.status]}\r\nContent-Type: {MEDIA_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n"
    )
    return head.encode("ascii") + body


def _too_slow() -> Refusal:
    return Refusal(
        408,
        "The request did not arrive in time. Allowed: the seconds that the settings allow for headers and body. "
        "Send it again.",
        error="TooSlow",
    )


def _full() -> Refusal:
    return Refusal(
        503, "All connections are in use. Nothing was charged. Try again in a few seconds.", error="Busy", retry_after=5
    )

"""Requests that do not arrive, or that two programs would read differently, on a real worker."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
from tests.support.serving import GENEROUS, World, world

from podium.service.http.connections import Connection, Crowd

HALF = b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "
PATIENCE = 60.0


@dataclass(frozen=True)
class Listening:
    """A server in a thread of this process."""

    world: World
    port: int


@contextmanager
def listening(folder: Path, **limits: int) -> Iterator[Listening]:
    with world(folder, limits={**GENEROUS, **limits}) as made:
        crowd = Crowd(made.service.settings.limits)
        http = cast(type[asyncio.Protocol], partial(Connection, crowd=crowd))
        config = uvicorn.Config(made.app, lifespan="off", log_config=None, ws="none", http=http)
        server = uvicorn.Server(config)
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Listening(made, listener.getsockname()[1])
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
            listener.close()


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("hasty"), header_seconds=1, body_seconds=1) as made:
        yield made


@pytest.fixture(scope="module")
def token(hasty: Listening) -> str:
    return hasty.world.give("ana")


def connect(server: Listening, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE, source_address=(address, 0))


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            found += part
    return found


def problem(answer: bytes) -> tuple[int, dict[str, Any]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def alive(server: Listening) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/health", timeout=PATIENCE) as answer:
        return bool(answer.status == 200)


@pytest.mark.parametrize("sent", [HALF, b"G", b""], ids=["half a header", "a letter", "nothing"])
def test_headers_have_a_deadline(hasty: Listening, sent: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(sent)
        found = rest(connection)
    if not sent:
        assert found == b""
        return
    status, told = problem(found)
    assert (status, told["error"]) == (408, "TooSlow")


def post(token: str, *headers: str) -> bytes:
    lines = ["POST /v1/datasets/views/plan HTTP/1.1", "Host: x", f"Authorization: Bearer {token}",
             "Content-Type: application/json", *headers]  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_byte_now_and_then_moves_no_deadline(hasty: Listening, token: str) -> None:
    for begun in (HALF, post(token, "Content-Length: 1000")):
        with connect(hasty) as connection:
            connection.sendall(begun)
            connection.settimeout(0.1)
            found, closed = b"", False
            for _ in range(600):
                try:
                    connection.sendall(b"a")
                    part = connection.recv(65_536)
                    found, closed = found + part, not part
                except TimeoutError:
                    continue
                except OSError:
                    closed = True
                if closed:
                    break
        assert closed
        # What was sent after the end may have taken the answer with it.
        assert found == b"" or found.startswith(b"HTTP/1.1 408 ")


def test_what_is_left_of_a_refused_body_has_the_same_deadline(hasty: Listening, token: str) -> None:
    with connect(hasty) as connection:
        connection.sendall(post(token, "Content-Length: 70000") + b'{"item": ')
        assert rest(connection).startswith(b"HTTP/1.1 413 ")


def test_a_request_that_is_only_half_there_is_not_answered(hasty: Listening, token: str) -> None:
    body = b'{"item": "article", "k": 2}'
    asked = post(token, "Transfer-Encoding: chunked").replace(b"/plan", b"/releases")
    with connect(hasty) as connection:
        connection.sendall(asked + b"%x\r\n%s\r\n" % (len(body), body))
        connection.shutdown(socket.SHUT_WR)
        rest(connection)
    assert hasty.world.call("GET", "/v1/datasets/views/budget").json()["questions_asked"] == 0


@pytest.mark.parametrize(
    "headers",
    [("Content-Length: 5", "Transfer-Encoding: chunked"), ("Transfer-Encoding: chunked", "Content-Length: 0")],
)
def test_a_body_with_two_ends_is_refused_and_nothing_after_it_is_read(
    hasty: Listening, token: str, headers: tuple[str, ...]
) -> None:
    with connect(hasty) as connection:
        connection.sendall(post(token, *headers) + b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        found = rest(connection)
    assert b"HTTP/1.1 200 " not in found
    status, told = problem(found)
    assert (status, told["error"]) == (400, "BadRequest")
    assert b"\r\nconnection: close\r\n" in found.lower()


def test_chunks_of_an_older_protocol_are_refused(hasty: Listening, token: str) -> None:
    with connect(hasty) as connection:
        connection.sendall(post(token, "Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 400 ")


def test_who_holds_most_gives_way(tmp_path: Path) -> None:
    """Half requests of others are closed first where there are more of them; a newcomer is answered."""
    limits = {"header_seconds": 600, "connections": 12, "connections_per_address": 8}
    with listening(tmp_path, **limits) as server, ExitStack() as held:
        many = [held.enter_context(connect(server, "127.0.0.2")) for _ in range(8)]
        few = [held.enter_context(connect(server, "127.0.0.3")) for _ in range(4)]
        for one in (*many, *few):
            one.sendall(HALF)
        assert alive(server)
        # It was closed, long before its deadline; whether it was told why depends on what of it had been read.
        told = rest(many[0])
        assert told == b"" or problem(told)[1]["error"] == "Busy"
        # More of the same address: its own oldest gives way, not somebody else's.
        for _ in range(2):
            held.enter_context(connect(server, "127.0.0.2"))
        rest(many[1])
        for one in few:
            one.sendall(b"now\r\n\r\n")
            assert one.recv(65_536).startswith(b"HTTP/1.1 200 ")

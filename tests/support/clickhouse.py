"""ClickHouse for the tests: the embedded engine, by itself or behind the HTTP interface that a server has.

There is no server in a wheel; so this passes what the driver sends over HTTP to the embedded engine, one engine session
for each HTTP session, and its answers and errors back.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

__all__ = ["PASSWORD", "embedded_clickhouse", "served_clickhouse"]

PASSWORD = "not-for-messages"  # noqa: S105
_TRANSPORT = ("client_protocol_version", "database", "query_id", "session_id", "session_timeout", "wait_end_of_query")
_FORMAT = re.compile(r"\s+FORMAT\s+Native\s*;?\s*$", re.IGNORECASE)


@contextmanager
def embedded_clickhouse(*statements: str) -> Iterator[Any]:
    """A session with the process's one engine in memory, after these statements."""
    with Session() as session:  # type: ignore[no-untyped-call]
        for statement in statements:
            session.query(statement)
        yield session


class _Bridge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sessions: ClassVar[dict[str, Any]]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._reply(200, b"Ok.\n")

    def do_POST(self) -> None:
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self._body()
        identity = parameters.get("session_id", "")
        if identity not in self.sessions:
            self.sessions[identity] = Session()  # type: ignore[no-untyped-call]
        try:
            self._reply(200, _answer(self.sessions[identity], parameters, body))
        except Exception as error:  # noqa: BLE001
            self._reply(500, str(error).encode(), **{"X-ClickHouse-Exception-Code": "1"})

    def _body(self) -> bytes:
        if "Content-Length" in self.headers:
            return self.rfile.read(int(self.headers["Content-Length"]))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "X-ClickHouse-Summary": "{}", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _answer(session: Any, parameters: dict[str, str], body: bytes) -> bytes:
    settings = ", ".join(f"{name} = '{value}'" for name, value in parameters.items() if name not in _TRANSPORT)
    if settings:
        session.query(f"SET {settings}")
    if not body.startswith(b"INSERT"):
        text = body.decode()
        form = "Native" if _FORMAT.search(text) else "TSV"
        return bytes(session.query(_FORMAT.sub("", text), form).bytes())
    statement, _, rows = body.partition(b"\n")
    with tempfile.NamedTemporaryFile() as file:
        file.write(rows)
        file.flush()
        session.query(f"{_FORMAT.sub('', statement.decode())} FROM INFILE '{file.name}' FORMAT Native")
    return b""


@contextmanager
def served_clickhouse() -> Iterator[str]:
    """The URL of the process's one engine."""

    class Bridge(_Bridge):
        sessions: ClassVar[dict[str, Any]] = {}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"clickhouse://reader:{PASSWORD}@127.0.0.1:{server.server_port}/default"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        for session in Bridge.sessions.values():
            session.close()

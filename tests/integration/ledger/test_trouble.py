"""Busy, broken, foreign and unreachable ledgers: a clear message in time, and nothing spent."""

from __future__ import annotations

import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from podium.errors import InvalidArgument, LedgerLocked, LedgerUnavailable
from podium.ledger import Budget, Ledger, open_ledger
from podium.privacy import Cost

PURE = Budget(epsilon=1, items=10, questions=10)
TENTH = Cost(epsilon="0.1", rho="0.005")


@contextmanager
def busy(url: str) -> Iterator[None]:
    """Somebody else holds the data set 'clicks'."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            connection.close()
    else:
        with psycopg.connect(url) as server:
            server.execute("SELECT * FROM podium_ledger.datasets WHERE name = 'clicks' FOR UPDATE")
            yield


def test_a_busy_ledger_is_reported_within_the_timeout(url: str) -> None:
    with open_ledger(url, timeout=0.3) as ledger:
        ledger.register("clicks", PURE, source="s")
        reservation = ledger.reserve("clicks", TENTH, "q")
        with busy(url):
            start = time.monotonic()
            with pytest.raises(
                LedgerLocked, match=r"busy for more than timeout=0.3 seconds; nothing was changed"
            ) as caught:
                ledger.reserve("clicks", TENTH, "q2")
            with pytest.raises(LedgerLocked):
                ledger.settle(reservation, "{}", TENTH)
            assert time.monotonic() - start < 5
        assert caught.value.__suppress_context__
        ledger.settle(reservation, "{}", TENTH)
        assert ledger.status("clicks").spent.epsilon == Fraction(1, 10)


def test_opening_a_busy_file_is_reported_too(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_ledger(path).close()
    with busy(f"sqlite:///{path}"), pytest.raises(LedgerLocked):
        open_ledger(path, timeout=0.2)


def test_an_unreachable_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "swordfish")
    for url in (
        "postgresql://me:swordfish@127.0.0.1:1/ledger",
        "postgresql:///ledger?host=/nowhere/at/all&password=swordfish",
    ):
        with pytest.raises(LedgerUnavailable, match="could not be reached") as caught:
            open_ledger(url, timeout=1)
        assert "swordfish" not in str(caught.value)
        assert caught.value.__suppress_context__


class Relay:
    """A socket in front of the server's, which can be cut."""

    def __init__(self, folder: Path, target: str) -> None:
        self._target = target
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._cut = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._cut.is_set():
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._open += [client, server]
                for source, sink in ((client, server), (server, client)):
                    thread = threading.Thread(target=self._copy, args=(source, sink), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        self._cut.set()
        self.hang_up()

    def hang_up(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut.clear()

    def close(self) -> None:
        self.cut()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)
        for end in self._open:
            end.close()


@pytest.fixture
def relay(postgresql: str, tmp_path: Path) -> Iterator[tuple[Relay, str]]:
    host = conninfo_to_dict(postgresql)["host"]
    made = Relay(tmp_path, f"{host}/.s.PGSQL.5432")
    try:
        yield made, postgresql.replace(str(host), str(tmp_path))
    finally:
        made.close()


def test_a_server_that_goes_away_spends_nothing(relay: tuple[Relay, str]) -> None:
    wire, url = relay
    with open_ledger(url, timeout=2) as ledger:
        ledger.register("clicks", PURE, source="s")
        reservation = ledger.reserve("clicks", TENTH, "q")
        wire.cut()
        with pytest.raises(LedgerUnavailable, match="what was not confirmed is not released"):
            ledger.settle(reservation, "{}", TENTH)
        with pytest.raises(LedgerUnavailable):
            ledger.reserve("clicks", TENTH, "q2")
        wire.mend()
        assert ledger.status("clicks").open_reservations == 1
        ledger.settle(reservation, "{}", TENTH)
        assert ledger.status("clicks").spent.epsilon == Fraction(1, 10)
        # A connection that was cut while nobody used it is replaced without a word.
        wire.hang_up()
        ledger.reserve("clicks", TENTH, "q3")
        assert ledger.verify().sound


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.register("clicks", PURE, source="s")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(LedgerUnavailable, match=r"mode=644.*chmod 600"):
        open_ledger(path)


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.touch(mode=0o644)
    with open_ledger(path) as ledger:
        assert ledger.datasets() == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_of_others_are_refused_and_left_as_they_are(tmp_path: Path) -> None:
    text, database = tmp_path / "notes.txt", tmp_path / "shop.db"
    text.write_text("not a database, but long enough to look like one" * 100)
    text.chmod(0o600)
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE orders (id INTEGER)")
    connection.close()
    database.chmod(0o600)
    for path in (text, database, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(LedgerUnavailable):
            open_ledger(path)
        assert not path.is_file() or path.read_bytes() == before


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="Check the path"):
        open_ledger(tmp_path / "no" / "such" / "folder.db")
    with pytest.raises(LedgerUnavailable, match="Check the path"):
        open_ledger(tmp_path / "none.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_server_without_a_ledger(postgresql: str) -> None:
    with pytest.raises(LedgerUnavailable, match="has no ledger in it"):
        open_ledger(postgresql, create=False)


def test_a_ledger_that_vanished_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.register("clicks", PURE, source="s")
        ledger.close()
        path.unlink()
        with pytest.raises(LedgerUnavailable):
            ledger.reserve("clicks", TENTH, "q")
    assert not path.exists()


@pytest.mark.parametrize("url", ["", ":memory:", "sqlite://", "mysql://me:swordfish@host/db", "sqlite:///:memory:"])
def test_other_addresses(url: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_ledger(url)
    assert "swordfish" not in str(caught.value)


def test_a_broken_address() -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_ledger("postgresql://host/db?nonsense=swordfish")
    assert "swordfish" not in str(caught.value)


def test_settings_that_durability_rests_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        for pragma, value in (("synchronous", 2), ("journal_mode", "truncate"), ("foreign_keys", 1)):
            with ledger._backend.transaction(write=False) as session:
                assert session.rows(f"PRAGMA {pragma}") == [(value,)]


def test_a_ledger_is_shown_without_its_password(relay: tuple[Relay, str]) -> None:
    _, url = relay
    with open_ledger(url.replace("postgres:@", "postgres:swordfish@")) as ledger:
        assert isinstance(ledger, Ledger)
        assert "swordfish" not in repr(ledger)
        assert "postgresql://" in repr(ledger)

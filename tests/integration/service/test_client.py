"""The client against a real server: the same releases, the same errors, paid for once."""

from __future__ import annotations

import http.server
import resource
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from tests.support.serving import Running, new_token, running

import podium
from podium.client import Client
from podium.errors import BudgetExceeded, InvalidArgument, QuestionRefused, SourceUnavailable, UnknownColumn
from podium.release import Receipt
from podium.wire.refusals import Refusal


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("server"), workers=1) as started:
        yield started


@pytest.fixture(scope="module")
def client(server: Running) -> Client:
    return podium.connect(server.url, token=new_token(server, "ana"))


def test_a_thousand_half_sent_headers_do_not_stop_it(server: Running) -> None:
    place = urlsplit(server.url)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with ExitStack() as held:
            for _ in range(1_005):
                connection = held.enter_context(socket.create_connection((place.hostname, place.port), timeout=60))
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            for _ in range(3):
                with urllib.request.urlopen(f"{server.url}/health", timeout=60) as answer:  # noqa: S310 - ours
                    assert answer.status == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_same_releases(client: Client) -> None:
    release = client.top("article", k=3, where="weekday < 6", counts=True)
    assert isinstance(release, podium.Release)
    assert release.items[0] == "a0"
    assert release.value_kind == "counts"
    assert release.paid.rho > 0
    again = client.top("article", k=3, where="weekday < 6", counts=True)
    assert again == replace(release, paid=Receipt((), entry=release.paid.entry))
    assert release.paid.entry is not None
    assert client.release(release.paid.entry) == release
    assert next(iter(release.to_pandas(item="article")["article"])) == "a0"
    sql = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 2"
    assert client.sql(sql).items == client.top("article", k=2).items
    assert [one["question"]["k"] for one in client.releases()] == [2, 3]
    assert client.history()[0]["kind"] == "registered"
    assert client.datasets == ("views",)


def test_plans_and_budgets(client: Client) -> None:
    plan = client.plan("article", k=5)
    assert plan.at_most.rho is not None
    assert "SELECT" in plan.queries[0]
    assert str(plan).startswith("mechanism  LimitedDomain")
    assert client.status["total"]["budget"]["epsilon"] == "3"


def test_the_same_errors(client: Client, server: Running) -> None:
    with pytest.raises(UnknownColumn, match="item='articel' is not a column"):
        client.top("articel")
    with pytest.raises(BudgetExceeded) as exceeded:
        client.top("article", k=10, epsilon=4)
    assert exceeded.value.short_by == exceeded.value.requested - exceeded.value.remaining > 0
    with pytest.raises(QuestionRefused, match="is not allowed"):
        client.top("article", where="country LIKE country")
    with pytest.raises(InvalidArgument) as invalid:
        client.top("article", k=3, k_bar=2)
    assert invalid.value.lines[0].endswith("is not valid.")
    with pytest.raises(Refusal, match="has no valid token"):
        podium.connect(server.url, token="podium_wrong")
    with pytest.raises(Refusal, match="does not exist"):
        client.select("absent").top("article")


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    """A proxy that wants people to sign in: a page, or a redirect to one."""

    def do_GET(self) -> None:
        self.send_response(302 if self.path.startswith("/moved") else 200)
        self.send_header("Location", "https://example.org/sign-in")
        self.end_headers()
        self.wfile.write(b"<p>Sign in, please")

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.mark.parametrize("path", ["", "/moved"])
def test_an_address_where_another_program_answers(path: str) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), _Elsewhere) as elsewhere:
        thread = threading.Thread(target=elsewhere.handle_request)
        thread.start()
        with pytest.raises(SourceUnavailable, match="answered, but not as podium does"):
            podium.connect(f"http://127.0.0.1:{elsewhere.server_port}{path}", token="podium_x")
        thread.join()


def test_what_cannot_be_an_address_or_a_token() -> None:
    with pytest.raises(InvalidArgument, match="Allowed: http://host:port or https://host"):
        podium.connect("views.parquet", token="x")
    with pytest.raises(InvalidArgument) as caught:
        podium.connect("http://localhost", token="podium_s\nX: y")
    assert "podium_s" not in str(caught.value)


def test_a_lost_answer_is_asked_for_again_under_the_same_key(server: Running) -> None:
    token = new_token(server, "unlucky")
    with _losing_first_answers(server.url) as url:
        client = podium.connect(url, token=token, dataset="views")
        release = client.top("weekday", k=2)
    direct = podium.connect(server.url, token=token)
    asked = [one for one in direct.history() if one.get("analyst") == "unlucky"]
    assert len(asked) == 1
    assert direct.release(str(release.paid.entry)).items == release.items


def test_nobody_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SourceUnavailable, match="did not answer"):
            podium.connect(url, token="podium_x")


class _losing_first_answers:  # noqa: N801 - used like a function
    """A proxy that passes a question on and hangs up before its answer, once."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._lost = False

    def __enter__(self) -> str:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with near, socket.create_connection(("127.0.0.1", self._port)) as far:
                request = near.recv(1 << 20)
                while b"\r\n\r\n" not in request or (b"POST" in request and not request.endswith(b"}")):
                    request += near.recv(1 << 20)
                far.sendall(request.replace(b"Connection: keep-alive", b"Connection: close"))
                answer = b""
                while part := far.recv(1 << 20):
                    answer += part
                if b"POST" in request and not self._lost:
                    self._lost = True
                    continue
                near.sendall(answer)

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
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.serving import FILMS, RANKING, Running, new_token, running, votes

import podium
from podium import dbapi
from podium.client import Client
from podium.errors import BudgetExceeded, InvalidArgument, QuestionRefused, SourceUnavailable, UnknownColumn
from podium.query import Question, RankingQuestion
from podium.release import Receipt
from podium.service.store.database import open_state
from podium.service.store.tokens import Tokens
from podium.wire.refusals import Refusal

BUDGET = "epsilon = 3\ndelta = 1e-6\nitems = 200\nquestions = 20\n"
VOTES_SETTINGS = """
[datasets.votes]
source = "votes.parquet"
user = "voter"
budget = {epsilon = 40, delta = 1e-6, items = 100, questions = 20}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("server")
    votes(made / "votes.parquet")
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Running]:
    # The budget is the last section of the settings, so another data set may follow it.
    with running(folder, workers=1, budget=f"{BUDGET}{VOTES_SETTINGS}") as started:
        yield started


@pytest.fixture(scope="module")
def client(server: Running) -> Client:
    return podium.connect(server.url, token=new_token(server, "ana"), dataset="views")


@pytest.fixture
def curators(server: Running, folder: Path) -> Iterator[dict[str, podium.Curator]]:
    """Curators of the same tables on the same ledger."""
    ledger = folder / "ledger.db"
    with (
        podium.Curator(folder / "views.parquet", dataset="views", user="user_id", ledger=ledger) as views,
        podium.Curator(folder / "votes.parquet", dataset="votes", user="voter", ledger=ledger) as ranked,
    ):
        yield {"views": views, "votes": ranked}


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
    sql = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2"
    assert client.sql(sql).items == client.top("article", k=2).items
    assert [one["question"]["k"] for one in client.releases()] == [2, 3]
    assert client.history()[0]["kind"] == "registered"
    assert client.datasets == ("views", "votes")


def test_the_data_set_may_be_left_out_where_there_is_one(server: Running) -> None:
    state = open_state(server.state)
    try:
        secret, _ = Tokens(state).create("narrow", role="analyst", datasets=["views"])
    finally:
        state.close()
    only = podium.connect(server.url, token=secret)
    assert (only.dataset, only.datasets) == ("views", ("views",))
    several = podium.connect(server.url, token=new_token(server, "wide"))
    assert (several.dataset, several.datasets) == (None, ("views", "votes"))
    with pytest.raises(InvalidArgument, match=r"dataset=None is not valid\. Allowed: one of views, votes"):
        several.top("article")


def test_another_data_set_is_selected_and_the_first_stays(client: Client) -> None:
    other = client.select("votes")
    assert (client.dataset, other.dataset) == ("views", "votes")
    assert other.datasets == client.datasets
    assert client.status["total"]["budget"]["epsilon"] == "3"
    assert other.status["total"]["budget"]["epsilon"] == "40"
    assert client.schema.names == ("user_id", "article", "weekday", "country")
    assert other.schema.names == ("voter", "better", "worse", "age", "used")


@pytest.mark.parametrize("dataset", ["views", "votes"])
def test_the_same_schema(client: Client, curators: dict[str, podium.Curator], dataset: str) -> None:
    """With the digits of decimals and the elements of lists."""
    assert client.select(dataset).schema == curators[dataset].schema


def test_a_ranking_is_asked_for(client: Client, curators: dict[str, podium.Curator]) -> None:
    ranked = client.select("votes")
    release = ranked.rank(**RANKING, epsilon=20)
    assert isinstance(release, podium.Release)
    assert release.items == ("f0", "f1")
    assert release.paid.rho > 0
    for again in (
        ranked.rank(**RANKING, epsilon=20),
        ranked.ask(RankingQuestion(**RANKING), epsilon="20"),
        curators["votes"].rank(**RANKING, epsilon=20),
    ):
        assert again == replace(release, paid=Receipt((), entry=release.paid.entry))
    assert release.paid.entry is not None
    assert ranked.release(release.paid.entry) == release
    pairs = [(one, other) for one in FILMS for other in FILMS if one < other]
    parts = {**RANKING, "items": None, "pairs": pairs, "where": ["age >= 0", "age < 200"], "mixing": Fraction(1, 10)}
    assert ranked.plan_rank(**parts, method="spectral") == curators["votes"].plan_rank(**parts, method="spectral")


@pytest.mark.parametrize(
    "options",
    [
        {"k": 5}, {"k": 3, "by": "events"}, {"k": 2, "by": "sum(weekday)", "clip": 6, "counts": True},
        {"k": 3, "counts": True, "where": "country = 'DE'"}, {"k": 2, "epsilon": "0.3"},
        {"k": 2, "where": ["country = 'DE'", "weekday < 5"], "max_items_per_user": 2},
        {"k": 2, "domain": ["a0", "a1", "a2"], "ordered": False}, {"k": 3, "mechanism": "adaptive"},
    ],
)  # fmt: skip
def test_the_same_plan(client: Client, curators: dict[str, podium.Curator], options: dict[str, Any]) -> None:
    plan = client.plan("article", **options)
    assert isinstance(plan, podium.Plan)
    assert plan == curators["views"].plan("article", **options)
    assert str(plan) == str(curators["views"].plan("article", **options))
    epsilon = options.pop("epsilon", None)
    assert client.plan_question(Question(item=("article",), **options), epsilon=epsilon) == plan


def test_the_same_plan_for_sql_and_for_rankings(client: Client, curators: dict[str, podium.Curator]) -> None:
    sql = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 2"
    assert client.plan(sql=sql) == curators["views"].plan(sql=sql) == client.plan("article", k=2, counts=True)
    before = client.select("votes").status
    plan = client.select("votes").plan_rank(**RANKING)
    assert plan == curators["votes"].plan_rank(**RANKING)
    scored = client.select("votes").plan_rank(**RANKING, scores=True)
    assert scored == curators["votes"].plan_rank(**RANKING, scores=True)
    assert scored.at_most.rho > plan.at_most.rho
    assert client.select("votes").status == before


def test_a_file_is_not_sent(client: Client, tmp_path: Path) -> None:
    """A path would be read as a list of letters, or by the server."""
    file = tmp_path / "items.csv"
    file.write_text("article\na0\n", encoding="utf-8")
    for path in (file, str(file)):
        with pytest.raises(InvalidArgument, match="Allowed: a list of items"):
            client.top("article", domain=path)
        with pytest.raises(InvalidArgument, match="Allowed: a list of items"):
            client.select("votes").rank(**{**RANKING, "items": path})
    listed = client.plan("article", k=1, domain=(f"a{place}" for place in range(3)))
    assert listed == client.plan("article", k=1, domain=["a0", "a1", "a2"])


def test_a_batch_is_planned_and_answered_together(client: Client) -> None:
    batch = client.batch([{"item": "article", "k": 2}, {"item": "article", "k": 3}, {"item": "country", "k": 2}])
    plan = batch.plan()
    assert (plan.same_as, plan.fits) == ((1, 1, 2), True)
    answers = batch.ask()
    assert answers[0].items == answers[1].items[:2]
    assert [one.items for one in batch.ask()] == [one.items for one in answers]
    assert client.top("country", k=2).paid.events == ()
    with pytest.raises(BudgetExceeded, match="admitted together, or none"):
        client.batch(
            [{"item": "country", "k": 1, "where": f"article <> 'x{n}'", "epsilon": 1} for n in range(60)]
        ).ask()
    with pytest.raises(InvalidArgument, match="1 to 100 questions"):
        client.batch([]).ask()


def test_plans_and_budgets(client: Client) -> None:
    plan = client.plan("article", k=2)
    assert plan.at_most.rho is not None
    assert "SELECT" in plan.queries[0]
    assert plan.explain().startswith("mechanism  LimitedDomain")
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
    direct = podium.connect(server.url, token=token, dataset="views")
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


def test_the_database_interface_speaks_to_a_service(server: Running, client: Client) -> None:
    statement = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2"
    token = new_token(server, "dba")
    with dbapi.connect(server.url, token=token, dataset="views") as connection:
        cursor = connection.execute(statement)
        assert cursor.fetchall() == [(item,) for item in client.sql(statement).items]
        with pytest.raises(dbapi.ProgrammingError, match="Write: SELECT article"):
            connection.execute("SELECT * FROM views")
    with pytest.raises(dbapi.OperationalError, match="token"):
        dbapi.connect(server.url, token="nobody")

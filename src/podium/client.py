"""The HTTP client: the interface of a curator, with the same releases and errors, over a service.

It needs only the standard library. If an answer is lost, the client repeats the question with the same idempotency
key, so it is charged once.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Unpack
from urllib.parse import quote, urlsplit

from podium.errors import InvalidArgument, PodiumError, SourceUnavailable
from podium.exact import Number
from podium.planning.batch_plan import BatchPlan
from podium.planning.question_plan import Plan
from podium.query import Column, Kind, Question, QuestionOptions, RankingOptions, RankingQuestion, Schema
from podium.query.batch_question import AnyQuestion, batch_questions
from podium.query.spelled_options import QUESTION_DEFAULTS, RANKING_DEFAULTS, SQL_DEFAULTS, spell_out
from podium.release import Release
from podium.release.batch_answers import BatchAnswers
from podium.version import __version__
from podium.wire.identifiers import new_id
from podium.wire.problems import restore_error
from podium.wire.refusals import Refusal
from podium.wire.request import QuestionRequest

__all__ = ["Client", "connect"]

_RETRIES = 3
_WAIT_SECONDS = 0.5
_RETRY_STATUSES = (503, 429)


def connect(url: str, *, token: str, dataset: str | None = None, timeout: float = 600.0) -> Client:
    """Connect to the service at ``url``. ``dataset`` is optional if the token is for one data set."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidArgument("url", url, allowed="http://host:port or https://host")
    if not (token and token.isascii() and token.isprintable()):
        # Not quoted: it may be a real token with a stray character.
        raise InvalidArgument("token", "(withheld)", allowed="what 'podium token create' printed")
    transport = _Transport(url.rstrip("/"), token, timeout)
    about = transport.call("GET", "/v1")
    if dataset is None and len(about["datasets"]) == 1:
        dataset = about["datasets"][0]
    return Client(transport, dataset, tuple(about["datasets"]))


class Client:
    """A data set served over HTTP."""

    def __init__(self, transport: _Transport, dataset: str | None, datasets: tuple[str, ...]) -> None:
        self._transport, self._dataset, self._datasets = transport, dataset, datasets

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets in the token's scope."""
        return self._datasets

    @property
    def dataset(self) -> str | None:
        """The selected data set; None if the token's scope has several and none was selected."""
        return self._dataset

    def select(self, dataset: str) -> Client:
        """The same connection, for another data set."""
        return Client(self._transport, dataset, self._datasets)

    @property
    def schema(self) -> Schema:
        """The columns that questions may name, with their kinds."""
        schemas = self.schemas
        if len(schemas) > 1:
            raise InvalidArgument(
                "table", None, allowed=f"one of {', '.join(schemas)}", hint="schemas has the columns of every table."
            )
        return next(iter(schemas.values()))

    @property
    def schemas(self) -> dict[str, Schema]:
        """The columns of every table by its name; a single table has that of the data set."""
        about = self.about
        tables = about.get("tables") or [about]
        return {table["name"]: Schema(tuple(_column(column) for column in table["columns"])) for table in tables}

    @property
    def about(self) -> dict[str, Any]:
        """What the service says of the data set: its columns, the unit of protection, and what is left."""
        return self._transport.call("GET", self._place(""))

    @property
    def status(self) -> dict[str, Any]:
        """What is guaranteed, spent and left, as far as the token may see it; exact numbers are strings."""
        return self._transport.call("GET", self._place("budget"))

    @spell_out(QUESTION_DEFAULTS)
    def top(
        self,
        item: str | Iterable[str],
        *,
        table: str | None = None,
        epsilon: Number | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Release:
        """The k items with the most distinct users, charged to the data set's budget; repeating a question is free."""
        question = Question.of(item, table=table, **options)
        return self.ask(question, epsilon=epsilon, idempotency_key=idempotency_key)

    @spell_out(SQL_DEFAULTS)
    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Release:
        """Like ``top``, for a question written as SQL."""
        question = Question.of(sql=text, **options)
        return self.ask(question, epsilon=epsilon, idempotency_key=idempotency_key)

    @spell_out(RANKING_DEFAULTS)
    def rank(
        self,
        *,
        winner: str,
        loser: str,
        comparisons_per_pair: int,
        table: str | None = None,
        epsilon: Number | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[RankingOptions],
    ) -> Release:
        """The k best items of pairwise comparisons, charged to the budget; arguments as in ``podium.rank``."""
        question = RankingQuestion(
            winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, table=table, **options
        )
        return self.ask(question, epsilon=epsilon, idempotency_key=idempotency_key)

    @spell_out(QUESTION_DEFAULTS)
    def plan(
        self,
        item: str | Iterable[str] = (),
        *,
        sql: str | None = None,
        table: str | None = None,
        epsilon: Number | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Plan:
        """Plan what ``top`` or ``sql`` would do and cost; free."""
        question = Question.of(item, sql=sql, table=table, **options)
        return self.plan_question(question, epsilon=epsilon)

    @spell_out(RANKING_DEFAULTS)
    def plan_rank(
        self,
        *,
        winner: str,
        loser: str,
        comparisons_per_pair: int,
        table: str | None = None,
        epsilon: Number | None = None,
        **options: Unpack[RankingOptions],
    ) -> Plan:
        """Plan what ``rank`` would do and cost; free."""
        question = RankingQuestion(
            winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, table=table, **options
        )
        return self.plan_question(question, epsilon=epsilon)

    def ask(
        self,
        question: Question | RankingQuestion,
        *,
        epsilon: Number | None = None,
        idempotency_key: str | None = None,
    ) -> Release:
        """Answer a ``Question``; retries under the same key are charged once."""
        key = new_id() if idempotency_key is None else idempotency_key
        body = _request(question, epsilon).to_dict()
        return _release(self._transport.call("POST", self._place("releases"), body, key=key))

    def plan_question(self, question: Question | RankingQuestion, *, epsilon: Number | None = None) -> Plan:
        """Plan what a ``Question`` would do and cost; free."""
        return Plan.from_dict(self._transport.call("POST", self._place("plan"), _request(question, epsilon).to_dict()))

    def batch(self, questions: Iterable[AnyQuestion], *, idempotency_key: str | None = None) -> ClientBatch:
        """Several questions, priced together by ``plan`` and answered by ``ask``: all are admitted, or none."""
        asked = [_request(question, epsilon).to_dict() for question, epsilon in batch_questions(questions)]
        return ClientBatch(self._transport, self._place("batch"), asked, idempotency_key)

    def release(self, entry: str) -> Release:
        """Fetch a release by the hash in its receipt."""
        return _release(self._transport.call("GET", self._place(f"releases/{quote(entry, safe='')}")))

    def releases(self) -> list[dict[str, Any]]:
        """List what was released so far, newest first, without the answers."""
        found: list[dict[str, Any]] = self._transport.call("GET", self._place("releases"))["releases"]
        return found

    def history(self) -> list[dict[str, Any]]:
        """List the ledger entries that the token may see."""
        found: list[dict[str, Any]] = self._transport.call("GET", self._place("history"))["entries"]
        return found

    def _place(self, what: str) -> str:
        if self._dataset is None:
            raise InvalidArgument("dataset", None, allowed=f"one of {', '.join(self._datasets) or 'none'}")
        return f"/v1/datasets/{quote(self._dataset, safe='')}/{what}".rstrip("/")


class ClientBatch:
    """Several questions about a data set served over HTTP, made by ``Client.batch``."""

    def __init__(self, transport: _Transport, place: str, questions: list[dict[str, Any]], key: str | None) -> None:
        self._transport, self._place, self._body = transport, place, {"questions": questions}
        self._key = new_id() if key is None else key

    def plan(self) -> BatchPlan:
        """What each question would do, and what all of them can cost together; free."""
        return BatchPlan.from_dict(self._transport.call("POST", f"{self._place}/plan", self._body))

    def ask(self) -> BatchAnswers:
        """Answer all questions, or none; retries under the same key are charged once."""
        told = self._transport.call("POST", self._place, self._body, key=self._key)["answers"]
        return BatchAnswers(tuple(map(_outcome, told)))


@dataclass(frozen=True, slots=True, repr=False)
class _Transport:
    """Sends requests with a token. It does not follow redirects: a token is for one host."""

    url: str
    token: str
    timeout: float

    def call(self, method: str, path: str, body: object = None, *, key: str | None = None) -> dict[str, Any]:
        """Send a request, with retries; a request that changes something carries an idempotency key."""
        failure: Exception | None = None
        for attempt in range(_RETRIES):
            if attempt:
                time.sleep(_WAIT_SECONDS * attempt)
            try:
                return self._once(method, path, body, key)
            except (Refusal, PodiumError) as error:
                failure = error
                if getattr(error, "http_status", None) not in _RETRY_STATUSES:
                    raise
            except (OSError, http.client.HTTPException):
                failure = SourceUnavailable(
                    f"url={self.url!r} did not answer. A service is started with 'podium serve'. Check the address."
                )
        raise failure or AssertionError("at least one attempt is made")

    def _once(self, method: str, path: str, body: object, key: str | None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": f"podium/{__version__}"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode("utf-8", "surrogatepass")
        if key is not None:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)  # noqa: S310
        try:
            with _OPENER.open(request, timeout=self.timeout) as response:
                found = _document(response.read())
        except urllib.error.HTTPError as error:
            with error:
                told = _document(error.read())
            failed = restore_error(told, error.code) if told else self._not_podium()
            failed.http_status = error.code  # type: ignore[attr-defined]
            raise failed from None
        if not found:
            raise self._not_podium()
        return found

    def _not_podium(self) -> SourceUnavailable:
        """Podium always answers with a JSON object: a sign-in page or a redirect comes from another program."""
        return SourceUnavailable(
            f"url={self.url!r} answered, but not as podium does. Allowed: the address of a podium service. "
            "Check the host, the port and https, and whether a proxy requires people to sign in."
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Treat a redirect as an error."""


_OPENER = urllib.request.build_opener(_NoRedirects)


def _document(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _release(document: dict[str, Any]) -> Release:
    return Release.from_json(json.dumps(document))


def _outcome(told: dict[str, Any]) -> Release | PodiumError:
    """What came of one question of a batch."""
    if "release" in told:
        return _release(told["release"])
    failed = restore_error(told["problem"], told["problem"]["status"])
    return failed if isinstance(failed, PodiumError) else PodiumError(str(failed))


def _column(document: dict[str, Any]) -> Column:
    element = document.get("element")
    return Column(
        document["name"], Kind(document["kind"]), None if element is None else Kind(element), document.get("scale", 0)
    )


def _request(question: Question | RankingQuestion, epsilon: Number | None) -> QuestionRequest:
    """The question as sent: items are lists, because a path would name a file on the server."""
    return QuestionRequest.of(**{each.name: getattr(question, each.name) for each in fields(question)}, epsilon=epsilon)

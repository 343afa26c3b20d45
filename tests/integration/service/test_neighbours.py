"""Nothing but the release tells a table from its neighbour: not a status, a header, a size or the text of an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tests.support.service_neighbours import Exchange, conversations

from podium.curator import curator, prepare
from podium.errors import InvalidArgument
from podium.query.record import subject_json


def differing(sides: list[list[Exchange]]) -> list[tuple[Exchange, Exchange]]:
    table, neighbour = sides
    assert len(table) == len(neighbour)
    return [(one, other) for one, other in zip(table, neighbour, strict=True) if one != other]


def test_neighbours_look_the_same_given_what_was_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = conversations(tmp_path, monkeypatch)
    assert differing(sides) == []
    asked = Counter(one.status for one in sides[0] if "POST" in one.request and "/releases" in one.request)
    # Answered, refused for what they say, and refused for want of budget, whose text tells what is left.
    assert asked[200] >= 40
    assert asked[422] >= 20
    assert asked[409] >= 10
    assert set(asked) == {200, 422, 409}
    assert len(sides[0]) > 200


def _users(table: Path) -> list[str]:
    """The user of each row."""
    return [str(user) for (user,) in duckdb.execute("SELECT user_id FROM read_parquet(?)", [str(table)]).fetchall()]


def _header(app: ASGIApp, table: Path) -> ASGIApp:
    """An app whose answers say how many rows there are."""
    rows = str(len(_users(table))).encode()

    async def leaky(scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-rows", rows)]
            await send(message)

        await app(scope, receive, told)

    return leaky


def _padding(app: ASGIApp, table: Path) -> ASGIApp:
    """An app whose answers are longer where there are more rows, which no header says."""
    spaces = b" " * (len(_users(table)) % 97)

    async def leaky(scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message = {**message, "headers": kept}
            elif not message.get("more_body"):
                message = {**message, "body": message.get("body", b"") + spaces}
            await send(message)

        await app(scope, receive, told)

    return leaky


@pytest.mark.parametrize("leak", [_header, _padding])
def test_an_app_that_tells_of_rows_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: Callable[[ASGIApp, Path], ASGIApp]
) -> None:
    monkeypatch.setattr("tests.support.service_neighbours.questions", lambda: iter([{"item": "article", "k": 3}]))
    sides = conversations(tmp_path, monkeypatch, leak)
    assert len(differing(sides)) == len(sides[0])


def test_an_error_that_depends_on_rows_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helpful curator, who refuses questions about nobody before they cost anything."""
    bodies = [{"item": "article", "k": 2, "where": f"user_id = 'u{number}'"} for number in (2, 1, 0)]
    monkeypatch.setattr("tests.support.service_neighbours.questions", lambda: iter(bodies))
    count_facts = prepare.count_facts

    def helpful(source: Any, question: Any, *rest: Any) -> Any:
        users = set(_users(tmp_path / "service" / "views.parquet"))
        asked_about = subject_json(question.items, question.where)
        if question.where is not None and not any(f'"{user}"' in asked_about for user in users):
            raise InvalidArgument("where", "this", allowed="a condition that some row meets")
        return count_facts(source, question, *rest)

    monkeypatch.setattr(curator, "count_facts", helpful)
    found = differing(conversations(tmp_path, monkeypatch))
    assert (found[0][0].status, found[0][1].status) == (200, 422)
    assert "u0" in found[0][0].request

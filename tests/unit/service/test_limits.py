"""Bodies that are too long or make no sense, callers that ask too often."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.serving import World, world

from podium.curator import Curator

PLAN = "/v1/datasets/views/plan"


def send(
    here: World, content: bytes | Iterator[bytes], kind: str = "application/json"
) -> tuple[int, dict[str, object]]:
    headers = {"Authorization": f"Bearer {here.give('ana')}", "Content-Type": kind}
    answer = here.client.post(PLAN, content=content, headers=headers)
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()


def test_a_long_body_is_refused_with_and_without_its_length(here: World) -> None:
    body = b'{"item": "' + b"a" * 70_000 + b'"}'
    pieces = (body[start : start + 10_000] for start in range(0, len(body), 10_000))
    for content in (body, pieces):
        status, problem = send(here, content)
        assert status == 413
        assert problem["detail"] == (
            "The body of the request is too large. Allowed: at most 65536 bytes. Ask a shorter question."
        )


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'"item"', b"\xff\xfe", b'{"item": "article", "k": 1e400}',
        b'{"item": "article", "k": true}', b'{"item": "article", "k": "3"}', b'{"item": "article", "unknown": 1}',
        b'{"item": "article", "k": 0}', b'{"item": {"a": 1}}', b'{"item": []}', b'{"item": "\\ud800"}',
        b'{"item": "article", "epsilon": NaN}', b'{"item": "article", "epsilon": "1e999999"}',
        b'{"item": "article", "epsilon": Infinity}', b'{"item": "article", "where": "\\u0000"}',
        b'{"item": "article", "domain": [{"a": 1}]}', b'{"item": "article", "k": 100000000000000000000000}',
        b"[" * 20_000, b'{"a":' * 9_000, b'{"item": "article", "epsilon": ' + b"9" * 5_000 + b"}",
        *(b'{"item": "article", "k": %d, "epsilon": %s}' % (k, epsilon)
          for k in (10, 50) for epsilon in (b'"1e400"', b'"1e-400"', b"1e300", b"1" + b"0" * 400, b"1e-320")),
    ],
)  # fmt: skip
def test_malformed_bodies_are_refused_politely(here: World, body: bytes) -> None:
    status, problem = send(here, body)
    assert status in (400, 422)
    assert problem["error"] in ("BadRequest", "InvalidRequest", "InvalidArgument", "QuestionRefused", "UnknownColumn")


def test_another_kind_of_body_is_refused(here: World) -> None:
    assert send(here, b"item=article", "application/x-www-form-urlencoded")[0] == 422
    assert send(here, b'{"item": "article"}', "text/plain")[0] == 422


def test_rates_hold_for_each_token(tmp_path: Path) -> None:
    limits = {"requests_per_minute": 5, "questions_per_minute": 2, "failures_per_minute": 3}
    with world(tmp_path, limits=limits) as here:
        body = {"item": "article", "k": 2}
        answers = [here.call("POST", "/v1/datasets/views/releases", body) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused = answers[-1]
        assert refused.json()["error"] == "TooMany"
        assert refused.json()["detail"].startswith(
            "There were too many questions. Allowed: 2 per minute. Try again in "
        )
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert [here.call("GET", "/v1").status_code for _ in range(3)] == [200, 200, 429]
        assert here.call("GET", "/v1", who="bob").status_code == 200
        wrong = {"Authorization": "Bearer podium_guess"}
        guesses = [here.client.get("/v1", headers=wrong).status_code for _ in range(5)]
        assert guesses == [401, 401, 401, 429, 429]


def test_plans_have_a_rate_of_their_own(tmp_path: Path) -> None:
    with world(tmp_path, limits={"plans_per_minute": 2}) as here:
        plans = [here.call("POST", PLAN, {"item": "article"}) for _ in range(3)]
        assert [plan.status_code for plan in plans] == [200, 200, 429]
        assert plans[-1].json()["detail"].startswith("There were too many plans. Allowed: 2 per minute.")
        assert here.call("POST", PLAN, {"item": "article"}, who="bob").status_code == 200


def test_a_plan_comes_in_time_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    plan = Curator.plan_question

    def slow(self: Curator, question: Any, **options: Any) -> Any:
        assert question.k != 7 or go_on.wait(20)
        return plan(self, question, **options)

    monkeypatch.setattr(Curator, "plan_question", slow)
    with world(tmp_path, limits={"plan_seconds": 1}) as here:
        late = here.call("POST", PLAN, {"item": "article", "k": 7})
        assert (late.status_code, late.json()["error"]) == (503, "PlanTooLong")
        assert late.headers["retry-after"] == "5"
        # Its thread is busy still, and there is another for everybody else.
        assert here.call("POST", PLAN, {"item": "article", "k": 2}, who="bob").status_code == 200
        refused = here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": 7}, Prefer="respond-async")
        assert refused.json()["error"] == "PlanTooLong"
        go_on.set()

"""Questions in the background: states, events, cancellation, workers that die."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.serving import BUDGET, World, views, world

from podium.curator import Curator
from podium.errors import LedgerUnavailable
from podium.release import Release
from podium.service.ops.jobs import Jobs, JobState
from podium.storage.processes import this_process
from podium.wire.request import QuestionRequest

RELEASES = "/v1/datasets/views/releases"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    limits = {"parallel_questions": 1, "queued_questions": 1}
    with world(tmp_path_factory.mktemp("service"), limits=limits) as made:
        yield made


def start(here: World, **body: Any) -> str:
    answer = here.call("POST", RELEASES, {"item": "article", **body}, Prefer="respond-async")
    assert answer.status_code == 202, answer.text
    assert answer.headers["preference-applied"] == "respond-async"
    return str(answer.headers["location"])


def states(here: World, place: str) -> list[str]:
    text = here.call("GET", f"{place}/events").text
    return [json.loads(line.removeprefix("data: "))["state"] for line in text.splitlines() if line.startswith("data: ")]


def hold_answers(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """The first event says that a question is being read; no question is answered before the second is set."""
    reading, go_on = threading.Event(), threading.Event()
    ask = Curator.ask

    def slow(self: Curator, *arguments: Any, **options: Any) -> Release:
        reading.set()
        assert go_on.wait(20)
        return ask(self, *arguments, **options)

    monkeypatch.setattr(Curator, "ask", slow)
    return reading, go_on


def test_a_job_ends_with_the_release(here: World) -> None:
    place = start(here, k=2)
    assert states(here, place)[-1] == "done"
    job = here.call("GET", place).json()
    assert job["question"] == {"item": "article", "k": 2}
    release = here.call("GET", f"{RELEASES}/{job['release']}")
    assert Release.from_json(release.text).items[0] == "a0"


def test_a_job_that_cannot_be_asked_fails_at_once(here: World) -> None:
    answer = here.call("POST", RELEASES, {"item": "articel"}, Prefer="respond-async")
    assert answer.status_code == 422


def test_a_job_that_the_budget_refuses_says_so(here: World) -> None:
    place = start(here, k=10, epsilon="4")
    assert states(here, place)[-1] == "failed"
    problem = here.call("GET", place).json()["problem"]
    assert (problem["error"], problem["status"]) == ("BudgetExceeded", 409)


def test_states_follow_each_other_and_a_queued_question_is_cancelled_free(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = hold_answers(monkeypatch)
    first = start(here, k=4)
    assert reading.wait(20)
    second = start(here, k=5)
    assert here.call("GET", first).json()["state"] == "reading"
    assert here.call("GET", second).json()["state"] == "queued"
    # One is read and one waits: a third would wait too long.
    full = here.call("POST", RELEASES, {"item": "article", "k": 6}, Prefer="respond-async")
    assert (full.status_code, full.json()["error"]) == (503, "Busy")
    waiting = here.service.state.rows("SELECT state FROM service_jobs WHERE state = 'queued'")
    assert len(waiting) == 1, "a question that was turned away must not wait on somebody's page"
    assert here.call("DELETE", second).json()["state"] == "cancelled"
    go_on.set()
    assert states(here, first)[-1] == "done"
    asked = here.call("GET", "/v1/datasets/views/budget").json()["questions_asked"]
    assert states(here, second) == ["cancelled"]
    assert here.call("GET", "/v1/datasets/views/budget").json()["questions_asked"] == asked


def test_cancelling_what_is_read_keeps_the_answer(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        reading, go_on = hold_answers(patched)
        place = start(here, item="weekday", k=2)
        assert reading.wait(20)
        assert here.call("DELETE", place).json()["state"] == "cancelled"
        go_on.set()
    # The one thread answers in turn, so this question comes after the cancelled one: free.
    again = here.call("POST", RELEASES, {"item": "weekday", "k": 2})
    assert again.json()["paid"] == []
    assert here.call("GET", place).json()["state"] == "cancelled"


def test_a_job_that_could_not_be_begun_has_failed(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database went away just then: nothing was asked, and the page says so instead of waiting for ever."""
    move, away = Jobs.move, iter([LedgerUnavailable("the ledger is away")])

    def moved(self: Jobs, id_: str, state: JobState, **how: Any) -> bool:
        if state is JobState.READING and (error := next(away, None)) is not None:
            raise error
        return move(self, id_, state, **how)

    monkeypatch.setattr(Jobs, "move", moved)
    place = start(here, item="country", k=1)
    assert states(here, place)[-1] == "failed"
    assert here.call("GET", place).json()["problem"]["error"] == "LedgerUnavailable"


def test_one_token_follows_a_few_jobs_at_a_time(here: World) -> None:
    place = start(here, k=1)
    here.give("ana")
    token = next(one for one in here.service.tokens.all() if one.name == "ana")
    assert states(here, place)[-1] == "done"
    assert here.service.streams[token.id] == 0
    here.service.streams[token.id] = 8
    assert here.call("GET", f"{place}/events").json()["error"] == "TooMany"
    here.service.streams[token.id] = 7
    assert states(here, place) == ["done"]
    here.service.streams.clear()


def test_a_job_belongs_to_its_token_and_not_to_a_name(tmp_path: Path) -> None:
    views(tmp_path / "other.parquet")
    stated = {
        name: {"source": f"{name}.parquet", "user": "user_id", "budget": BUDGET, "insist": True}
        for name in ("views", "other")
    }
    with world(tmp_path, datasets=stated) as here:
        here.give("ana", "analyst", "views")
        place = start(here, k=2)
        for scope in (["other"], ["views"], ["*"]):
            here.secrets["namesake"] = here.service.tokens.create("ana", role="analyst", datasets=scope)[0]
            for method, path in (("GET", place), ("DELETE", place), ("GET", f"{place}/events")):
                assert here.call(method, path, who="namesake").status_code == 404
        assert states(here, place)[-1] == "done"


def test_a_question_whose_token_is_revoked_while_it_waits_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = hold_answers(monkeypatch)
    with world(tmp_path, limits={"parallel_questions": 1}) as here:
        start(here, k=2)
        assert reading.wait(20)
        here.give("bob")
        queued = here.call("POST", RELEASES, {"item": "article", "k": 3}, who="bob", Prefer="respond-async").json()
        token = next(one for one in here.service.tokens.all() if one.name == "bob")
        here.service.tokens.revoke(token.id)
        go_on.set()
        ended = here.service.jobs.wait(here.service.jobs.get(queued["id"], token), 20)
        assert ended.state is JobState.FAILED
        assert (ended.problem or {})["error"] == "TokenEnded"
        assert here.call("GET", "/v1/datasets/views/budget").json()["questions_asked"] == 1


def test_the_tables_of_an_older_version_are_brought_up_to_date(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.give("ana")
        for statement in ("ALTER TABLE service_jobs DROP COLUMN token", "DROP TABLE service_plans",
                          "DROP TABLE service_links",
                          "DELETE FROM service_version WHERE version > 1",
                          "INSERT INTO service_version (version) VALUES (1) ON CONFLICT DO NOTHING"):  # fmt: skip
            here.service.state.run(statement)
    with world(tmp_path) as here:
        assert states(here, start(here, k=2))[-1] == "done"
        assert here.service.state.rows("SELECT MAX(version) FROM service_version") == [(4,)]


def test_a_job_whose_worker_died_has_failed(here: World) -> None:
    here.give("ana")
    token = next(one for one in here.service.tokens.all() if one.name == "ana")
    job = here.service.jobs.add("views", token, QuestionRequest.of(item="article"))
    here.service.jobs.move(job.id, JobState.READING)
    gone = replace(this_process(), pid=2**22 - 1, token="another")
    here.service.state.run("UPDATE service_jobs SET owner = ? WHERE id = ?", (gone.to_text(), job.id))
    found = here.call("GET", f"/v1/jobs/{job.id}").json()
    assert found["state"] == "failed"
    assert found["problem"]["detail"] == (
        "The worker that ran this question has died. If rows were being read, its reservation is forfeited. "
        "Ask again: an answer that was already settled is free."
    )

"""Jobs: questions that run longer than a request. Their state reveals neither progress nor rows.

A job belongs to the token that started it and to its data set: another token of the same name does not see it.

A job runs in a thread of the worker that accepted it; its state is stored where all workers see it. Cancelling a queued
question is free. A running question cannot be stopped without forfeiting its reservation, so its answer is settled and
kept, and asking again is free.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from podium.errors import LedgerError
from podium.release import Release
from podium.service.store.database import State, now
from podium.service.store.tokens import Token
from podium.storage.processes import Owner, is_certainly_gone, this_process
from podium.wire.identifiers import new_id
from podium.wire.problems import problem
from podium.wire.refusals import Refusal, not_found
from podium.wire.request import QuestionRequest

__all__ = ["Job", "JobState", "Jobs", "run_job"]

_COLUMNS = "token, dataset, question, state, entry, problem, owner"
_RETENTION_SECONDS = 7 * 86_400
_POLL_SECONDS = 0.02
_ATTEMPTS = 20


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether the job has ended."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Job:
    """A question that runs in the background."""

    id: str
    dataset: str
    token: Token
    request: QuestionRequest
    state: JobState
    entry: str | None = None
    problem: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The job as its token may see it."""
        return {
            "id": self.id,
            "dataset": self.dataset,
            "question": self.request.to_dict(),
            "state": self.state.value,
            "release": self.entry,
            "problem": self.problem,
        }


class Jobs:
    """The jobs of all workers."""

    def __init__(self, state: State) -> None:
        self._state = state

    def add(self, dataset: str, token: Token, request: QuestionRequest) -> Job:
        """Add a job of this worker."""
        job = Job(new_id(), dataset, token, request, JobState.QUEUED)
        with self._state.write_transaction() as session:
            session.run("DELETE FROM service_jobs WHERE created < ?", (now() - _RETENTION_SECONDS,))
            session.run(
                "INSERT INTO service_jobs (id, dataset, analyst, token, question, state, owner, created) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    job.id,
                    dataset,
                    token.name,
                    token.id,
                    request.to_text(),
                    job.state.value,
                    this_process().to_text(),
                    now(),
                ),
            )
        return job

    def get(self, id_: str, token: Token) -> Job:
        """A job of this token; it has failed if its worker died."""
        rows = self._state.rows(f"SELECT {_COLUMNS} FROM service_jobs WHERE id = ?", (id_,))  # noqa: S608 - ours
        if not rows or rows[0][0] != token.id or not token.reaches(rows[0][1]):
            raise not_found("this job")
        _, dataset, question, state, entry, trouble, owner_text = rows[0]
        job = Job(
            id_, dataset, token, QuestionRequest.from_text(question), JobState(state), entry,
            None if trouble is None else json.loads(trouble),
        )  # fmt: skip
        owner = Owner.from_text(owner_text)
        if job.state.final or owner is None or not is_certainly_gone(owner):
            return job
        self.move(id_, JobState.FAILED, problem=problem(_worker_gone(), request_id=id_))
        return self.get(id_, token)

    def wait(self, job: Job, seconds: float) -> Job:
        """Wait until the job ends, for at most ``seconds``."""
        end = time.monotonic() + seconds
        found = self.get(job.id, job.token)
        while not found.state.final and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
            found = self.get(job.id, job.token)
        return found

    def move(
        self, id_: str, state: JobState, *, entry: str | None = None, problem: dict[str, Any] | None = None
    ) -> bool:
        """Move a job to another state; False if it has already ended."""
        with self._state.write_transaction() as session:
            rows = session.rows(f"SELECT state FROM service_jobs WHERE id = ?{session.lock_rows}", (id_,))  # noqa: S608
            if not rows or JobState(rows[0][0]).final:
                return False
            session.run(
                "UPDATE service_jobs SET state = ?, entry = ?, problem = ? WHERE id = ?",
                (state.value, entry, None if problem is None else json.dumps(problem), id_),
            )
        return True


def run_job(jobs: Jobs, job: Job, answer: Callable[[], Release]) -> None:
    """Answer a job's question and record the outcome."""
    try:
        if not jobs.move(job.id, JobState.READING):
            return
        release = answer()
    except Exception as error:  # noqa: BLE001 - reported to the analyst as a problem
        _end(jobs, job, JobState.FAILED, problem=problem(error, request_id=job.id))
    else:
        _end(jobs, job, JobState.DONE, entry=release.paid.entry)


def _end(jobs: Jobs, job: Job, state: JobState, **how: Any) -> None:
    """Record how the job ended, with retries while the database is down."""
    for attempt in range(_ATTEMPTS):
        with suppress(LedgerError):
            jobs.move(job.id, state, **how)
            return
        time.sleep(attempt / 4)


def _worker_gone() -> Refusal:
    return Refusal(
        503,
        "The worker that ran this question has died. If rows were being read, its reservation is forfeited. "
        "Ask again: an answer that was already settled is free.",
        error="WorkerGone",
        retry_after=1,
    )

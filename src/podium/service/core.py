"""The parts of a running service, and the one path by which a question is planned or answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from podium.curator.question_batch import Batch
from podium.curator.sketch import MAX_K, sketch_plan
from podium.errors import InvalidArgument
from podium.planning.batch_plan import BatchPlan
from podium.planning.question_plan import Plan
from podium.privacy import Event
from podium.query.batch_question import BatchQuestion
from podium.release import Release
from podium.release.batch_answers import BatchAnswers
from podium.service.api.records import Records
from podium.service.http.rate_limits import Rate
from podium.service.ops.jobs import Job, Jobs, JobState, run_job
from podium.service.ops.metrics import Metrics
from podium.service.ops.turns import Line, Runner
from podium.service.settings import Settings
from podium.service.store.database import State, open_state
from podium.service.store.datasets import Datasets
from podium.service.store.sessions import Sessions
from podium.service.store.sign_in_links import SignInLinks
from podium.service.store.stored_plans import StoredPlans
from podium.service.store.tokens import Role, Token, Tokens
from podium.wire.problems import problem
from podium.wire.refusals import Refusal, plan_too_long, token_ended, too_many_streams
from podium.wire.request import QuestionRequest

__all__ = ["Service"]

T = TypeVar("T")

_MAX_STREAMS = 8


class Service:
    """Everything that routes need; one per worker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.state: State = open_state(settings.state)
        self.tokens: Tokens = Tokens(self.state)
        self.links: SignInLinks = SignInLinks(self.state, self.tokens)
        self.sessions: Sessions = Sessions(self.state, self.tokens, hours=settings.limits.session_hours)
        self.datasets: Datasets = Datasets(settings, self.state)
        self.records: Records = Records(self.datasets)
        self.jobs: Jobs = Jobs(self.state)
        self.stored_plans: StoredPlans = StoredPlans(self.state)
        self.metrics: Metrics = Metrics()
        limits = settings.limits
        waiting, each = limits.queued_questions, limits.queued_per_analyst
        self.runner: Runner = Runner(parallel=limits.parallel_questions, queued=waiting, each=each)
        self.planner: Runner = Runner(parallel=limits.parallel_plans, queued=waiting, each=each, name="plan")
        self.streams: Counter[str] = Counter()
        self.requests: Rate = Rate("requests", limits.requests_per_minute)
        self.questions: Rate = Rate("questions", limits.questions_per_minute)
        self.plans: Rate = Rate("plans", limits.plans_per_minute)
        # Of their own: who types must not use up what confirms.
        self.live_plans: Rate = Rate("plans while typing", limits.plans_per_minute)
        self.failures: Rate = Rate("attempts without a valid token", limits.failures_per_minute)

    def check_streams(self, token: Token) -> None:
        """Raise if a token has too many event streams open: each holds a connection."""
        if self.streams[token.id] >= _MAX_STREAMS:
            raise too_many_streams(_MAX_STREAMS)

    async def plan(self, dataset: str, request: QuestionRequest, token: Token) -> Plan:
        """Plan a question within the time limit."""
        return await self._plan_in_time(self._submit_plan(dataset, request, token))

    def plan_here(self, dataset: str, request: QuestionRequest, token: Token) -> Plan:
        """The same, blocking the calling thread."""
        seconds = self.settings.limits.plan_seconds
        planned = self._submit_plan(dataset, request, token)
        try:
            return planned.result(seconds)
        except TimeoutError:
            planned.cancel()
            raise plan_too_long(seconds) from None

    def _submit_plan(self, dataset: str, request: QuestionRequest, token: Token) -> Future[Plan]:
        return self.planner.submit(
            Line(token.name, dataset),
            lambda: self.datasets.get(dataset).curator.plan_question(request.question, epsilon=request.epsilon),
        )

    async def sketch(
        self, dataset: str, request: QuestionRequest, token: Token, fits: Callable[[tuple[Event, ...]], bool]
    ) -> tuple[Plan, int | None]:
        """A plan from public facts alone, without the engine, and the largest k that fits, where there is one."""

        def work() -> tuple[Plan, int | None]:
            found = sketch_plan(self.datasets.get(dataset).curator, request.question, epsilon=request.epsilon)
            enough = found.affordable_k(fits)
            return found.plan, None if enough == MAX_K else enough

        return await self._plan_in_time(self.planner.submit(Line(token.name, dataset), work))

    async def ask(self, dataset: str, request: QuestionRequest, token: Token, idempotency_key: str | None) -> Release:
        """Queue a question for this analyst and wait for the answer."""
        line = Line(token.name, dataset)
        return await self.runner.run(line, lambda: self.answer(dataset, request, token, idempotency_key))

    def answer(self, dataset: str, request: QuestionRequest, token: Token, idempotency_key: str | None) -> Release:
        """Answer in this thread. The token is checked again first: it may have ended while the question waited."""
        self._require_valid(token, dataset)
        key = None if idempotency_key is None else _analyst_key(token, idempotency_key)
        try:
            return self.datasets.get(dataset).curator.ask(
                request.question, epsilon=request.epsilon, analyst=token.name, idempotency_key=key
            )
        except InvalidArgument as error:
            if error.name != "idempotency_key":
                raise
            raise InvalidArgument(error.name, idempotency_key, allowed=error.allowed, hint=error.hint) from None

    async def plan_batch(self, dataset: str, requests: Sequence[QuestionRequest], token: Token) -> BatchPlan:
        """Plan several questions within the time limit."""
        planned = self.planner.submit(Line(token.name, dataset), lambda: self._batch(dataset, requests, token).plan())
        return await self._plan_in_time(planned)

    async def _plan_in_time(self, planned: Future[T]) -> T:
        seconds = self.settings.limits.plan_seconds
        try:
            return await asyncio.wait_for(asyncio.wrap_future(planned), seconds)
        except TimeoutError:
            raise plan_too_long(seconds) from None

    async def ask_batch(
        self, dataset: str, requests: Sequence[QuestionRequest], token: Token, idempotency_key: str | None
    ) -> BatchAnswers:
        """Queue several questions as one turn of this analyst, and wait for the answers."""
        key = None if idempotency_key is None else _analyst_key(token, idempotency_key)

        def answer() -> BatchAnswers:
            self._require_valid(token, dataset)
            return self._batch(dataset, requests, token, key).ask()

        return await self.runner.run(Line(token.name, dataset), answer)

    def _batch(self, dataset: str, requests: Sequence[QuestionRequest], token: Token, key: str | None = None) -> Batch:
        asked = [BatchQuestion(request.question, request.epsilon) for request in requests]
        return self.datasets.get(dataset).curator.batch(asked, analyst=token.name, idempotency_key=key)

    def _require_valid(self, token: Token, dataset: str) -> None:
        """Raise if a token has ended: it may have while its question waited."""
        found = self.tokens.get(token.id)
        if found is None or not (found.valid and found.reaches(dataset) and found.role.covers(Role.ANALYST)):
            raise token_ended()

    def start(self, dataset: str, request: QuestionRequest, token: Token, idempotency_key: str | None) -> Job:
        """Ask in the background. The question is planned first, so that an invalid one fails at once."""
        self.plan_here(dataset, request, token)
        job = self.jobs.add(dataset, token, request)
        try:
            self.runner.submit(
                Line(token.name, dataset),
                lambda: run_job(self.jobs, job, lambda: self.answer(dataset, request, token, idempotency_key)),
            )
        except Refusal as refusal:
            # Nothing will run this job, so it must not stay queued for ever on its analyst's page.
            self.jobs.move(job.id, JobState.FAILED, problem=problem(refusal, request_id=job.id))
            raise
        return job

    def close(self) -> None:
        """Finish running questions, then close everything."""
        self.planner.stop()
        self.runner.stop()
        self.datasets.close()
        self.state.close()


def _analyst_key(token: Token, key: str) -> str:
    """Derive a key per analyst: the ledger has one set of keys per data set, and analysts must not collide in it."""
    if not 0 < len(key) <= 200 or not key.isprintable():
        raise InvalidArgument("idempotency_key", key, allowed="a printable text of 1 to 200 characters")
    return hashlib.sha256(f"{token.name}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()

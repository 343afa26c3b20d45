"""The parts of a running service, and the one way in which a question is answered."""

from __future__ import annotations

import hashlib

from podium.errors import InvalidArgument
from podium.release import Release
from podium.service.datasets import Datasets
from podium.service.jobs import Job, Jobs, JobState, Runner, run_job
from podium.service.limits import Rate
from podium.service.metrics import Metrics
from podium.service.problems import problem
from podium.service.questions import Asking
from podium.service.records import Records
from podium.service.refusals import Refusal
from podium.service.sessions import Sessions
from podium.service.settings import Settings
from podium.service.state import State, open_state
from podium.service.tokens import Token, Tokens

__all__ = ["Service"]


class Service:
    """Everything that routes need; one for each worker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.state: State = open_state(settings.state)
        self.tokens: Tokens = Tokens(self.state)
        self.sessions: Sessions = Sessions(self.state, self.tokens, hours=settings.limits.session_hours)
        self.datasets: Datasets = Datasets(settings, self.state)
        self.records: Records = Records(self.datasets)
        self.jobs: Jobs = Jobs(self.state)
        self.metrics: Metrics = Metrics()
        limits = settings.limits
        self.runner: Runner = Runner(parallel=limits.parallel_questions, queued=limits.queued_questions)
        self.requests: Rate = Rate("requests", limits.requests_per_minute)
        self.questions: Rate = Rate("questions", limits.questions_per_minute)
        self.failures: Rate = Rate("attempts without a valid token", limits.failures_per_minute)

    def answer(self, dataset: str, asking: Asking, token: Token, idempotency_key: str | None) -> Release:
        """Ask, in this thread."""
        curator = self.datasets.get(dataset).curator
        if idempotency_key is None:
            return asking.ask(curator, analyst=token.name, idempotency_key=None)
        try:
            return asking.ask(curator, analyst=token.name, idempotency_key=_own(token, idempotency_key))
        except InvalidArgument as error:
            if error.name != "idempotency_key":
                raise
            raise InvalidArgument(error.name, idempotency_key, allowed=error.allowed, hint=error.hint) from None

    def start(self, dataset: str, asking: Asking, token: Token, idempotency_key: str | None) -> Job:
        """Ask in the background. The plan is made first, so that a question that cannot be asked fails at once."""
        asking.plan(self.datasets.get(dataset).curator)
        job = self.jobs.add(dataset, token.name, asking)
        try:
            self.runner.submit(
                lambda: run_job(self.jobs, job, lambda: self.answer(dataset, asking, token, idempotency_key))
            )
        except Refusal as refusal:
            # Nobody will work on it, so that it must not wait for ever on the page of its analyst.
            self.jobs.move(job.id, JobState.FAILED, problem=problem(refusal, request_id=job.id))
            raise
        return job

    def close(self) -> None:
        """End what is being read, then close everything."""
        self.runner.stop()
        self.datasets.close()
        self.state.close()


def _own(token: Token, key: str) -> str:
    """The ledger knows one set of keys for each data set; analysts must not meet in it."""
    if not 0 < len(key) <= 200 or not key.isprintable():
        raise InvalidArgument("idempotency_key", key, allowed="a printable text of 1 to 200 characters")
    return hashlib.sha256(f"{token.name}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()

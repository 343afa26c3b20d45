"""What answers an agent's calls: a curator or a client of a service. The service itself has its own."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Protocol

from podium.agents.priced_plans import PricedPlans, PricedPlansHere
from podium.client import Client
from podium.curator import Curator
from podium.planning.question_plan import Plan
from podium.present.analyst_budget import analyst_budget
from podium.query import Schema
from podium.release import Release
from podium.user_columns import user_data
from podium.wire.refusals import not_found
from podium.wire.request import QuestionRequest

__all__ = ["Backend", "ClientBackend", "CuratorBackend", "schema_document"]

_MAX_REMEMBERED = 100


class Backend(Protocol):
    """The calls of one analyst. Every one of them raises podium's errors."""

    @property
    def analyst(self) -> str:
        """Who asks."""

    @property
    def plans(self) -> PricedPlans:
        """The plans that may be asked."""

    async def datasets(self) -> list[str]:
        """The data sets in scope."""

    async def describe(self, dataset: str) -> dict[str, Any]:
        """The columns and the unit of protection."""

    async def budget(self, dataset: str) -> dict[str, Any]:
        """What is spent and left."""

    async def plan(self, dataset: str, request: QuestionRequest) -> Plan:
        """What a question would do and cost."""

    async def ask(self, dataset: str, request: QuestionRequest, key: str) -> Release:
        """The answer; ``key`` names this attempt."""

    async def release(self, dataset: str, entry: str) -> Release:
        """An answer by its entry."""


class CuratorBackend:
    """One data set of a ledger, asked by one analyst in this process."""

    def __init__(self, curator: Curator, *, analyst: str | None = None) -> None:
        self._curator, self._name = curator, analyst
        self._releases: OrderedDict[str, Release] = OrderedDict()
        self.plans: PricedPlans = PricedPlansHere()

    @property
    def analyst(self) -> str:
        """Who asks; empty where the ledger has no names."""
        return self._name or ""

    async def datasets(self) -> list[str]:
        """The one data set."""
        return [self._curator.dataset]

    async def describe(self, dataset: str) -> dict[str, Any]:
        """The columns and the unit of protection."""
        self._require(dataset)
        status = await asyncio.to_thread(lambda: self._curator.status)
        about = {"name": dataset, "user": user_data(status.user)}
        if not self._curator.tables:
            beside = await asyncio.to_thread(self._curator.table().joined_columns)
            joins = [
                {"name": join.name, "using": list(join.using), **schema_document(schema)}
                for join, schema in beside.items()
            ]
            return {**about, **schema_document(self._curator.schema), **({"joins": joins} if joins else {})}
        tables = [
            {"name": name, "user": user_data(self._curator.table(name).user), **schema_document(schema)}
            for name, schema in self._curator.schemas.items()
        ]
        return {**about, "columns": [], "tables": tables}

    async def budget(self, dataset: str) -> dict[str, Any]:
        """What is spent and left, as far as an analyst may see it."""
        self._require(dataset)
        return analyst_budget(await asyncio.to_thread(lambda: self._curator.status), self._name)

    async def plan(self, dataset: str, request: QuestionRequest) -> Plan:
        """What a question would do and cost."""
        self._require(dataset)
        return await asyncio.to_thread(self._curator.plan_question, request.question, epsilon=request.epsilon)

    async def ask(self, dataset: str, request: QuestionRequest, key: str) -> Release:
        """The answer, charged to the analyst."""
        self._require(dataset)
        release = await asyncio.to_thread(
            self._curator.ask, request.question, epsilon=request.epsilon, analyst=self._name, idempotency_key=key
        )
        if release.paid.entry is not None:
            self._releases[release.paid.entry] = release
            while len(self._releases) > _MAX_REMEMBERED:
                self._releases.popitem(last=False)
        return release

    async def release(self, dataset: str, entry: str) -> Release:
        """An answer that this process gave."""
        self._require(dataset)
        if entry not in self._releases:
            raise not_found("this release")
        return self._releases[entry]

    def _require(self, dataset: str) -> None:
        if dataset != self._curator.dataset:
            raise not_found(f"dataset={dataset!r}")


class ClientBackend:
    """The data sets of a service, as far as a token reaches; the service knows the analyst by it."""

    analyst = ""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.plans: PricedPlans = PricedPlansHere()

    async def datasets(self) -> list[str]:
        """The data sets in the token's scope."""
        return list(self._client.datasets)

    async def describe(self, dataset: str) -> dict[str, Any]:
        """The columns and the unit of protection."""
        return await asyncio.to_thread(lambda: self._at(dataset).about)

    async def budget(self, dataset: str) -> dict[str, Any]:
        """What is spent and left, as far as the token may see it."""
        return await asyncio.to_thread(lambda: self._at(dataset).status)

    async def plan(self, dataset: str, request: QuestionRequest) -> Plan:
        """What a question would do and cost."""
        return await asyncio.to_thread(self._at(dataset).plan_question, request.question, epsilon=request.epsilon)

    async def ask(self, dataset: str, request: QuestionRequest, key: str) -> Release:
        """The answer, charged to the analyst of the token."""
        return await asyncio.to_thread(
            self._at(dataset).ask, request.question, epsilon=request.epsilon, idempotency_key=key
        )

    async def release(self, dataset: str, entry: str) -> Release:
        """An answer by its entry."""
        return await asyncio.to_thread(self._at(dataset).release, entry)

    def _at(self, dataset: str) -> Client:
        if dataset not in self._client.datasets:
            raise not_found(f"dataset={dataset!r}")
        return self._client.select(dataset)


def schema_document(schema: Schema) -> dict[str, Any]:
    """The columns that questions may name, with their kinds."""
    return {"columns": [{"name": column.name, "kind": str(column.kind)} for column in schema.columns]}

"""The Model Context Protocol at /mcp: agents ask with the same tokens, limits and budgets as everybody else.

Each request stands by itself, so that any worker may answer it. The SDK is imported when the first agent calls.
"""

from __future__ import annotations

import asyncio
import importlib.util
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from podium.planning.question_plan import Plan
from podium.release import Release
from podium.service.api.routes import dataset_document
from podium.service.core import Service
from podium.service.http.access import bearer, caller, check_access
from podium.service.store.tokens import Role, Token
from podium.wire.refusals import Refusal
from podium.wire.request import QuestionRequest

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from podium.agents.priced_plans import PricedPlans

__all__ = ["AgentsEndpoint"]


class AgentsEndpoint:
    """An ASGI app for the requests of agents; one per worker."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._started: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: first its origin, then its token, then the protocol."""
        request = Request(scope, receive)
        _check_origin(request, self._service)
        if importlib.util.find_spec("mcp") is None:
            raise Refusal(
                501, "This service does not speak to agents. It needs the extra 'mcp'. Ask the owner to install it.",
                error="NotInstalled",
            )  # fmt: skip
        credentials = await bearer(request)
        request.state.token = await asyncio.to_thread(caller, request, credentials)
        manager = await self._manager()
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Stop answering."""
        self._stop.set()
        if self._running is not None:
            # Whoever waits for it was told; what else closes must close.
            with suppress(asyncio.CancelledError, Exception):
                await self._running

    async def _manager(self) -> StreamableHTTPSessionManager:
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            # Its own task: what the SDK opens must be closed by the task that opened it.
            self._running = asyncio.create_task(self._run(self._started))
        return await asyncio.shield(self._started)

    async def _run(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            await self._serve(started)
        except Exception as failed:
            if started.done():
                raise
            # The next request tries again.
            self._started = None
            started.set_exception(failed)

    async def _serve(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - slow to import

        from podium.agents.mcp_server import new_server  # noqa: PLC0415

        def backend_of(context: Any) -> ServiceBackend:
            return ServiceBackend(self._service, context.request.state.token)

        body_bytes = self._service.settings.limits.body_bytes
        manager = StreamableHTTPSessionManager(
            new_server(backend_of), json_response=True, stateless=True, max_request_body_size=body_bytes
        )
        async with manager.run():
            started.set_result(manager)
            await self._stop.wait()


class ServiceBackend:
    """What the token of a request may do, through the service's own path to an answer."""

    def __init__(self, service: Service, token: Token) -> None:
        self._service, self._token = service, token

    @property
    def analyst(self) -> str:
        """Whom a plan belongs to."""
        return self._token.id

    @property
    def plans(self) -> PricedPlans:
        """The plans of all workers."""
        return self._service.stored_plans

    async def datasets(self) -> list[str]:
        """The data sets in the token's scope."""
        return await asyncio.to_thread(self._service.datasets.visible, self._token)

    async def describe(self, dataset: str) -> dict[str, Any]:
        """The columns, the unit of protection and the budget."""
        check_access(self._token, dataset, Role.VIEWER)
        return await asyncio.to_thread(dataset_document, self._service, dataset, self._token)

    async def budget(self, dataset: str) -> dict[str, Any]:
        """What is spent and left, as far as the token may see it."""
        check_access(self._token, dataset, Role.VIEWER)
        return await asyncio.to_thread(self._service.records.budget, dataset, self._token)

    async def plan(self, dataset: str, request: QuestionRequest) -> Plan:
        """What a question would do and cost."""
        check_access(self._token, dataset, Role.ANALYST)
        self._service.plans.take(self._token.id)
        return await self._service.plan(dataset, request, self._token)

    async def ask(self, dataset: str, request: QuestionRequest, key: str) -> Release:
        """The answer, charged to the token's name."""
        check_access(self._token, dataset, Role.ANALYST)
        self._service.questions.take(self._token.id)
        return await self._service.ask(dataset, request, self._token, key)

    async def release(self, dataset: str, entry: str) -> Release:
        """An answer that the token may see."""
        check_access(self._token, dataset, Role.VIEWER)
        found = await asyncio.to_thread(self._service.records.release, dataset, entry, self._token)
        return found.release


def _check_origin(request: Request, service: Service) -> None:
    """Refuse pages of other sites: a browser states where a script comes from, and agents state nothing."""
    origin = request.headers.get("origin")
    server = service.settings.server
    own = {f"http://{server.host}:{server.port}"}
    if server.public_url is not None:
        parts = urlsplit(server.public_url)
        own.add(f"{parts.scheme}://{parts.netloc}")
    if origin is not None and origin not in own:
        raise Refusal(
            403, "Scripts of other sites may not call this address. Programs that state no origin may. "
            "Call it from a program, or from the service's own pages.", error="ForeignOrigin",
        )  # fmt: skip

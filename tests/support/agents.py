"""Agents for the tests: the SDK's own client, called from ordinary functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

__all__ = ["Agent", "over_http", "with_agent"]


class Agent:
    """A connected client; calls return the structured part, or raise ``AssertionError`` with the text of an error."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured part of an answer."""
        document, text, failed = await self.result(tool, **arguments)
        assert not failed, text
        return document

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The text of an error."""
        _, text, failed = await self.result(tool, **arguments)
        assert failed, text
        return text

    async def result(self, tool: str, /, **arguments: Any) -> tuple[dict[str, Any], str, bool]:
        """The structured part, the text, and whether the call failed."""
        found = await self.client.call_tool(tool, arguments)
        texts = [getattr(part, "text", "") for part in found.content]
        return found.structured_content, " ".join(texts), bool(found.is_error)

    async def ask(self, dataset: str, **question: Any) -> dict[str, Any]:
        """Plan and ask."""
        plan = await self.call("plan_question", dataset=dataset, **question)
        return await self.call("ask_question", plan=plan["plan"])


def with_agent(target: Any, do: Callable[[Agent], Awaitable[None]]) -> None:
    """Connect an agent to a server or a command, and let it act."""

    async def act() -> None:
        async with Client(target) as client:
            await do(Agent(client))

    asyncio.run(asyncio.wait_for(act(), 120))


def over_http(url: str, token: str, do: Callable[[Agent], Awaitable[None]]) -> None:
    """Connect an agent with a token to an address, and let it act."""

    async def act() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await do(Agent(client))

    asyncio.run(asyncio.wait_for(act(), 120))

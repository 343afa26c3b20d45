"""The Model Context Protocol: tools listed and called, over a pipe or whatever else the SDK speaks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from podium.agents.backends import Backend
from podium.agents.tool_calls import Result, call_tool
from podium.agents.tool_definitions import INSTRUCTIONS, TOOLS
from podium.errors import PodiumError
from podium.version import __version__

__all__ = ["new_server", "serve_pipe"]

_FAILED = "The call failed for a reason that is not yours. If it was a question, show_budget says what it was charged."


def new_server(backend_of: Callable[[Any], Backend]) -> Server[Any]:
    """A server whose calls go to the backend that ``backend_of`` finds for a request."""

    async def list_tools(_: object, __: object) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=_listed())

    async def call(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        return await _answer(lambda: call_tool(backend_of(context), params.name, params.arguments or {}))

    return Server(
        "podium",
        version=__version__,
        title="podium: private top-k",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
    )


async def serve_pipe(backend: Backend) -> None:
    """Serve one agent over standard input and output."""
    # What libraries would log to the agent's terminal may quote arguments.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    server = new_server(lambda _: backend)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _listed() -> list[mcp_types.Tool]:
    return [
        mcp_types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            annotations=mcp_types.ToolAnnotations(
                read_only_hint=not tool.spends, destructive_hint=tool.spends, open_world_hint=False
            ),
        )
        for tool in TOOLS
    ]


async def _answer(called: Callable[[], Awaitable[Result]]) -> mcp_types.CallToolResult:
    """The result of a call; an error is part of it, so that an agent reads what is allowed."""
    try:
        found = await called()
    except PodiumError as error:
        return _result({"error": getattr(error, "error", type(error).__name__)}, str(error), is_error=True)
    except Exception:  # noqa: BLE001 - its text may quote rows
        return _result({"error": "InternalError"}, _FAILED, is_error=True)
    return _result(found.document, found.text, is_error=False)


def _result(document: dict[str, Any], text: str, *, is_error: bool) -> mcp_types.CallToolResult:
    content: list[Any] = [mcp_types.TextContent(type="text", text=text)]
    return mcp_types.CallToolResult(content=content, structured_content=document, is_error=is_error)

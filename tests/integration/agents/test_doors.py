"""Agents over a real pipe and a real socket, with the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from tests.support.agents import Agent, over_http, with_agent
from tests.support.command_line import podium as run
from tests.support.serving import Running, new_token, running, views

import podium

BUDGET = "epsilon = 3\ndelta = 1e-6\nitems = 200\nquestions = 20\n"
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("agents"), workers=2, budget=BUDGET) as started:
        yield started


def as_analyst(server: Running, name: str, do: Callable[[Agent], Awaitable[None]]) -> None:
    """Let an agent with a token of that name act."""
    over_http(f"{server.url}/mcp", new_token(server, name), do)


def post(server: Running, **headers: str) -> int:
    """The status of a request to list the tools."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **named}
    request = urllib.request.Request(f"{server.url}/mcp", data=json.dumps(HELLO).encode(), headers=sent)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)


def test_an_agent_of_the_service(server: Running) -> None:
    answers: list[dict[str, Any]] = []

    async def act(agent: Agent) -> None:
        assert [tool.name for tool in (await agent.client.list_tools()).tools][:1] == ["list_datasets"]
        assert await agent.call("list_datasets") == {"datasets": ["views"]}
        assert (await agent.call("describe_dataset", dataset="views"))["user"] == "user_id"
        answers.append(await agent.ask("views", item="article", k=3, counts=True))
        explained = await agent.call("explain_answer", dataset="views", entry=answers[0]["entry"])
        assert "user_id" in explained["sections"][0]["text"]
        assert "asked" in json.dumps(await agent.call("show_budget", dataset="views"))
        assert "outside the scope" in await agent.refused("describe_dataset", dataset="users")

    as_analyst(server, "ana", act)
    client = podium.connect(server.url, token=new_token(server, "ben"), dataset="views")
    assert list(client.top("article", k=3, counts=True).items) == [row["article"] for row in answers[0]["rows"]]


def test_a_plan_of_the_service_is_its_analysts_alone(server: Running) -> None:
    plans: list[str] = []

    async def plan(agent: Agent) -> None:
        planned = [await agent.call("plan_question", dataset="views", item="article", k=2) for _ in range(2)]
        plans.extend(plan["plan"] for plan in planned)
        await agent.call("ask_question", plan=plans[0])
        assert "can be asked once" in await agent.refused("ask_question", plan=plans[0])

    async def steal(agent: Agent) -> None:
        assert "can be asked once" in await agent.refused("ask_question", plan=plans[1])

    as_analyst(server, "planner", plan)
    as_analyst(server, "thief", steal)


def test_a_plan_that_is_asked_many_times_at_once_is_answered_once(server: Running) -> None:
    """Two workers share the plans: an agent that races against itself pays once and is told so."""

    async def race(agent: Agent) -> None:
        plan = (await agent.call("plan_question", dataset="views", item="article", k=4))["plan"]
        answers = await asyncio.gather(*(agent.result("ask_question", plan=plan) for _ in range(6)))
        told = [text for _, text, failed in answers if failed]
        assert len(told) == 5
        assert all("can be asked once" in text for text in told)

    as_analyst(server, "racer", race)


def test_a_request_needs_a_token_and_no_foreign_page(server: Running) -> None:
    token = f"Bearer {new_token(server, 'eve')}"
    assert post(server) == 401
    assert post(server, Authorization="Bearer podium_wrong") == 401
    assert post(server, Authorization=token) == 200
    assert post(server, Authorization=token, Origin="https://evil.example") == 403
    assert post(server, Authorization=token, Origin="null") == 403
    assert post(server, Authorization=token, Origin=server.url) == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{server.url}/mcp", timeout=30)  # noqa: S310
    with refused.value as answered:
        assert answered.code == 405


def test_a_page_that_rebinds_its_name_and_a_session_that_somebody_chose(server: Running) -> None:
    """A page whose name resolves to this machine states that name. Who asks is the token, and nothing else."""
    token = new_token(server, "mallory")
    bearer, port = f"Bearer {token}", server.url.rpartition(":")[2]
    rebound = {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}
    assert post(server, Authorization=bearer, **rebound) == 403
    # No session is kept, so one that is named by a client neither identifies nor hides anybody.
    assert post(server, Mcp_Session_Id="chosen") == 401
    assert post(server, Cookie=f"podium_session={token}", Mcp_Session_Id="chosen") == 401
    assert post(server, Authorization=bearer, Mcp_Session_Id="chosen") == 200
    assert post(server, Authorization=bearer, Content_Type="text/plain") in (400, 415)


def test_an_agent_at_a_pipe(tmp_path: Path) -> None:
    table, ledger = views(tmp_path / "views.parquet"), tmp_path / "ledger.db"
    budget = podium.Budget(epsilon=3, delta="1e-6", items=200, questions=20)
    podium.Curator(table, dataset="views", user="user_id", ledger=ledger, budget=budget).close()
    command = ["-m", "podium", "mcp", str(table), "--user", "user_id", "--ledger", str(ledger), "--dataset", "views"]

    async def act(agent: Agent) -> None:
        answer = await agent.ask("views", item="article", k=2)
        assert [row["article"] for row in answer["rows"]] == ["a0", "a1"]

    with_agent(StdioServerParameters(command=sys.executable, args=[*command, "--analyst", "helper"]), act)
    with podium.Curator(table, dataset="views", user="user_id", ledger=ledger) as curator:
        assert list(curator.status.analysts) == ["helper"]


def test_a_pipe_to_a_service(server: Running) -> None:
    environment = {**os.environ, "PODIUM_TOKEN": new_token(server, "piper")}

    async def act(agent: Agent) -> None:
        assert await agent.call("list_datasets") == {"datasets": ["views"]}
        described = await agent.call("describe_dataset", dataset="views")
        assert described["user"] == "user_id"
        assert (await agent.ask("views", item="article", k=1))["rows"] == [{"rank": 1, "article": "a0"}]
        assert "does not exist" in await agent.refused("show_budget", dataset="users")

    arguments = ["-m", "podium", "mcp", server.url]
    with_agent(StdioServerParameters(command=sys.executable, args=arguments, env=environment), act)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("views.parquet",), "--user, --ledger and --dataset together"),
        (("views.parquet", "--user", "user_id"), "podium budget create"),
        (("http://127.0.0.1:9",), "PODIUM_TOKEN"),
    ],
)
def test_a_command_that_cannot_serve_says_why(arguments: tuple[str, ...], text: str) -> None:
    result = run("mcp", *arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.stderr.split())

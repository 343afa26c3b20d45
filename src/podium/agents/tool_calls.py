"""What the tools do: each takes arguments and a backend, and gives a JSON object and a sentence.

The sentence never holds an item: items are data, and whoever wrote one could try to speak to the agent. They stand in
the structured part of an answer only.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from podium.agents.backends import Backend
from podium.agents.priced_plans import PLAN_SECONDS, PricedPlan, price_of, stale_plan
from podium.agents.tool_definitions import QUESTION_FIELDS, TOOLS
from podium.errors import InvalidArgument
from podium.present.explanation import explanation
from podium.present.tables import arrow_table
from podium.privacy.rounding import display
from podium.query import Kind, Question
from podium.query.parse.fixed_dates import fix_dates
from podium.release import GroupedRelease, Release
from podium.wire.identifiers import new_id
from podium.wire.request import QuestionRequest

__all__ = ["Result", "call_tool"]

_MAX_ARGUMENTS: Final = 65_536
"""Characters of arguments, as in the service's requests."""

_CLOCK: Final = re.compile("current_|now", re.IGNORECASE)
"""What a text has in it if it has a relative date."""


class Result(NamedTuple):
    """What a tool answers: a JSON object, and the same in a sentence without items."""

    document: dict[str, Any]
    text: str


async def call_tool(backend: Backend, name: str, arguments: Mapping[str, Any]) -> Result:
    """Call a tool by name; podium's errors are for the caller to show."""
    definition = next((tool for tool in TOOLS if tool.name == name), None)
    if definition is None:
        raise InvalidArgument("tool", name, allowed=f"one of {', '.join(tool.name for tool in TOOLS)}")
    if len(json.dumps(dict(arguments))) > _MAX_ARGUMENTS:
        raise InvalidArgument("arguments", "too long", allowed=f"at most {_MAX_ARGUMENTS:,} characters as JSON")
    strange = sorted(set(arguments) - set(definition.properties))
    if strange:
        listed = ", ".join(definition.properties) or "none"
        raise InvalidArgument("argument", strange[0], allowed=f"one of {listed}")
    for needed in definition.required:
        if not isinstance(arguments.get(needed), str):
            raise InvalidArgument(needed, arguments.get(needed), allowed="a text")
    return await _CALLS[name](backend, arguments)


async def _list_datasets(backend: Backend, _: Mapping[str, Any]) -> Result:
    names = await backend.datasets()
    return Result({"datasets": names}, f"{len(names)} data sets.")


async def _describe_dataset(backend: Backend, arguments: Mapping[str, Any]) -> Result:
    found = await backend.describe(arguments["dataset"])
    tables = found.get("tables")
    about = f"{len(tables)} tables of the same users" if tables else f"{len(found['columns'])} columns"
    return Result(found, f"{about}. Protected is every single value of {_unit(found['user'])}.")


def _unit(user: Any) -> str:
    return f"({', '.join(user)}) together" if isinstance(user, list) else str(user)


async def _show_budget(backend: Backend, arguments: Mapping[str, Any]) -> Result:
    found = await backend.budget(arguments["dataset"])
    left = found.get("left")
    return Result(found, f"Left: {left}." if left else "What is left is in the structured part.")


async def _plan_question(backend: Backend, arguments: Mapping[str, Any]) -> Result:
    dataset = arguments["dataset"]
    stated = {name: value for name, value in arguments.items() if name in QUESTION_FIELDS}
    request = QuestionRequest.of(**stated)
    plan = await backend.plan(dataset, request)
    fixed = await _with_fixed_dates(backend, dataset, request)
    if fixed is not request:
        request, plan = fixed, await backend.plan(dataset, fixed)
    priced = PricedPlan(backend.analyst, dataset, request.to_text(), price_of(plan))
    id_ = await asyncio.to_thread(backend.plans.keep, priced)
    document = {
        "plan": id_,
        "dataset": dataset,
        "question": request.to_dict(),
        "guarantee": plan.promise,
        "at_most": plan.to_dict()["at_most"],
        "cost": plan.cost,
        "reach": plan.reach_sentence,
        "expires_in_seconds": PLAN_SECONDS,
    }
    return Result(document, f"Costs {plan.cost}. Nothing was read or charged. Ask with plan={id_}.")


async def _with_fixed_dates(backend: Backend, dataset: str, request: QuestionRequest) -> QuestionRequest:
    """The request with constants for relative dates: when it is asked, later, it is still what was planned."""
    question = request.question
    if not isinstance(question, Question) or not _CLOCK.search(" ".join((question.sql or "", *question.where))):
        return request
    kinds = dict(_days_in(await backend.describe(dataset)))
    return replace(request, question=fix_dates(question, kinds, dt.datetime.now(dt.UTC)))


def _days_in(described: object) -> Iterator[tuple[str, Kind]]:
    """The columns of a described data set that hold dates or times, also of the tables that may be joined."""
    if isinstance(described, Mapping):
        if described.get("kind") in (Kind.DATE, Kind.TIMESTAMP):
            yield str(described["name"]), Kind(described["kind"])
        described = list(described.values())
    if isinstance(described, list):
        for part in described:
            yield from _days_in(part)


async def _ask_question(backend: Backend, arguments: Mapping[str, Any]) -> Result:
    kept = await asyncio.to_thread(backend.plans.take, arguments["plan"], backend.analyst)
    request = QuestionRequest.from_text(kept.question)
    if price_of(await backend.plan(kept.dataset, request)) != kept.price:
        raise stale_plan()
    release = await backend.ask(kept.dataset, request, new_id())
    number = sum(len(found.items) for found in _lists(release))
    document = {
        "dataset": kept.dataset,
        "rows": _rows(release),
        "complete": release.complete,
        "guarantee": release.promise,
        "charged": {"rho": display(release.paid.rho), "delta": display(release.paid.delta)},
        "entry": release.paid.entry,
    }
    free = "It was answered before, and is free." if not release.paid.events else "It was charged to the budget."
    short = "" if release.complete else " Fewer came back than were asked for: no other stood out enough."
    text = f"{number} items, in the structured part. The answer is {release.promise}. {free}{short}"
    return Result(document, text)


async def _explain_answer(backend: Backend, arguments: Mapping[str, Any]) -> Result:
    named = [arguments.get("dataset"), arguments.get("entry")]
    if any(named) and not all(isinstance(one, str) for one in named):
        raise InvalidArgument("entry", named[1], allowed="the entry of an answer, together with its dataset")
    release = await backend.release(*map(str, named)) if all(named) else None
    sections = [{"title": section.title, "text": section.text} for section in explanation(release)]
    return Result({"sections": sections}, "The explanation is in the structured part.")


_CALLS: Final[dict[str, Callable[[Backend, Mapping[str, Any]], Awaitable[Result]]]] = {
    "list_datasets": _list_datasets,
    "describe_dataset": _describe_dataset,
    "plan_question": _plan_question,
    "ask_question": _ask_question,
    "show_budget": _show_budget,
    "explain_answer": _explain_answer,
}


def _lists(release: Release) -> list[Any]:
    return list(release.lists.values()) if isinstance(release, GroupedRelease) else [release]


def _rows(release: Release) -> list[dict[str, Any]]:
    """The rows of the release as a table; what JSON does not have becomes text."""
    plain = (str, int, float, bool, type(None))
    return [
        {name: value if isinstance(value, plain) else str(value) for name, value in row.items()}
        for row in arrow_table(release).to_pylist()
    ]

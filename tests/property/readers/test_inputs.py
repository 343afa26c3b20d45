"""What callers write: joins, batches, groups, measures, options, tool calls. All of it is understood or refused."""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.readers.test_releases import refused_or_read
from tests.support.damage import HOSTILE_TEXTS, damaged, values
from tests.support.grouped_releases import grouped_release

from podium import Budget, Curator, Question
from podium.agents.backends import CuratorBackend
from podium.agents.tool_calls import call_tool
from podium.agents.tool_definitions import TOOLS
from podium.cli.options import parse_clip, parse_groups, parse_groups_per_user
from podium.planning.batch_plan import BatchPlan
from podium.planning.question_plan import Plan
from podium.privacy.gaussian.chains import Chain
from podium.privacy.gaussian.steps import Step
from podium.query.batch_question import BatchQuestion, batch_questions
from podium.query.join import Join, declared_joins, parse_join
from podium.release import GroupedRelease, Release
from podium.wire.refusals import Refusal

ROWS = pa.table(
    {"user_id": [1, 1, 2, 3], "page": ["a", "b", "a", "a"], "country": ["x", "x", "y", "x"], "n": [1, 2, 3, 4]}
)
JOINS = ("users=u.parquet USING (user_id)", 'PUBLIC lands=l.csv USING (country, "region")', "t USING (a)")
BATCH: list[Any] = [
    {"item": "page", "k": 2},
    "SELECT page, COUNT(*) FROM t GROUP BY page LIMIT 3",
    {"item": ["page"], "per": "country", "epsilon": "0.1"},
]
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"item": "page", "by": "sum(n)", "clip": 3, "unit": "1", "k": 2},
    {"item": "page", "by": "events", "clip": ["-2", "2"]},
    {"item": "page", "per": ["country"], "groups": ["x", "y"], "groups_per_user": "all", "at_least": 2},
    {"item": "page", "join": ["users"], "where": "n > 1", "counts": True, "others": True},
)  # fmt: skip
GROUPED = json.loads(grouped_release().to_json())
pieces = st.sampled_from([*JOINS, "USING", "(", ")", ",", "=", '"', "PUBLIC ", " ", *HOSTILE_TEXTS]) | st.text(
    max_size=6
)


@functools.cache
def plans() -> tuple[Any, Any]:
    """What a service says of a question's plan, and of a batch's."""
    batch = curator().batch([{"item": "page", "k": 2}, {"item": "page", "k": 1}, {"item": "country", "per": "page"}])
    return curator().plan("page", k=3, counts=True).to_dict(), batch.plan().to_dict()


@functools.cache
def curator() -> Curator:
    """One table, and a budget; plans cost nothing."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    budget = Budget(epsilon=1, delta="1e-6", items=10, questions=10)
    made = Curator(ROWS, dataset="rows", user="user_id", ledger=Path(folder.name) / "ledger.db", budget=budget)
    atexit.register(made.close)
    return made


@settings(max_examples=40)
@given(st.lists(pieces, max_size=5).map("".join) | st.sampled_from(JOINS))
def test_a_join_in_text(text: str) -> None:
    found = refused_or_read(lambda: parse_join(text))
    if found is not None:
        assert isinstance(found, Join)
        assert found.using
        assert found.describe()["using"] == list(found.using)


@settings(max_examples=40)
@given(damaged(st.just(GROUPED)))
def test_a_damaged_release_with_groups(document: Any) -> None:
    found = refused_or_read(lambda: Release.from_json(json.dumps(document)))
    if isinstance(found, GroupedRelease):
        assert Release.from_json(found.to_json()) == found


@settings(max_examples=40)
@given(values | st.lists(st.sampled_from(JOINS), max_size=3))
def test_declared_joins(given_: Any) -> None:
    found = refused_or_read(lambda: declared_joins(given_))
    assert found is None or all(isinstance(one, Join) for one in found.values())


@settings(max_examples=40)
@given(damaged(st.just(BATCH)) | values)
def test_a_damaged_batch(document: Any) -> None:
    found = refused_or_read(lambda: batch_questions(document))
    assert found is None or all(isinstance(one, BatchQuestion) for one in found)


@settings(max_examples=15)
@given(damaged(st.sampled_from(QUESTIONS)))
def test_a_damaged_question_about_measures_and_groups(document: Any) -> None:
    if isinstance(document, dict) and all(name in Question.__dataclass_fields__ for name in document):
        found = refused_or_read(lambda: curator().plan_question(Question(**document)))
        if found is not None:
            assert json.dumps(found.to_dict())


@given(
    st.text(max_size=20) | st.sampled_from(HOSTILE_TEXTS) | st.sampled_from(["@g", "a,b", "x.csv", "-1,2", "all", "٣"])
)
def test_options_of_the_command_line(text: str) -> None:
    for read in (parse_clip, parse_groups, parse_groups_per_user):
        if "\x00" not in text:
            refused_or_read(functools.partial(read, text))


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("plan_question", {"dataset": "rows", "item": "page", "k": 2}),
    ("plan_question", {"dataset": "rows", "sql": "SELECT page FROM t GROUP BY page ORDER BY COUNT(*) DESC LIMIT 2"}),
    *((tool.name, dict.fromkeys(tool.properties, "rows")) for tool in TOOLS),
)


@settings(max_examples=40)
@given(st.sampled_from(CALLS).flatmap(lambda call: st.tuples(st.just(call[0]), damaged(st.just(call[1])))))
def test_a_damaged_tool_call(call: tuple[str, Any]) -> None:
    name, arguments = call
    if isinstance(arguments, dict):
        found = refused(lambda: asyncio.run(call_tool(CuratorBackend(curator()), name, arguments)))
        assert found is None or json.dumps(found.document)


def refused(call: Callable[[], Any]) -> Any:
    """As over the protocol, where a refusal of the service is an answer too."""
    try:
        return refused_or_read(call)
    except Refusal:
        return None


@settings(max_examples=200)
@given(st.deferred(lambda: damaged(st.just(json.loads(json.dumps(plans()[0]))))) | values)
def test_a_damaged_plan(document: Any) -> None:
    plan = refused_or_read(lambda: Plan.from_dict(document))
    if plan is not None:
        assert str(plan)
        assert plan.explain()
        assert Plan.from_dict(plan.to_dict()) == plan


@settings(max_examples=100)
@given(st.deferred(lambda: damaged(st.just(json.loads(json.dumps(plans()[1]))))) | values)
def test_a_damaged_plan_of_a_batch(document: Any) -> None:
    plan = refused_or_read(lambda: BatchPlan.from_dict(document))
    if plan is not None:
        assert str(plan)
        assert BatchPlan.from_dict(plan.to_dict()) == plan


chain = Chain.at_zero((Step.pure("0.1", count=2), Step.bounded_range("0.2"), Step.gaussian("0.05", count=3)))


@settings(max_examples=200)
@given(damaged(st.just(json.loads(chain.to_json()))) | values)
def test_a_damaged_chain(document: Any) -> None:
    found = refused_or_read(lambda: Chain.from_json(json.dumps(document)))
    if found is not None:
        assert Chain.from_json(found.to_json()) == found
        assert isinstance(found.charge(part.step for part in found.parts), Fraction)

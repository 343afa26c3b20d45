"""The question in a form, from its fields to a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from podium.errors import InvalidArgument
from podium.query import Question, Schema
from podium.query.group_columns import ALL_GROUPS, TYPED, typed_groups
from podium.service.api.bodies import QuestionBody
from podium.service.pages.cookies import Form, parse_integer
from podium.wire.request import QuestionRequest

__all__ = ["is_ranking", "read_form", "require_sendable"]

_NUMBERS = ("k", "max_items_per_user", "domain_size", "k_bar", "comparisons_per_pair", "max_comparisons_per_user")
_LISTS = ("domain", "groups", "items")
_FIELDS = (
    "item", "k", "sql", "by", "clip", "unit", "where", "epsilon", "counts", "max_items_per_user", "domain",
    "domain_size", "k_bar", "at_least", "others", "per", "groups", "groups_per_user", "table",
    "winner", "loser", "items", "comparisons_per_pair", "max_comparisons_per_user", "scores",
)  # fmt: skip


def is_ranking(fields: Form) -> bool:
    """Whether the form is the one for rankings."""
    return "winner" in fields


def read_form(fields: Form, schema_of: Callable[[Question], Schema]) -> QuestionRequest:
    """The question in a form; groups that were typed become values of the kind of their column."""
    asked = _parse(fields)
    question = asked.question
    if not isinstance(question, Question) or not isinstance(question.groups, tuple):
        return asked
    groups = typed_groups(question.groups, question.per, schema_of(question), kinds=TYPED)
    return replace(asked, question=replace(question, groups=groups))


def _parse(fields: Form) -> QuestionRequest:
    """Listed items are one per line."""
    given: dict[str, Any] = {name: value.strip() for name, value in fields.items() if name in _FIELDS}
    for name in _NUMBERS:
        if name in given:
            given[name] = parse_integer(given[name], name)
    for name in ("counts", "others", "scores"):
        if name in given:
            given[name] = given[name] == "yes"
    for name in _LISTS:
        if name in given:
            given[name] = [line.strip() for line in given[name].splitlines() if line.strip()]
    if given.get("groups_per_user", ALL_GROUPS) != ALL_GROUPS:
        given["groups_per_user"] = parse_integer(given["groups_per_user"], "groups_per_user")
    return QuestionRequest.of(**given)


def require_sendable(question: QuestionRequest) -> None:
    """Raise unless the confirmation would accept what is previewed."""
    body = question.to_dict()
    try:
        QuestionBody.model_validate(body)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        number = name in ("epsilon", "clip", "unit", "at_least")
        allowed = "a number without a sign, such as 0.5, 1e-2 or 1/3" if number else "a shorter one"
        raise InvalidArgument(name, body.get(name), allowed=allowed) from None

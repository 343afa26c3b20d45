"""Signatures that spell out their options, for ``help()`` and completion; the options are declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from podium.query.question import Question, QuestionOptions
from podium.query.ranked_by import USERS
from podium.query.ranking_question import RankingOptions, RankingQuestion

__all__ = ["QUESTION_DEFAULTS", "RANKING_DEFAULTS", "SQL_DEFAULTS", "spell_out"]

F = TypeVar("F", bound=Callable[..., Any])

SQL_DEFAULTS: Mapping[str, object] = {
    each.name: each.default for each in fields(Question) if each.name in QuestionOptions.__annotations__
} | {"where": None, "join": None}
QUESTION_DEFAULTS: Mapping[str, object] = {**SQL_DEFAULTS, "k": 10, "by": USERS}
RANKING_DEFAULTS: Mapping[str, object] = {
    each.name: each.default for each in fields(RankingQuestion) if each.name in RankingOptions.__annotations__
}


def spell_out(*groups: Mapping[str, object]) -> Callable[[F], F]:
    """Show a function's ``**options`` as keyword arguments with these defaults."""

    def show(function: F) -> F:
        signature = inspect.signature(function)
        plain = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for group in groups
            for name, default in group.items()
        ]
        function.__signature__ = signature.replace(parameters=[*plain, *options])  # type: ignore[attr-defined]
        return function

    return show

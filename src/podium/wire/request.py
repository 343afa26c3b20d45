"""A question as it is sent: a JSON body, a form of a page, a line of SQL; checked for its shape, not its meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.query.question import Question
from podium.query.ranking_question import RankingQuestion

__all__ = ["QuestionRequest"]

_RANKING = {each.name for each in fields(RankingQuestion)}
_QUESTION = {each.name for each in fields(Question)}
_LISTS = ("domain", "items", "pairs")


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A question, and the epsilon of its answer where the owner's plan is not to decide."""

    question: Question | RankingQuestion
    epsilon: str | None = None

    @classmethod
    def of(cls, *, epsilon: Number | None = None, **parts: Any) -> QuestionRequest:
        """From what a body names; None stands for what it leaves out."""
        stated = {name: value for name, value in parts.items() if value is not None}
        for name in _LISTS:
            if name in stated:
                stated[name] = _listed(name, stated[name])
        known = _RANKING if "winner" in stated else _QUESTION
        strange = sorted(set(stated) - known)
        if strange:
            raise InvalidArgument(strange[0], stated[strange[0]], allowed="None in this question")
        question = RankingQuestion(**stated) if "winner" in stated else Question(**stated)
        return cls(question, None if epsilon is None else str(epsilon))

    @property
    def heading(self) -> str:
        """What the column of the items is called, where the question names it."""
        return ", ".join(self.question.item) if isinstance(self.question, Question) and self.question.item else "item"

    @property
    def options(self) -> dict[str, Any]:
        """What is asked beyond the items and k."""
        return {name: value for name, value in self.to_dict().items() if name not in ("item", "k", "sql")}

    def to_dict(self) -> dict[str, Any]:
        """The JSON body that asks it."""
        body = self.question.to_dict()
        return body if self.epsilon is None else {**body, "epsilon": self.epsilon}

    def to_text(self) -> str:
        """One text for equal questions."""
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> QuestionRequest:
        """The question that ``to_text`` wrote."""
        try:
            return cls.of(**json.loads(text))
        except (RecursionError, TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
        raise InvalidArgument("question", text, allowed="what QuestionRequest.to_text wrote")


def _listed(name: str, value: Any) -> list[Any]:
    # A text would be the path of a file on the server.
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        raise InvalidArgument(name, value, allowed="a list of items")
    return [tuple(item) if isinstance(item, list) else item for item in value]

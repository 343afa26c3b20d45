"""A question as sent in a JSON body, a form or SQL: its shape is checked here, its meaning by the library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.query.group_columns import DeclaredTable, groups_data
from podium.query.question import Question
from podium.query.ranking_question import RankingQuestion

__all__ = ["QuestionRequest"]

_RANKING = {each.name for each in fields(RankingQuestion)}
_QUESTION = {each.name for each in fields(Question)}
_LISTS = ("domain", "groups", "items", "pairs")
_NEEDED = {
    "loser": "the column of the items that were not preferred",
    "comparisons_per_pair": "how many users are expected to prefer one item of a pair to the other",
}
"""What a ranking must state besides its winner, with a description."""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A question, and the epsilon of its answer if it overrides the owner's plan."""

    question: Question | RankingQuestion
    epsilon: str | None = None

    @classmethod
    def of(cls, *, epsilon: Number | None = None, **parts: Any) -> QuestionRequest:
        """Build a request from the fields of a body; None means that a field is absent."""
        given = {name: value for name, value in parts.items() if value is not None}
        ranking = "winner" in given
        strange = sorted(set(given) - (_RANKING if ranking else _QUESTION))
        if strange:
            raise InvalidArgument(strange[0], given[strange[0]], allowed="None in this question")
        _require_parts(given, ranking=ranking)
        stated: dict[str, Any] = {
            name: _as_list(name, value) if name in _LISTS else value for name, value in given.items()
        }
        if "groups" in stated:
            stated["groups"] = groups_data(stated["groups"])
        if "mixing" in stated:
            stated["mixing"] = str(stated["mixing"])
        try:
            question = RankingQuestion(**stated) if ranking else Question(**stated)
        except InvalidArgument as error:
            # Quote the value as it was sent: a question holds tuples where a body has one name.
            value = given.get(error.name)
            raise InvalidArgument(error.name, value, allowed=error.allowed, hint=error.hint) from None
        return cls(question, None if epsilon is None else str(epsilon))

    @property
    def heading(self) -> str:
        """The heading of the item column, if the question names it."""
        return ", ".join(self.question.item) if isinstance(self.question, Question) and self.question.item else "item"

    @property
    def options(self) -> dict[str, Any]:
        """The options of the question besides items and k."""
        return {name: value for name, value in self.to_dict().items() if name not in ("item", "k", "sql")}

    def to_dict(self) -> dict[str, Any]:
        """The JSON body of the request."""
        body = self.question.to_dict()
        return body if self.epsilon is None else {**body, "epsilon": self.epsilon}

    def to_text(self) -> str:
        """Canonical text: equal questions have equal text."""
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


def _require_parts(given: Mapping[str, Any], *, ranking: bool) -> None:
    """Raise unless a body says what is asked about."""
    if not ranking and not given.keys() & {"item", "sql"}:
        raise InvalidArgument("item", None, allowed="either item and k, or sql, and not both")
    for name, meaning in _NEEDED.items():
        if ranking and name not in given:
            raise InvalidArgument(name, None, allowed=meaning)


def _as_list(name: str, value: Any) -> Any:
    if name == "groups" and isinstance(value, str):
        return DeclaredTable(value)
    # A string would be a path on the server; iterating over a data frame would yield its column names.
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__") or hasattr(value, "columns"):
        shown = value if isinstance(value, str) else type(value).__name__
        raise InvalidArgument(name, shown, allowed=f"a list of {'groups' if name == 'groups' else 'items'}")
    return [tuple(item) if isinstance(item, list) else item for item in value]

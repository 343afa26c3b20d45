"""One question of a batch, in whatever form it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import NamedTuple, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.query.question import Question
from podium.query.ranking_question import RankingQuestion

__all__ = ["MAX_BATCH", "AnyQuestion", "BatchQuestion", "batch_questions"]

MAX_BATCH = 100
"""A batch holds all its reservations until its last question is answered."""


class BatchQuestion(NamedTuple):
    """A question, and the epsilon of its answer if it overrides the owner's plan."""

    question: Question | RankingQuestion
    epsilon: Number | None = None


AnyQuestion: TypeAlias = BatchQuestion | Question | RankingQuestion | str | Mapping[str, object]
"""A question, its SQL, or its fields as in JSON, with an ``epsilon`` if it has one of its own."""


def batch_questions(asked: Iterable[AnyQuestion]) -> tuple[BatchQuestion, ...]:
    """The questions of a batch; an error names the place of the one that is wrong."""
    if isinstance(asked, (str, bytes, Mapping)) or not isinstance(asked, Iterable):
        raise InvalidArgument("questions", type(asked).__name__, allowed="a list of questions")
    found = tuple(_one(each, place) for place, each in enumerate(asked, start=1))
    if not 1 <= len(found) <= MAX_BATCH:
        raise InvalidArgument("questions", len(found), allowed=f"1 to {MAX_BATCH} questions")
    return found


def _one(asked: AnyQuestion, place: int) -> BatchQuestion:
    if isinstance(asked, BatchQuestion):
        return asked
    if isinstance(asked, (Question, RankingQuestion)):
        return BatchQuestion(asked)
    if isinstance(asked, str):
        return BatchQuestion(Question(sql=asked))
    if not isinstance(asked, Mapping):
        raise InvalidArgument(
            "questions", type(asked).__name__, allowed="questions, SQL, or mappings such as {'item': 'page', 'k': 5}",
            hint=f"This is number {place}.",
        )  # fmt: skip
    stated = dict(asked)
    epsilon: object = stated.pop("epsilon", None)
    kind = RankingQuestion if "winner" in stated else Question
    strange = sorted(set(stated) - {each.name for each in fields(kind)})
    if strange:
        raise InvalidArgument(
            strange[0], stated[strange[0]], allowed="an option of a question", hint=f"This is question {place}."
        )
    return BatchQuestion(kind(**stated), epsilon)  # type: ignore[arg-type] # checked by the questions

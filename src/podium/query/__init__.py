"""Questions: parsed, checked against an allow-list, and brought into one canonical form."""

from podium.query.check import check_question
from podium.query.parse.statement import parse_sql
from podium.query.parse.where import parse_conditions, parse_where
from podium.query.predicate import Predicate
from podium.query.question import CheckedQuestion, Question, QuestionOptions
from podium.query.ranking_question import RankingOptions, RankingQuestion
from podium.query.record import QuestionRecord
from podium.query.schema import Column, Kind, Schema

__all__ = [
    "CheckedQuestion", "Column", "Kind", "Predicate", "Question", "QuestionOptions", "QuestionRecord", "RankingOptions",
    "RankingQuestion", "Schema",
    "check_question", "parse_conditions", "parse_sql", "parse_where",
]  # fmt: skip

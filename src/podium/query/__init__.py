"""The analyst's questions: parsed, checked against an allow-list, and brought into one canonical form."""

from podium.query.parse.statement import parse_sql
from podium.query.parse.where import parse_conditions, parse_where
from podium.query.predicate import Predicate
from podium.query.question import Question
from podium.query.schema import Column, Kind, Schema

__all__ = ["Column", "Kind", "Predicate", "Question", "Schema", "parse_conditions", "parse_sql", "parse_where"]

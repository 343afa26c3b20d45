"""The analyst's questions: parsed, checked against an allow-list, and brought into one canonical form."""

from podium.query.conditions import parse_conditions, parse_where
from podium.query.predicate import Predicate
from podium.query.question import Question
from podium.query.schema import Column, Kind, Schema
from podium.query.statement import parse_sql

__all__ = ["Column", "Kind", "Predicate", "Question", "Schema", "parse_conditions", "parse_sql", "parse_where"]

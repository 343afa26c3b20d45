"""Checking a question with what it joins: the columns of all tables, and the rows of public ones."""

from __future__ import annotations

import datetime as dt

from podium.curator.joined import joined_schema, joined_tables
from podium.curator.open_tables import OpenTable
from podium.query import CheckedQuestion, Question, Schema, check_question
from podium.sources import Source
from podium.sources.joined_table import JoinedTable

__all__ = ["check_joined"]


def check_joined(
    question: Question, table: OpenTable, source: Source, dataset: str, now: dt.datetime
) -> tuple[CheckedQuestion, Schema, tuple[JoinedTable, ...]]:
    """The question, the columns that it may name, and what it joins. Of private rows none is read."""
    joins = table.joined_by(question)
    schema = joined_schema(source, joins)
    name = table.name or dataset
    checked = check_question(question, schema, user=table.user, table=name, now=now, joins=joins)
    return checked, schema, joined_tables(source, joins, checked, table.user)

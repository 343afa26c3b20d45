"""The tables that the SQL of one question reads."""

from __future__ import annotations

from dataclasses import dataclass

from podium.sources.protocol import CountQuery, DomainSize
from podium.sources.sql.relation import ItemTable, Relation

__all__ = ["QuestionTables"]


@dataclass(frozen=True, slots=True)
class QuestionTables:
    """The table of one question, ``relation``, and what is beside it.

    ``without`` has the items that the query excludes, ``groups`` the known groups. ``kept`` is the table that keeps the
    pairs, if they were computed before, as they are where several queries share them: those of the domain and of the
    known groups. ``kept_sizes`` says that each of its rows has the number of items of its user, and ``kept_users`` is a
    table of users with these numbers, where there are no groups. ``named`` lists the few items whose kept pairs are
    wanted.
    """

    relation: Relation
    query: CountQuery
    domain: DomainSize | ItemTable | None = None
    without: ItemTable | None = None
    kept: str | None = None
    kept_sizes: bool = False
    groups: ItemTable | None = None
    kept_users: str | None = None
    named: ItemTable | None = None

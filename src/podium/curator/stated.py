"""What a question states about its table: the items that can come back, and the groups that it has lists for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from podium.errors import InvalidArgument
from podium.histogram import Item
from podium.planning.facts import GroupFacts
from podium.query import CheckedQuestion, Schema
from podium.query.group_columns import DeclaredTable
from podium.release.groups import group_key
from podium.sources import Domain, DomainFile, DomainItems, DomainSize, DomainTable, GroupCut, Source
from podium.sources.domains import listed_rows
from podium.sources.sql.sql_source import SqlSource

__all__ = ["StatedGroups", "state_domain", "state_groups"]


@dataclass(frozen=True, slots=True)
class StatedGroups:
    """The groups of a question: ``listed`` in the order of their names, each once, or None if they are unknown.

    ``per_user`` is None where a user counts in all of theirs.
    """

    per: tuple[str, ...]
    per_user: int | None
    listed: tuple[Item, ...] | None = None

    @property
    def cut(self) -> GroupCut:
        """Which groups of a user count."""
        known = None if self.listed is None else DomainItems(self.listed)
        return GroupCut(self.per, per_user=self.per_user, known=known)

    @property
    def facts(self) -> GroupFacts:
        """What a plan needs to know."""
        return GroupFacts(self.per_user, None if self.listed is None else len(self.listed))


def state_domain(domain: object, domain_size: int | None) -> Domain | None:
    """The domain that the caller stated, in one of its four forms."""
    if domain is not None and domain_size is not None:
        raise InvalidArgument("domain_size", domain_size, allowed="None where domain is given")
    if domain_size is not None:
        return DomainSize(domain_size)
    if domain is None or isinstance(domain, (DomainSize, DomainItems, DomainTable, DomainFile)):
        return domain
    return _file_or_list(domain, "domain", "items")


def state_groups(schema: Schema, question: CheckedQuestion, source: Source) -> StatedGroups | None:
    """The groups that the caller stated; None where there is one list. A file or public table of them is read here."""
    asked = question.asked
    if asked is None or not question.per:
        return None
    per_user = None if isinstance(asked.groups_per_user, str) else asked.groups_per_user
    groups = _of_declared(asked.groups, question.per, source) or _as_listed(asked.groups)
    if groups is None:
        return StatedGroups(question.per, per_user)
    columns = tuple(schema.column(name, role="per") for name in question.per)
    rows = listed_rows(groups, columns, role="groups")
    by_key = {group_key(group): group for group in (row if len(row) > 1 else row[0] for row in rows)}
    if not by_key:
        raise InvalidArgument("groups", "an empty list", allowed="one or more groups")
    return StatedGroups(question.per, per_user, tuple(by_key[key] for key in sorted(by_key)))


def _as_listed(groups: object) -> DomainItems | DomainFile | None:
    if groups is None or isinstance(groups, (DomainItems, DomainFile)):
        return groups
    if isinstance(groups, str) and not any(sign in groups for sign in "./\\") and not Path(groups).is_file():
        raise InvalidArgument(
            "groups", groups, allowed="a list of groups, or the path of a file with one, such as 'groups.csv'",
            hint=f"Say groups=[{groups!r}] for that group alone.",
        )  # fmt: skip
    return _file_or_list(groups, "groups", "groups")


def _file_or_list(stated: object, name: str, what: str) -> DomainItems | DomainFile:
    if isinstance(stated, (str, Path)):
        return DomainFile(stated)
    # Iterating over a frame gives column names, over bytes numbers.
    if isinstance(stated, (bytes, Mapping)) or not isinstance(stated, Iterable) or hasattr(stated, "columns"):
        raise InvalidArgument(name, type(stated).__name__, allowed=f"a list of {what}, or the path of a file with one")
    return DomainItems(tuple(stated))


def _of_declared(groups: object, per: tuple[str, ...], source: Source) -> DomainItems | None:
    """The groups in a public table that the owner declared under this name; None if no name of one is stated."""
    declared = source.declared_joins if isinstance(source, SqlSource) else {}
    public = [name for name, join in declared.items() if join.public]
    name = groups.name if isinstance(groups, DeclaredTable) else groups
    if not isinstance(name, str) or (name not in public and not isinstance(groups, DeclaredTable)):
        return None
    lookup = source.joined_tables([name], per)[0].lookup if name in public and isinstance(source, SqlSource) else None
    places = [] if lookup is None else [column.name for column in lookup.columns]
    if lookup is None or not set(per) <= set(places):
        raise InvalidArgument(
            "groups",
            name,
            allowed=f"a list of groups, or the name of a declared public table with the columns {', '.join(per)}",
            hint=f"Declared public tables: {', '.join(public) or 'none'}. An owner declares one by "
            f"PUBLIC {name}=FILE USING ({', '.join(per)}).",
        )
    rows = {tuple(row[places.index(column)] for column in per) for row in lookup.rows}
    whole = [row for row in rows if None not in row]
    return DomainItems(tuple(row if len(per) > 1 else row[0] for row in whole))

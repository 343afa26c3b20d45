"""The data sets of a service, opened on first use so that a worker starts while a database is down."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.curator import Curator
from podium.errors import InvalidArgument, SourceError, SourceUnavailable, UnknownDataset
from podium.ledger import Budget, Ledger, Status, open_ledger
from podium.query.join import Join
from podium.query.ranked_by import EVENTS, NUMERIC, sum_of
from podium.query.schema import Column, Kind, Schema
from podium.service.settings import DatasetSettings, Settings, dataset_name, read_dataset
from podium.service.store.database import State, now
from podium.service.store.tokens import EVERYTHING, Token
from podium.sources import SourceOptions
from podium.storage.backend import BrokenRule
from podium.user_columns import UserColumns, is_user_column, user_columns
from podium.wire.refusals import not_found

__all__ = ["Dataset", "Datasets"]

_FILES = (".parquet", ".csv", ".json", ".ndjson", ".jsonl")
_NOT_ITEMS = (Kind.FLOAT, Kind.LIST, Kind.OTHER)


@dataclass(frozen=True, slots=True)
class Dataset:
    """An open data set."""

    settings: DatasetSettings
    curator: Curator

    @property
    def user(self) -> UserColumns:
        """The column of users; of several tables, that of the first."""
        return self.tables[0].user

    @property
    def tables(self) -> list[DescribedTable]:
        """The tables that questions may be about; a single one has the name of the data set."""
        names: tuple[str | None, ...] = self.curator.tables or (None,)
        opened = [self.curator.table(name) for name in names]
        return [
            DescribedTable(one.name or self.settings.name, one.user, one.schema, one.joined_columns) for one in opened
        ]

    def table(self, name: str | None) -> DescribedTable:
        """The table of that name, or the first."""
        return next((one for one in self.tables if one.name == name), self.tables[0])


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table as forms and documents show it."""

    name: str
    user: UserColumns
    schema: Schema
    columns_beside: Callable[[], Mapping[Join, Schema]] = dict

    @property
    def joins(self) -> list[dict[str, Any]]:
        """The tables that questions may join, with their keys and columns; where they are is not said."""
        return [
            {
                "name": join.name, "using": list(join.using), "public": join.public,
                "columns": [_column_document(column) for column in schema.columns],
            }
            for join, schema in self.columns_beside().items()
        ]  # fmt: skip

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns that questions may name, with their kinds."""
        return [_column_document(column) for column in self.schema.columns]

    @property
    def item_columns(self) -> list[str]:
        """The columns that can be ranked."""
        return [
            column.name
            for column in self.schema.columns
            if not is_user_column(column.name, self.user) and column.kind not in _NOT_ITEMS
        ]

    @property
    def group_columns(self) -> list[str]:
        """The columns that can divide the rows into groups."""
        kinds = {column.name: column.kind for column in self.schema.columns}
        return [name for name in self.item_columns if kinds[name] is not Kind.LIST]

    @property
    def measures(self) -> list[tuple[str, str]]:
        """What items can be ranked by besides distinct users, with a name for people."""
        numeric = [
            column.name
            for column in self.schema.columns
            if not is_user_column(column.name, self.user) and column.kind in NUMERIC
        ]
        return [(EVENTS, "events (rows)"), *((sum_of(name), f"sum of {name}") for name in numeric)]


class Datasets:
    """The data sets of the settings and those registered on the page, with their shared ledger."""

    def __init__(self, settings: Settings, state: State) -> None:
        self._settings, self._state = settings, state
        self._lock = threading.Lock()
        self._ledger: Ledger | None = None
        self._open: dict[str, Dataset] = {}
        self._closing = ExitStack()

    @property
    def ledger(self) -> Ledger:
        """The ledger; raises while its database is down."""
        with self._lock:
            return self._open_ledger()

    def reach_ledger(self) -> None:
        """Raise unless the ledger can be read."""
        self.ledger.datasets()

    def names(self) -> list[str]:
        """All names, those of the settings first."""
        return list(self._definitions())

    def visible(self, token: Token) -> list[str]:
        """The names in the scope of a token."""
        return [name for name in self.names() if token.reaches(name)]

    def get(self, name: str) -> Dataset:
        """The data set of that name, opened if needed.

        The error does not say why it cannot be opened: the first line of a file without a header is a row.
        """
        with suppress(SourceError, InvalidArgument):
            return self.open(name)
        raise SourceUnavailable(
            f"dataset={name!r} could not be opened. Nothing was read or charged. Its owner can see the reason with: "
            "podium serve --check"
        )

    def open(self, name: str) -> Dataset:
        """The same for its owner: an error says why it cannot be opened."""
        found = self._open.get(name)
        if found is not None:
            return found
        settings = self._definitions().get(name)
        if settings is None:
            raise not_found(f"dataset={name!r}")
        with self._lock:
            return self._open_dataset(settings)

    def require(self, name: str) -> None:
        """Raise unless this service has a data set of that name; the ledger may know others."""
        if name not in self._open and name not in self._definitions():
            raise not_found(f"dataset={name!r}")

    def require_scope(self, scope: Iterable[str], *, within: Token | None = None) -> None:
        """Raise unless every data set in the scope exists: a typo would otherwise surface much later."""
        named = self.names() if within is None else self.visible(within)
        for name in scope:
            if name != EVERYTHING and name not in named:
                raise InvalidArgument(
                    "dataset",
                    name,
                    allowed=f"{EVERYTHING} for all, or one of: {', '.join(named) or 'none yet'}",
                    hint="Name it under [datasets] in the settings, or register it on the page, first.",
                )

    def status(self, name: str) -> Status:
        """The status of a data set, even while its data is unreachable."""
        self.require(name)
        try:
            return self.ledger.status(name)
        except UnknownDataset:
            # A data set is registered when it is first opened.
            self.get(name)
            return self.ledger.status(name)

    def files(self) -> list[str]:
        """The files that may be registered on the page."""
        folder = self._settings.registration
        if folder is None:
            return []
        return sorted(path.name for path in folder.iterdir() if path.suffix.lower() in _FILES and path.is_file())

    def register(self, name: str, file: str, *, user: str | Iterable[str], budget: Budget) -> Dataset:
        """Register a file of the registration folder under a name, for all workers."""
        folder = self._settings.registration
        if folder is None or file not in self.files():
            raise InvalidArgument("source", file, allowed="a file in the folder for registration")
        if dataset_name(name) in self._definitions():
            raise InvalidArgument("dataset", name, allowed="a name that is not taken")
        settings = DatasetSettings(name=name, source=str(folder / file), user=user_columns(user), budget=budget)
        with self._lock:
            opened = self._open_dataset(settings)
        try:
            self._state.run(
                "INSERT INTO service_datasets (name, definition, created) VALUES (?, ?, ?)",
                (name, json.dumps(settings.to_json()), now()),
            )
        except BrokenRule:
            # Another request took the name meanwhile.
            raise InvalidArgument("dataset", name, allowed="a name that is not taken") from None
        return opened

    def check(self) -> list[str]:
        """Open all data sets and return their names."""
        return [self.open(name).settings.name for name in self.names()]

    def close(self) -> None:
        """Close the engines and the ledger."""
        self._closing.close()

    def _definitions(self) -> Mapping[str, DatasetSettings]:
        rows = self._state.rows("SELECT name, definition FROM service_datasets ORDER BY created, name")
        listed = self._settings.datasets
        added = {name: read_dataset(name, json.loads(text), Path("/")) for name, text in rows if name not in listed}
        return {**listed, **added}

    def _open_ledger(self) -> Ledger:
        if self._ledger is None:
            self._ledger = open_ledger(self._settings.ledger)
            self._closing.callback(self._ledger.close)
        return self._ledger

    def _open_dataset(self, settings: DatasetSettings) -> Dataset:
        if settings.name in self._open:
            return self._open[settings.name]
        reading: SourceOptions = {} if settings.tables else settings.options
        curator = Curator(
            settings.tables or settings.source,
            dataset=settings.name,
            user=settings.user,
            ledger=self._open_ledger(),
            budget=settings.budget,
            force=settings.force,
            answer_every=self._settings.limits.answer_every_seconds,
            **reading,
        )
        self._closing.callback(curator.close)
        self._open[settings.name] = Dataset(settings, curator)
        return self._open[settings.name]


def _column_document(column: Column) -> dict[str, Any]:
    """A column as JSON, with the element kind of a list and the scale of a decimal."""
    element = {} if column.element is None else {"element": column.element.value}
    scale = {"scale": column.scale} if column.scale else {}
    return {"name": column.name, "kind": column.kind.value, **element, **scale}

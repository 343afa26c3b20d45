"""The owner's settings: the ledger, the data sets and the server.

They are a TOML file, read with exact decimals; a few environment variables override it. Everything is checked before
anything is opened, and an unknown key is an error: a misspelt limit must not silently be absent.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from podium.curator.open_tables import Table
from podium.errors import InvalidArgument
from podium.ledger import Budget
from podium.query.join import Join, declared_joins
from podium.sources import SourceOptions
from podium.sources.open import source_options
from podium.user_columns import UserColumns, user_columns, user_data

__all__ = [
    "CONFIG_VARIABLE",
    "OVERRIDES",
    "DatasetSettings",
    "Limits",
    "Server",
    "Settings",
    "dataset_name",
    "load",
    "read",
]

CONFIG_VARIABLE = "PODIUM_CONFIG"
"""The environment variable that names the file; workers read it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
OVERRIDES: dict[str, tuple[str, type[str] | type[int]]] = {
    "PODIUM_LEDGER": ("ledger", str),
    "PODIUM_STATE": ("state", str),
    "PODIUM_HOST": ("server.host", str),
    "PODIUM_PORT": ("server.port", int),
    "PODIUM_WORKERS": ("server.workers", int),
    "PODIUM_PUBLIC_URL": ("server.public_url", str),
}
_PLACE = ("source", "user", "table", "types", "bad_lines", "encoding", "header", "joins")
"""What is said of one table."""
_POSTGRESQL = ("postgresql://", "postgres://")

T = TypeVar("T", "Server", "Limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where to listen. ``public_url`` is how browsers reach the service; with https, cookies are secure.

    Log lines go to ``log_file``, or to stderr.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 2
    public_url: str | None = None
    public_metrics: bool = False
    shutdown_seconds: int = 30
    log_file: str | None = None

    @property
    def secure(self) -> bool:
        """Whether browsers use https."""
        return self.public_url is not None and self.public_url.startswith("https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one caller or one request may use. Rates, queues and connections are per worker.

    ``answer_every_seconds`` delays answers to a multiple of it, see ``Curator``.
    """

    body_bytes: int = 65_536
    header_seconds: int = 10
    body_seconds: int = 20
    connections: int = 800
    connections_per_address: int = 400
    requests_per_minute: int = 600
    questions_per_minute: int = 60
    plans_per_minute: int = 120
    failures_per_minute: int = 30
    parallel_questions: int = 4
    queued_questions: int = 256
    queued_per_analyst: int = 32
    parallel_plans: int = 2
    plan_seconds: int = 30
    session_hours: int = 12
    answer_every_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """A table, its user column or columns, and its budget (None: the data set must be registered already).

    Several tables of the same users are in ``tables`` by name, and there is no ``source``.
    """

    name: str
    source: str = ""
    user: UserColumns = ""
    table: str | None = None
    types: Mapping[str, str] | None = None
    bad_lines: str = "refuse"
    encoding: str = "utf-8"
    header: bool = True
    budget: Budget | None = None
    force: bool = False
    tables: Mapping[str, Table] = field(default_factory=dict)
    joins: Iterable[Join | str] | Join | str | None = None

    @property
    def options(self) -> SourceOptions:
        """How the source is read."""
        return source_options(self)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that ``read_dataset`` turns back into the same settings."""
        budget, declared = None if self.budget is None else self.budget.to_dict(), declared_joins(self.joins)
        return {
            "source": self.source, "user": user_data(self.user), "table": self.table,
            "types": None if self.types is None else dict(self.types), "bad_lines": self.bad_lines,
            "encoding": self.encoding, "budget": budget, "force": self.force,
            **({} if self.header else {"header": False}),
            **({"joins": {name: join.describe() for name, join in declared.items()}} if declared else {}),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole file. ``state`` stores tokens, sessions and jobs; ``registration`` is the folder whose files an owner
    may register on the page (None: only the data sets of this file are served)."""

    ledger: str
    state: str
    datasets: Mapping[str, DatasetSettings]
    server: Server = field(default_factory=Server)
    limits: Limits = field(default_factory=Limits)
    registration: Path | None = None


def load(path: Path | str, *, environment: Mapping[str, str] | None = None) -> Settings:
    """Load the settings from a file, with overrides from the environment."""
    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument("config", str(path), allowed="a TOML file that can be read") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument("config", str(path), allowed="a TOML file", hint=f"{error}.") from None
    except (RecursionError, ValueError):
        raise InvalidArgument("config", str(path), allowed="a TOML file of ordinary depth and numbers") from None
    return read(document, folder=file.parent, environment=os.environ if environment is None else environment)


def read(document: Mapping[str, Any], *, folder: Path, environment: Mapping[str, str]) -> Settings:
    """Build the settings from a parsed file; paths are relative to ``folder``."""
    merged = _apply_overrides(document, environment)
    _check_keys(merged, ("ledger", "state", "server", "limits", "registration", "datasets"), "")
    ledger = _resolve(_text(merged.get("ledger"), "ledger"), folder)
    state = merged.get("state")
    registration = merged.get("registration")
    datasets = {
        name: read_dataset(dataset_name(name), _table(raw, f"datasets.{name}"), folder)
        for name, raw in _table(merged.get("datasets", {}), "datasets").items()
    }
    if not datasets and registration is None:
        raise InvalidArgument(
            "datasets", {}, allowed="one [datasets.NAME] or more", hint="Or name a folder as registration."
        )
    return Settings(
        ledger=ledger,
        state=_default_state(ledger) if state is None else _resolve(_text(state, "state"), folder),
        datasets=datasets,
        server=_server(_table(merged.get("server", {}), "server"), folder),
        limits=_section(Limits, _table(merged.get("limits", {}), "limits"), "limits"),
        registration=None if registration is None else _folder(folder / _text(registration, "registration")),
    )


def dataset_name(name: object) -> str:
    """Require a name that is safe in URLs and in SQL."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidArgument(
            "dataset", name, allowed="1 to 64 letters, digits, hyphens or underscores, starting with a letter or digit"
        )
    return name


def read_dataset(name: str, raw: Mapping[str, Any], folder: Path) -> DatasetSettings:
    """Build the settings of one data set."""
    prefix = f"datasets.{name}."
    _check_keys(raw, (*_PLACE, "tables", "budget", "force", "insist"), prefix)
    budget, several = raw.get("budget"), _table(raw.get("tables", {}), f"{prefix}tables")
    if several and raw.keys() & set(_PLACE) - {"user"}:
        raise InvalidArgument(f"{prefix}tables", sorted(several), allowed="no source and no option beside the tables")
    user = None if raw.get("user") is None else _user(raw["user"], f"{prefix}user")
    tables = {
        table: _place(_table(told, f"{prefix}tables.{table}"), folder, f"{prefix}tables.{table}.", user)
        for table, told in several.items()
    }
    single = {each: raw[each] for each in _PLACE if each in raw}
    place: Table | None = None if several else _place(single, folder, prefix, None)
    return DatasetSettings(
        name=name,
        user=user or user_columns(next(iter(tables.values())).user),
        tables=tables,
        source="" if place is None else str(place.source),
        **({} if place is None else place.options),
        budget=None if budget is None else _budget(_table(budget, f"{prefix}budget"), prefix),
        # Definitions stored by earlier versions call it insist.
        force=_flag(raw.get("force", raw.get("insist", False)), f"{prefix}force"),
    )


def _place(raw: Mapping[str, Any], folder: Path, prefix: str, user: UserColumns | None) -> Table:
    """Build the settings of one table; ``user`` is its user column unless it names another."""
    _check_keys(raw, _PLACE, prefix)
    table, types = raw.get("table"), raw.get("types")
    return Table(
        source=_resolve(_text(raw.get("source"), f"{prefix}source"), folder),
        user=_user(raw.get("user", user), f"{prefix}user"),
        table=None if table is None else _text(table, f"{prefix}table"),
        types=None if types is None else {key: str(kind) for key, kind in _table(types, f"{prefix}types").items()},
        bad_lines=_text(raw.get("bad_lines", "refuse"), f"{prefix}bad_lines"),
        encoding=_text(raw.get("encoding", "utf-8"), f"{prefix}encoding"),
        header=_flag(raw.get("header", True), f"{prefix}header"),
        joins=_joins(_table(raw.get("joins", {}), f"{prefix}joins"), folder, f"{prefix}joins.") or None,
    )


def _joins(raw: Mapping[str, Any], folder: Path, prefix: str) -> tuple[Join, ...]:
    """The tables that questions may join, by name: a table of the same database, or a file."""
    found = []
    for name, told in raw.items():
        part, where = _table(told, f"{prefix}{name}"), f"{prefix}{name}."
        _check_keys(part, ("name", "table", "using", "public", "types"), where)
        table, using, types = _text(part.get("table"), f"{where}table"), part.get("using"), part.get("types")
        found.append(
            Join(
                str(folder / table) if (folder / table).exists() else table,
                [_text(key, f"{where}using") for key in ([using] if isinstance(using, str) else using or [])],
                name,
                public=_flag(part.get("public", False), f"{where}public"),
                types=None if types is None else {key: str(kind) for key, kind in _table(types, where).items()},
            )
        )
    return tuple(found)


def _budget(raw: Mapping[str, Any], prefix: str) -> Budget:
    _check_keys(raw, tuple(part.name for part in fields(Budget)), f"{prefix}budget.")
    try:
        return Budget(**raw)
    except TypeError:
        raise InvalidArgument(
            f"{prefix}budget", sorted(raw), allowed="epsilon, items and questions, and a delta unless it is pure"
        ) from None


def _server(raw: Mapping[str, Any], folder: Path) -> Server:
    server = _section(Server, raw, "server")
    if server.log_file is not None:
        server = replace(server, log_file=_resolve(server.log_file, folder))
    if server.port > 65_535:
        raise InvalidArgument("server.port", server.port, allowed="1 to 65535")
    if server.public_url is not None:
        parts = urlsplit(server.public_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
            raise InvalidArgument(
                "server.public_url", server.public_url, allowed="http:// or https:// and a host, without a path"
            )
    return server


def _section(cls: type[T], raw: Mapping[str, Any], name: str) -> T:
    known = {part.name: part for part in fields(cls)}
    _check_keys(raw, tuple(known), f"{name}.")
    return cls(**{key: _check_type(value, known[key].type, f"{name}.{key}") for key, value in raw.items()})


def _check_type(value: object, kind: object, name: str) -> Any:
    if kind in ("int", "int | None"):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidArgument(name, value, allowed="an integer above 0")
        return value
    return _flag(value, name) if kind == "bool" else _text(value, name)


def _apply_overrides(document: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    merged: dict[str, Any] = {**document, "server": {**_table(document.get("server", {}), "server")}}
    for variable, (key, kind) in OVERRIDES.items():
        if variable not in environment:
            continue
        section, _, name = key.rpartition(".")
        try:
            (merged[section] if section else merged)[name] = kind(environment[variable])
        except ValueError:
            raise InvalidArgument(variable, environment[variable], allowed="an integer") from None
    return merged


def _default_state(ledger: str) -> str:
    """Beside the ledger's file, or in the same database."""
    if ledger.startswith(_POSTGRESQL):
        return ledger
    return str(Path(ledger.removeprefix("sqlite:///")).with_name("service.db"))


def _resolve(text: str, folder: Path) -> str:
    """Make a path absolute; leave a URL as it is."""
    if "://" in text and not text.startswith("sqlite:///"):
        return text
    return str((folder / text.removeprefix("sqlite:///")).absolute())


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise InvalidArgument("registration", str(path), allowed="a folder that exists")
    return path.resolve()


def _check_keys(raw: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    for key in raw:
        if key not in known:
            raise InvalidArgument(f"{prefix}{key}", raw[key], allowed=f"one of the keys {', '.join(sorted(known))}")


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidArgument(name, value, allowed="a table of keys and values")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidArgument(name, value, allowed="a string that is not empty")
    return value


def _user(value: object, name: str) -> UserColumns:
    """One column, or a list of several that are one user together."""
    if isinstance(value, list):
        return user_columns([_text(one, name) for one in value])
    return _text(value, name)


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(name, value, allowed="true or false")
    return value

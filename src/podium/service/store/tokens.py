"""Tokens: who may do what on which data sets, and until when.

A token is 256 random bits. Only its SHA-256 is stored, which cannot be inverted: a stolen copy of the state grants no
access. The name of a token is the analyst whom the ledger charges.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.randomness import system_bits
from podium.service.store.database import State, now
from podium.storage.labels import label
from podium.wire.identifiers import new_id

__all__ = ["EVERYTHING", "PREFIX", "Role", "Token", "Tokens"]

EVERYTHING = "*"
"""The scope of a token for all data sets, including future ones."""
PREFIX = "podium_"
"""The prefix of every token, so that secret scanners can recognise one."""

_BYTES = 32
_DAY = 86_400
_MAX_DAYS = 3_650
_COLUMNS = "id, name, role, datasets, created, expires, revoked"


class Role(StrEnum):
    """What a token permits; each role includes those before it."""

    VIEWER = "viewer"
    ANALYST = "analyst"
    OWNER = "owner"

    def covers(self, other: Role) -> bool:
        """Whether this role includes the other."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret."""

    id: str
    name: str
    role: Role
    datasets: tuple[str, ...]
    created: int
    expires: int
    revoked: int | None

    @property
    def valid(self) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked is None and now() < self.expires

    def reaches(self, dataset: str) -> bool:
        """Whether the data set is in its scope."""
        return EVERYTHING in self.datasets or dataset in self.datasets

    def contains(self, datasets: Iterable[str]) -> bool:
        """Whether a scope is within its own scope."""
        return EVERYTHING in self.datasets or set(datasets) <= set(self.datasets)

    def to_json(self) -> dict[str, Any]:
        """The token as an owner may see it."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role.value,
            "datasets": list(self.datasets),
            "created": _moment(self.created),
            "expires": _moment(self.expires),
            "revoked": None if self.revoked is None else _moment(self.revoked),
            "valid": self.valid,
        }


class Tokens:
    """All tokens of a service."""

    def __init__(self, state: State) -> None:
        self._state = state

    def create(self, name: str, *, role: str, datasets: Iterable[str], days: int = 90) -> tuple[str, Token]:
        """Create a token and return its secret, which is shown once and not stored, with the token."""
        scope = tuple(dict.fromkeys(label(dataset, "datasets") for dataset in datasets))
        if not scope:
            raise InvalidArgument("datasets", [], allowed="one data set or more, or * for all")
        if positive_integer(days, "days") > _MAX_DAYS:
            raise InvalidArgument("days", days, allowed=f"1 to {_MAX_DAYS}")
        secret = PREFIX + base64.urlsafe_b64encode(system_bits().read(_BYTES)).decode("ascii").rstrip("=")
        made = now()
        token = Token(new_id(), label(name, "name"), _role(role), scope, made, made + days * _DAY, None)
        self._state.run(
            f"INSERT INTO service_tokens (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",  # noqa: S608 - ours
            (_hash(secret), token.id, token.name, token.role.value, json.dumps(scope), token.created, token.expires),
        )
        return secret, token

    def find(self, secret: str) -> Token | None:
        """The token with this secret, if it is valid."""
        found = self._select("hash = ?", _hash(secret))
        return found[0] if found and found[0].valid else None

    def get(self, id_: str) -> Token | None:
        """The token of that id, valid or not."""
        found = self._select("id = ?", id_)
        return found[0] if found else None

    def all(self) -> list[Token]:
        """All tokens, oldest first."""
        return self._select("id <> ?", "")

    def revoke(self, id_: str) -> Token:
        """Revoke a token and end its sessions. Revoking again changes nothing."""
        with self._state.write_transaction() as session:
            session.run("UPDATE service_tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (now(), id_))
            session.run("DELETE FROM service_sessions WHERE token = ?", (id_,))
        token = self.get(id_)
        if token is None:
            raise InvalidArgument("id", id_, allowed="the id of a token", hint="'podium token list' shows all tokens.")
        return token

    def _select(self, condition: str, value: str) -> list[Token]:
        rows = self._state.rows(
            f"SELECT {_COLUMNS} FROM service_tokens WHERE {condition} ORDER BY created, id",  # noqa: S608 - ours
            (value,),
        )
        return [
            Token(id_, name, Role(role), tuple(json.loads(datasets)), created, expires, revoked)
            for id_, name, role, datasets, created, expires, revoked in rows
        ]


def _role(role: str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise InvalidArgument("role", role, allowed=", ".join(Role)) from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _moment(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat()

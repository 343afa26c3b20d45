"""Entries: the append-only records of a ledger, each chained to the one before by its hash.

The hash is SHA-256 over canonical JSON (sorted keys, no spaces, ASCII) of every field that is not empty, the hash
before included. Changing, removing, inserting or moving an entry breaks the chain from there on. Every entry
holds fresh random bytes that are never shown. Without them, the hash in a receipt would let an analyst test guesses
about the answers of others.

``state`` is a digest of the sums that hold right after the entry, so that a question can check the sums that it
decides on against the last entry alone. Entries of older versions have none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from podium.privacy import Cost
from podium.privacy.documents import Document
from podium.storage.labels import exact_text

__all__ = ["CHAIN_VERSION", "Entry", "Kind", "Reason", "canonical_json", "json_text"]

CHAIN_VERSION = 1


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
json_text: Callable[[str], str] = json.encoder.encode_basestring_ascii
"""A text as it stands in canonical JSON."""


class Kind(StrEnum):
    """What an entry records."""

    REGISTERED = "registered"
    RAISED = "raised"
    RELABELLED = "relabelled"
    RESERVED = "reserved"
    SETTLED = "settled"
    FORFEITED = "forfeited"
    SEEN = "seen"
    UNLOCKED = "unlocked"


class Reason(StrEnum):
    """Why a reservation was forfeited. A closed list: a free text could carry something from rows."""

    FAILED = "failed"
    CRASHED = "crashed"
    ABANDONED = "abandoned"
    CANCELLED = "cancelled"
    """Nothing was read for it: what it reserved is returned, and it is no failure."""


@dataclass(frozen=True, slots=True)
class Entry(Document):
    """One line of the ledger. ``hash`` is the head of the data set's chain right after it.

    ``cost`` is what was reserved, settled or charged to an analyst; ``reservation`` is the number of the reservation
    that this entry closes or reads. ``question_key`` is a hash of what makes two questions the same.
    """

    dataset: str
    sequence: int
    kind: Kind
    at: str
    previous: str
    salt: str = field(repr=False)
    cost: Cost | None = None
    reservation: int | None = None
    analyst: str | None = None
    question: str | None = None
    question_key: str | None = None
    data_version: str | None = None
    idempotency_key: str | None = None
    owner: str | None = field(default=None, repr=False)
    details: str | None = None
    release: str | None = field(default=None, repr=False)
    state: str | None = field(default=None, repr=False)
    hash: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The details as an object: totals, events, a reason."""
        return {} if self.details is None else json.loads(self.details)

    def computed_hash(self) -> str:
        """What ``hash`` must be."""
        cost = self.cost
        # In the order of their names, which is that of canonical JSON.
        values: tuple[tuple[str, str | int | None], ...] = (
            ("analyst", self.analyst),
            ("at", self.at),
            ("chain", CHAIN_VERSION),
            ("data_version", self.data_version),
            ("dataset", self.dataset),
            ("delta", None if cost is None else str(cost.delta)),
            ("details", self.details),
            ("epsilon", None if cost is None or cost.epsilon is None else str(cost.epsilon)),
            ("idempotency_key", self.idempotency_key),
            ("kind", self.kind.value),
            ("owner", self.owner),
            ("previous", self.previous),
            ("question", self.question),
            ("question_key", self.question_key),
            ("release", self.release),
            ("reservation", self.reservation),
            ("rho", None if cost is None else str(cost.rho)),
            ("salt", self.salt),
            ("sequence", self.sequence),
            ("state", self.state),
        )
        # Empty fields are left out, so that a later version may add fields without changing old hashes.
        kept = [
            f'"{name}":{json_text(value) if isinstance(value, str) else value}'
            for name, value in values
            if value is not None
        ]
        return hashlib.sha256(f"{{{','.join(kept)}}}".encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """What may be shown to the owner: everything but the salt, the process and the release itself."""
        document = {
            "dataset": self.dataset,
            "sequence": self.sequence,
            "kind": self.kind.value,
            "at": self.at,
            "cost": _cost_to_json(self.cost) or None,
            "reservation": self.reservation,
            "analyst": self.analyst,
            "question": self.question,
            "data_version": self.data_version,
            "details": self.facts or None,
            "hash": self.hash,
        }
        return {name: value for name, value in document.items() if value is not None}


def canonical_json(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """The canonical text of a JSON object or array."""
    return _CANONICAL.encode(document)


def _cost_to_json(cost: Cost | None) -> dict[str, str | None]:
    if cost is None:
        return {}
    return {"epsilon": exact_text(cost.epsilon), "rho": str(cost.rho), "delta": str(cost.delta)}

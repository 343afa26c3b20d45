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
        cost, write = self.cost, json_text
        # Canonical JSON by hand, in the order of the names: verification does little else. Empty fields are left out,
        # so that a later version may add fields without changing old hashes.
        members = (
            "" if self.analyst is None else f'"analyst":{write(self.analyst)},',
            f'"at":{write(self.at)},"chain":{CHAIN_VERSION},',
            "" if self.data_version is None else f'"data_version":{write(self.data_version)},',
            f'"dataset":{write(self.dataset)},',
            "" if cost is None else f'"delta":"{cost.delta}",',
            "" if self.details is None else f'"details":{write(self.details)},',
            "" if cost is None or cost.epsilon is None else f'"epsilon":"{cost.epsilon}",',
            "" if self.idempotency_key is None else f'"idempotency_key":{write(self.idempotency_key)},',
            f'"kind":"{self.kind.value}",',
            "" if self.owner is None else f'"owner":{write(self.owner)},',
            f'"previous":{write(self.previous)},',
            "" if self.question is None else f'"question":{write(self.question)},',
            "" if self.question_key is None else f'"question_key":{write(self.question_key)},',
            "" if self.release is None else f'"release":{write(self.release)},',
            "" if self.reservation is None else f'"reservation":{self.reservation},',
            "" if cost is None else f'"rho":"{cost.rho}",',
            f'"salt":{write(self.salt)},"sequence":{self.sequence}',
            "" if self.state is None else f',"state":{write(self.state)}',
        )
        return hashlib.sha256(f"{{{''.join(members)}}}".encode("ascii")).hexdigest()

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

"""Checking the cached sums of a data set before anything is decided on them."""

from __future__ import annotations

from podium.ledger.account import Contradiction
from podium.ledger.tables.store import DatasetRecord, Store
from podium.ledger.verification import replay_state

__all__ = ["Checker"]


class Checker:
    """Compares the sums of a data set with what its last entry commits to.

    An entry written by an older version commits to nothing; then the whole chain is replayed, once per process.
    """

    def __init__(self) -> None:
        # Keyed by the hash of the last entry, which fixes all entries before it and so their sums.
        self._replayed: dict[str, str] = {}

    def find(self, store: Store, dataset: str, *, lock: bool) -> DatasetRecord | None:
        """The data set, if its sums follow from its entries; ``Contradiction`` if not, None if it does not exist."""
        record = store.find(dataset, lock=lock)
        if record is None:
            return None
        head = record.account.head
        committed = store.last(record).state or self._replayed.get(head)
        if committed is None:
            committed = self._replayed[head] = replay_state(store.rows_of(dataset)).digest()
        if record.state.digest() != committed:
            raise Contradiction("its sums or open reservations are not those that its last entry commits to")
        return record

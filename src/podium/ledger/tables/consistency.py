"""Checking what the tables say of a data set before anything is decided on it."""

from __future__ import annotations

from podium.ledger.account import Contradiction
from podium.ledger.tables.store import Located, Store
from podium.ledger.verification import walked_state

__all__ = ["Checker"]


class Checker:
    """Compares the sums of a data set with what its last entry commits to.

    Where that entry was written by an older version, which committed to nothing, the whole chain is walked, once for
    each process.
    """

    def __init__(self) -> None:
        # By the hash of the last entry, which fixes all entries before it, and so what follows from them.
        self._walked: dict[str, str] = {}

    def located(self, store: Store, dataset: str, *, lock: bool) -> Located | None:
        """The data set, if its sums follow from its entries; ``Contradiction`` if not, None if there is no such one."""
        located = store.located(dataset, lock=lock)
        if located is None:
            return None
        head = located.account.head
        committed = store.last(located).state or self._walked.get(head)
        if committed is None:
            committed = self._walked[head] = walked_state(store.rows_of(dataset)).digest()
        if located.state.digest() != committed:
            raise Contradiction("its sums or open reservations are not those that its last entry commits to")
        return located

"""Turns: equal questions wait for each other, in all workers, so that the second finds the first one's answer.

Without this, two analysts who ask the same at the same moment would both pay. It is a courtesy to the budget, not what
keeps it: where a turn cannot be waited for any longer, both pay, and the ledger holds all the same.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from podium.errors import LedgerError
from podium.ledger.backend import BrokenRule
from podium.ledger.owner import Owner, certainly_gone, this_process
from podium.service.state import State

__all__ = ["Answered", "Turns"]

_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0
_KEPT = 4_096


class Turns:
    """A lock for each question, held in this process and written down for the others."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._locks: dict[str, tuple[threading.Lock, int]] = {}
        self._guard = threading.Lock()

    @contextmanager
    def of(self, question: str) -> Iterator[None]:
        """Wait until nobody else asks this."""
        key = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
        with self._here(key):
            self._take(key)
            try:
                yield
            finally:
                # If this fails, others wait a while and then go on.
                with suppress(LedgerError):
                    self._state.run("DELETE FROM service_turns WHERE question = ?", (key,))

    def _take(self, key: str) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            try:
                self._state.run(
                    "INSERT INTO service_turns (question, owner) VALUES (?, ?)", (key, this_process().to_text())
                )
            except BrokenRule:
                self._drop_stale(key)
            else:
                return
            time.sleep(_POLL_SECONDS)

    def _drop_stale(self, key: str) -> None:
        """Turns of the dead; also one of our own, which nobody can hold while we hold the lock of this process."""
        for (text,) in self._state.rows("SELECT owner FROM service_turns WHERE question = ?", (key,)):
            owner = Owner.from_text(text)
            if owner is None or owner.token == this_process().token or certainly_gone(owner):
                self._state.run("DELETE FROM service_turns WHERE question = ? AND owner = ?", (key, text))

    @contextmanager
    def _here(self, key: str) -> Iterator[None]:
        with self._guard:
            lock, holders = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, holders + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                _, holders = self._locks[key]
                if holders == 1:
                    del self._locks[key]
                else:
                    self._locks[key] = (lock, holders - 1)


class Answered:
    """Questions whose answer is in the ledger, as far as this worker knows: nobody need wait for a turn to read it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, None] = OrderedDict()
        self._guard = threading.Lock()

    def has(self, question: str) -> bool:
        """Whether it was answered."""
        with self._guard:
            return question in self._kept

    def add(self, question: str) -> None:
        """It was answered; the oldest are forgotten."""
        with self._guard:
            self._kept[question] = None
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

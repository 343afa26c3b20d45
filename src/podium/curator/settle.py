"""Settling: the last step of a question, after which its release may be shown.

The answer is paid for by then. If the database is restarting, settling waits for it rather than lose the answer.
"""

from __future__ import annotations

import time
from dataclasses import replace

from podium.errors import LedgerLocked, LedgerUnavailable
from podium.ledger import Ledger, Reservation
from podium.release import Release

__all__ = ["PATIENCE", "settle"]

PATIENCE = 30.0
"""Seconds during which settling is retried."""

_FIRST_PAUSE = 0.05
_MAX_PAUSE = 2.0


def settle(ledger: Ledger, reservation: Reservation, release: Release) -> Release:
    """Settle a release and return it with its receipt; retries at least once while the ledger is unreachable.

    If only the reply was lost, the same entry comes back.
    """
    written, events = release.to_json(), release.paid.events
    end, pause, tries = time.monotonic() + PATIENCE, _FIRST_PAUSE, 1
    while True:
        try:
            entry = ledger.settle(reservation, written, events)
        except (LedgerLocked, LedgerUnavailable):
            if tries > 1 and time.monotonic() + pause > end:
                raise
        else:
            return replace(release, paid=replace(release.paid, entry=entry.hash))
        time.sleep(pause)
        pause, tries = min(2 * pause, _MAX_PAUSE), tries + 1

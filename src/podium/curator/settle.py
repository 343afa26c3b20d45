"""Settling: the last step of a question, after which its release may be shown.

By then the answer is paid for. A database that is restarted meanwhile is waited for, because the alternative is to
throw the answer away.
"""

from __future__ import annotations

import time
from dataclasses import replace

from podium.errors import LedgerLocked, LedgerUnavailable
from podium.ledger import Ledger, Reservation
from podium.release import Release

__all__ = ["PATIENCE", "settle"]

PATIENCE = 30.0
"""Seconds."""

_FIRST_PAUSE = 0.05
_MAX_PAUSE = 2.0


def settle(ledger: Ledger, reservation: Reservation, release: Release) -> Release:
    """Settle a release, and return it with its receipt; tried again, at least once, while the ledger cannot be reached.

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

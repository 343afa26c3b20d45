"""What an analyst may know of a budget: no place of the data, no other analysts, and with caps only their own part."""

from __future__ import annotations

from typing import Any

from podium.ledger.status import Status
from podium.present.text.accounts import left_sentence

__all__ = ["analyst_budget"]

_OF_ALL = (
    "spent", "reserved", "remaining", "items_left", "questions_left", "questions_asked", "open_reservations",
    "failures", "raises", "entries", "head",
)  # fmt: skip


def analyst_budget(status: Status, analyst: str | None) -> dict[str, Any]:
    """The status of a data set as JSON, for one analyst."""
    document = status.to_dict()
    own = document["analysts"].get(analyst)
    public = {
        "dataset": status.dataset,
        "data_version": status.data_version,
        "promise": status.promise,
        "total": document["total"],
        "locked": status.locked or analyst in status.locked_out,
        "analysts": {analyst: own} if own else {},
    }
    if status.totals.per_analyst is not None:
        return public
    return {**public, **{name: document[name] for name in _OF_ALL}, "left": left_sentence(status)}

"""What a ledger says of itself: in a line, and in notebooks as a table of its data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from podium.ledger.ledger import Ledger

__all__ = ["LedgerView"]


class LedgerView:
    """The part of a ledger that shows it."""

    def __repr__(self) -> str:
        return f"Ledger({cast('Ledger', self).name!r})"

    def _repr_html_(self) -> str:
        from podium.present.notebook import ledger_html  # noqa: PLC0415 - presenting is above this package

        return ledger_html(cast("Ledger", self))

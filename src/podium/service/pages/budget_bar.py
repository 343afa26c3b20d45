"""The budget as a bar: what is spent, what one question would take, and what is left, in percent.

All of it is public to whoever may see the page: charges follow from what was asked and from what it released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from podium.ledger import Status
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.privacy import Event
from podium.service.store.tokens import Role, Token

__all__ = ["BudgetBar", "bar_of", "percent_above"]

_PERCENT = Fraction(1, 100)
_NARROWEST = Fraction(6, 1000)
"""What is not nothing can be seen."""


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """Shares of a budget, exactly: ``used`` is charged, ``asked`` is the worst case of one question if there is one."""

    used: Fraction
    asked: Fraction | None = None
    whose: str = "the budget"
    fits: bool = True
    """Whether the question is within what is left, as the ledger decides."""

    @property
    def filled(self) -> str:
        """The width of what is spent, in percent."""
        return _width(min(Fraction(1), self.used))

    @property
    def hatched(self) -> str:
        """The width of what the question would take; at most all that is left."""
        return _width(min(self.asked or Fraction(0), max(Fraction(0), 1 - self.used)))

    @property
    def start(self) -> str:
        """Where that begins: it ends within the bar, however narrow the rest is."""
        return f"{max(0.0, min(float(self.filled), 100 - float(self.hatched))):.2f}"

    @property
    def text(self) -> str:
        """What the bar shows. Nothing is said to cost less than it may, or to leave more than it does."""
        left = _floor(max(Fraction(0), 1 - self.used - (self.asked or 0)))
        if self.asked is None:
            return f"{percent_above(self.used)} used · {left} left"
        if not self.fits:
            return f"needs {percent_above(self.asked)} · only {_floor(max(Fraction(0), 1 - self.used))} left"
        return f"uses {percent_above(self.asked)} · {left} left"

    @property
    def label(self) -> str:
        """The same for those who do not see the bar."""
        if self.asked is None:
            return f"Of {self.whose}: {self.text}"
        return f"Of {self.whose}: {percent_above(self.used)} used before; this question {self.text}"


def bar_of(status: Status, token: Token, *, events: tuple[Event, ...] | None = None) -> BudgetBar:
    """The budget that a question of this token is charged to: its own cap where analysts have caps, else the total.

    ``events`` are the worst case of a question. An owner sees the total, except where it is about one of theirs.
    """
    totals = status.totals
    if totals.cap is None or (token.role is Role.OWNER and events is None):
        books, held, whose = totals.books, status.held, "the budget"
    else:
        books, held, whose = totals.cap, status.sums.get(token.name, Sum()), "your cap"
    whole = books.remaining(Sum())
    used = whole.share(held)
    if events is None:
        return BudgetBar(used, whose=whose)
    charge = Charged.of(events, reserve=True)
    fits = books.refusal(charge, held) is None
    asked = whole.share(held + Sum.of(charge.cost, books.reserve(charge, held))) - used
    return BudgetBar(used, max(Fraction(0), asked), whose, fits)


def _width(share: Fraction) -> str:
    shown = share if share == 0 else max(share, _NARROWEST)
    return f"{float(100 * shown):.2f}"


def percent_above(share: Fraction) -> str:
    """At least the share, in percent."""
    if 0 < share < _PERCENT:
        return "less than 1 %"
    return f"{math.ceil(100 * share)} %"


def _floor(share: Fraction) -> str:
    """At most the share, in percent."""
    if 1 - _PERCENT < share < 1:
        return "over 99 %"
    if 0 < share < _PERCENT:
        return "less than 1 %"
    return f"{math.floor(100 * share)} %"

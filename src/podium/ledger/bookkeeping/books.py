"""What every kind of account says: what may be reserved, what is charged for it, and what comes back.

An entry records the cost of its events, and the *terms* on which it was admitted, if the kind has any. ``Books`` make
both, when something is charged and again when an entry is replayed: the two must agree to the last bit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from podium.errors import BudgetExceeded
from podium.ledger.bookkeeping.held import Charged, Sum, Terms
from podium.ledger.bookkeeping.remaining import Remaining

__all__ = ["Books"]


class Books(Protocol):
    """One total and how it is kept; of a data set, or of one analyst's cap."""

    @property
    def filter(self) -> str:
        """The kind: "zcdp" or "gaussian"."""

    def check_kind(self, charge: Charged) -> None:
        """Refuse a loss that this kind of total can never carry."""

    def refusal(self, charge: Charged, held: Sum, *, session: bool = False) -> BudgetExceeded | None:
        """Why the worst case does not fit on top of what is held; None if it does.

        A ``session`` is not fixed when it is reserved: what else is answered until it ends may decide how it goes on.
        """

    def reserve(self, charge: Charged, held: Sum, *, session: bool = False) -> Terms:
        """The terms of a reservation that fits: what is charged until it is settled."""

    def settle(self, terms: Terms, reserved: Charged, actual: Charged) -> Terms:
        """The terms of its settlement: what stays charged for what came out."""

    def remaining(self, held: Sum) -> Remaining:
        """What is left beside what is held; nothing, rather than less than that."""

    def items_left(self, epsilon_per_item: Fraction, held: Sum) -> int:
        """How many selections of this epsilon still fit."""

    def holds_noise(self, items: int, epsilon_per_item: Fraction) -> bool:
        """Whether so many selections fit without adding up epsilons, which Gaussian noise has none of."""

    def covers(self, other: Books) -> bool:
        """Whether it is of the same kind, and not smaller in any part."""

    def to_dict(self) -> dict[str, Any]:
        """The limits as stored."""

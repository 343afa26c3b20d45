"""The choice of a mechanism, with its reason and its reach."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from podium.mechanisms.base import Mechanism

__all__ = ["ORDERED_BY_COUNTS", "Choice"]

ORDERED_BY_COUNTS = " No order was asked for; counts are measured too, so the items come in order."


class Choice(NamedTuple):
    """A mechanism, the reason for it, and its reach.

    ``proves_itself``: the mechanism has the whole guarantee and its own theorem. ``ordered``: its answer is always a
    ranked list.
    """

    mechanism: Mechanism
    why: str
    reach: Fraction
    reach_sentence: str
    proves_itself: bool = False
    ordered: bool = True

"""The kinds of accounts: which books keep which limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podium.exact import exact_fraction
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.zcdp import ZcdpBooks
from podium.privacy import Limits

__all__ = ["books_of", "limits_from_dict"]


def books_of(limits: Limits) -> Books:
    """The books that keep these limits."""
    return ZcdpBooks(limits)


def limits_from_dict(document: Mapping[str, Any]) -> Limits:
    """The limits that ``Books.to_dict`` wrote."""
    epsilon, rho = document["epsilon"], document["rho"]
    return Limits(
        None if epsilon is None else exact_fraction(epsilon, "epsilon"),
        None if rho is None else exact_fraction(rho, "rho"),
        exact_fraction(document["delta"] or 0, "delta"),
    )

"""The kinds of accounts: which limits and books belong to which filter."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

from podium.exact import exact_fraction
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.gaussian_books import GaussianBooks
from podium.ledger.bookkeeping.zcdp_books import ZcdpBooks
from podium.privacy import Guarantee, Limits
from podium.privacy.gaussian import GaussianLimits

__all__ = ["FILTERS", "AnyLimits", "books_of", "limits_from_dict", "limits_of"]

FILTERS: Final = ("auto", "zcdp", "gaussian")
"""What an owner may ask for. "auto" is decided when the data set is registered, and never stored."""

AnyLimits: TypeAlias = Limits | GaussianLimits


def limits_of(kind: str, epsilon: Fraction, delta: Fraction) -> AnyLimits:
    """The limits under which (epsilon, delta) holds for everything that passes."""
    if kind == "gaussian":
        return GaussianLimits.of(epsilon, delta)
    return Limits.of(Guarantee.approximate(epsilon, delta))


def books_of(limits: AnyLimits) -> Books:
    """The books that keep these limits."""
    return ZcdpBooks(limits) if isinstance(limits, Limits) else GaussianBooks(limits)


def limits_from_dict(document: Mapping[str, Any]) -> AnyLimits:
    """The limits that ``Books.to_dict`` wrote."""
    if "mu_squared" in document:
        names = ("epsilon", "delta", "delta_for_calls", "mu_squared")
        return GaussianLimits(*(exact_fraction(document[name], name) for name in names))
    epsilon, rho = document["epsilon"], document["rho"]
    return Limits(
        None if epsilon is None else exact_fraction(epsilon, "epsilon"),
        None if rho is None else exact_fraction(rho, "rho"),
        exact_fraction(document["delta"] or 0, "delta"),
    )

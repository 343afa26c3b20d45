"""The line that ends an answer: who is protected, how well, and what is left of the budget, in plain words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.privacy import Cost, Guarantee
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.release import Release
from podium.user_columns import UserColumns

if TYPE_CHECKING:
    from podium.ledger import Status

__all__ = [
    "budget_line",
    "budget_sentence",
    "closing_line",
    "closing_sentence",
    "loss_text",
    "protected",
    "protection",
    "used_share",
]

_SEPARATOR = " · "
_PERCENT = Fraction(1, 100)
_USUAL_DELTA = Fraction(1, 10**6)


def closing_line(release: Release, *, status: Status | None = None, more: str = "") -> str:
    """One line of plain words; with the ``status`` of a budget, the total that holds for all of its answers together.

    Where a release has no epsilon of its own, as under a budget, it is the one at delta 1e-6. ``more`` is the command
    that explains all this.
    """
    parts = [_protection(release, status)]
    if not release.paid.events and release.guarantee.cost != Cost.nothing():
        parts.append("free, because it was asked before")
    if status is not None:
        parts.append(budget_sentence(status))
    return _SEPARATOR.join([*parts, *([more] if more else [])])


def budget_line(status: Status, *, more: str = "") -> str:
    """The line below several answers that one budget paid for."""
    budget = status.totals.budget
    whom = f"{protected(status.user)}: {loss_text(budget.epsilon, budget.delta)} for all answers together"
    return _SEPARATOR.join([whom, budget_sentence(status), *([more] if more else [])])


def closing_sentence(release: Release) -> str:
    """The same where it stands among sentences, as below a picture."""
    line = closing_line(release)
    return f"{line[:1].upper()}{line[1:]}."


def protected(user: UserColumns | None) -> str:
    """Whom a budget or an answer protects: each value of the column of users, or of several columns together."""
    if isinstance(user, str) and user.isidentifier():
        return f"private for each {user}"
    # One person may be many pairs: what is protected is each.
    many = f", of which one {unit_name(user[0])} may be many" if isinstance(user, tuple) else ""
    return f"private for each {unit_name(user)}{many}"


def loss_text(epsilon: Fraction, delta: Fraction) -> str:
    """The two numbers of a guarantee; neither is shown smaller than it is."""
    return f"epsilon {display(epsilon)}" + (f", delta {display(delta)}" if delta else "")


def used_share(status: Status) -> Fraction:
    """The part of the total that is charged, reservations included: what runs out first, the loss or delta."""
    return status.totals.whole.used(status.remaining)


def budget_sentence(status: Status) -> str:
    """What is used and left, in percent: never less used than it is, nor more left."""
    used = used_share(status)
    if 0 < used < _PERCENT:
        return "less than 1 % of the budget used, over 99 % left"
    if 1 - _PERCENT < used < 1:
        return "over 99 % of the budget used, less than 1 % left"
    percent = math.ceil(used * 100)
    return f"{percent} % of the budget used, {100 - percent} % left"


def protection(guarantee: Guarantee, user: UserColumns | None) -> str:
    """Who is protected and how well; where there is no epsilon of its own, the one at delta 1e-6."""
    cost, told = guarantee.cost, guarantee.sentence(user=user)
    if guarantee.profiles or cost == Cost.nothing():
        return told
    if cost.epsilon is not None and cost.delta < 1:
        return f"{protected(user)}: {loss_text(cost.epsilon, cost.delta)}"
    delta = max(_USUAL_DELTA, 2 * cost.delta)
    if delta >= 1:
        return told
    return f"{protected(user)}: {loss_text(guarantee.epsilon(delta=delta), delta)}"


def _protection(release: Release, status: Status | None) -> str:
    if status is None:
        return protection(release.guarantee, release.user)
    budget = status.totals.budget
    return f"{protected(release.user)}: {loss_text(budget.epsilon, budget.delta)} for all answers together"

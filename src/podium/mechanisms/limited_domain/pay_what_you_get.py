"""Many adaptive top-k questions under one guarantee, each paying only for the symbols that came out."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import ClassVar, NamedTuple

from podium.errors import BudgetExceeded
from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Histogram
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.privacy.costs import Cost, worst_case
from podium.privacy.events import Event, LimitedDomainCall, Selection
from podium.privacy.guarantee import Guarantee
from podium.privacy.proofs import Proof, proofs_in
from podium.privacy.theorems.composition import limited_domain_delta
from podium.randomness import BitSource
from podium.release import Receipt, Release

__all__ = ["PayWhatYouGet", "Remaining"]


class Remaining(NamedTuple):
    """What is left of a plan: output symbols (items, bottom symbols, private choices of k_bar) and calls."""

    selections: int
    calls: int


class PayWhatYouGet:
    """An adaptive sequence of limited-domain questions, possibly on different histograms of the same users.

    Use
        Many questions are asked in one process that needs no ledger, each paying only for what came out.
    Shape
        unknown domain; ordered; no values
    Guarantee
        The whole transcript is (1 - (1+delta)^-l_star)-approximately k_star * rho(epsilon_per_item)-zCDP and
        k_star * epsilon_per_item-DP, however the questions depend on earlier answers. Neighbours: one user
        added or removed from all histograms.
    Distribution
        Each call is ``LimitedDomain(k, k_bar, epsilon_per_item, delta)``; it uses up one call and as many
        selections as symbols came out, BOTTOM included, and one more if k_bar is private.
    Symbols
        k_star, l_star; epsilon_per_item = eps; delta, of each call.
    Source
        Durfee & Rogers 2019, Algorithm 2 and Theorem 2, with l*delta for the 2*l*delta of the paper.
    Assumes
        What ``LimitedDomain`` assumes, of every histogram.

    The plan lives in memory, and one object may serve several threads: a call reserves its worst case before it
    reads, and gives back what did not come out. A call that fails after the reservation gives nothing back.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/limited-domain.md", "Theorem 5")

    def __init__(self, k_star: int, l_star: int, epsilon_per_item: Number, delta: Number) -> None:
        self.k_star: int = positive_integer(k_star, "k_star")
        self.l_star: int = positive_integer(l_star, "l_star")
        self.epsilon_per_item: Fraction = positive_fraction(epsilon_per_item, "epsilon_per_item")
        self.delta: Fraction = unknown_domain_delta(delta)
        self._lock = threading.Lock()
        self._left = Remaining(self.k_star, self.l_star)
        self._events: tuple[Event, ...] = ()

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The most that can happen: k_star selections in l_star calls."""
        calls = (LimitedDomainCall(self.delta),) * self.l_star
        return (*calls, *(Selection(self.epsilon_per_item),) * self.k_star)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole transcript, known before the first question."""
        events = worst_case(self.worst_case)
        # The calls fail independently of each other, so all of them succeed with (1+delta)^-l_star.
        failure = limited_domain_delta(self.delta, self.l_star)
        return Guarantee(Cost(epsilon=events.epsilon, rho=events.rho, delta=failure), events=self.worst_case)

    @property
    def remaining(self) -> Remaining:
        """The selections and calls that are left."""
        return self._left

    @property
    def paid(self) -> Receipt:
        """The receipts of all answers so far, as one."""
        return Receipt(self._events)

    def top(
        self,
        histogram: Histogram,
        *,
        k: int,
        k_bar: int | PrivateKBar,
        max_items_per_user: int | None = None,
        strict: bool = False,
        bits: BitSource | None = None,
    ) -> Release:
        """The top k of a histogram; refused, at no cost, if k symbols may be more than what is left."""
        mechanism = LimitedDomain(
            k, k_bar, self.epsilon_per_item, self.delta, max_items_per_user=max_items_per_user, strict=strict
        )
        reserved = mechanism.k + isinstance(k_bar, PrivateKBar)
        self._reserve(reserved, private=isinstance(k_bar, PrivateKBar))
        release = mechanism.release(histogram, bits=bits)
        # Every event but the call itself is a symbol that came out.
        unused = reserved - (len(release.paid.events) - 1)
        with self._lock:
            self._left = self._left._replace(selections=self._left.selections + unused)
            self._events += release.paid.events
        return release

    def _reserve(self, selections: int, *, private: bool) -> None:
        with self._lock:
            left = self._left
            if not left.calls:
                raise BudgetExceeded(
                    "calls", Fraction(1), Fraction(0), budget="this plan", hint="Plan with a larger l_star."
                )
            if selections > left.selections:
                most = left.selections - private
                hint = f"Ask for k={most} or fewer." if most > 0 else "Plan with a larger k_star."
                raise BudgetExceeded(
                    "selections", Fraction(selections), Fraction(left.selections), budget="this plan", hint=hint
                )
            self._left = Remaining(left.selections - selections, left.calls - 1)

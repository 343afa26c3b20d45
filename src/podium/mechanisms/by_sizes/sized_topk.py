"""Top-k over an unknown domain that first pays to learn how many items users have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.mechanisms.by_sizes.clear_gap import is_within_reach
from podium.mechanisms.by_sizes.decision import (
    BUCKETS,
    LONGEST_CALL,
    SHORT_BUCKETS,
    SHORT_EDGES,
    SIZE_EDGES,
    Branch,
    Sizes,
    Thresholds,
    choose_branch,
    choose_short_branch,
    estimate_sizes,
    largest_selection,
)
from podium.mechanisms.by_sizes.paid_numbers import after_numbers, pay_for_numbers, shown_number
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.reader import Reads, TableReader
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.truncated.laplace_histogram import TruncatedLaplaceHistogram
from podium.mechanisms.weights import Weights, spread_weights
from podium.privacy import Guarantee, calibrate_epsilon, calibrate_gaussian, calibrate_sigma
from podium.privacy.events import ApproximateMechanism, Event, LaplaceNoise
from podium.privacy.proofs import Proof, proofs_in
from podium.privacy.theorems.conversion import split_delta
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["SizedTopK"]

_FOR_SIZES, _FOR_LEAD = Fraction(1, 20), Fraction(1, 80)
_LONGEST_ASKED = 2
"""Up to this k, successive selections come first: they find the most unless users have one item each."""
_OF_FINDING = Fraction(9, 10)
"""The share of the noise's budget with which rounds are compared: some of it goes to the border."""
_DEFAULT_CAP = 1000

SizedBranch = AdaptiveTopK | LimitedDomain | TruncatedGaussianHistogram | TruncatedLaplaceHistogram


@dataclass(frozen=True, slots=True, init=False)
class SizedTopK:
    """The k most common items of an unknown domain, found in the way that suits how many items users have.

    Use
        Nobody can list the items beforehand and nothing is known about users: one question, any size of table. The
        default.
    Shape
        unknown domain; ordered; no values
    Guarantee
        (epsilon, delta)-DP for the whole release. Neighbours: one user added or removed. The numbers of users are
        epsilon/20-DP, and each branch is (19/20 epsilon, delta)-DP. For k <= 2 the lead is epsilon/80-DP, and what
        follows it (79/80 epsilon, delta)-DP.
    Distribution
        The numbers of users with 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65 and more items, plus Lap(20/epsilon) each.
        A public function of these noisy numbers chooses one of LimitedDomain, TruncatedLaplaceHistogram,
        TruncatedGaussianHistogram and AdaptiveTopK, and how many items per user it counts. The noisy numbers are
        released with the items.
        For k <= 2 how far the k-th count is above the one of rank k_bar+1, plus Lap(80/epsilon). If it is large, what
        follows is LimitedDomain with 79/80 epsilon. If not, the numbers of users with one item and with more, plus
        Lap(20/epsilon) each, choose one of LimitedDomain and TruncatedLaplaceHistogram with 15/16 epsilon.
    Symbols
        k; epsilon; delta; k_bar (rows that LimitedDomain reads); max_items_per_user (None: at most 1000 where users
        are weighted, unrestricted in LimitedDomain).
    Source
        docs/proofs/by-sizes.md; the branches have their own.
    Assumes
        The reader counts distinct (user, item) pairs and cuts users by a rule that sees only their rows.
    """

    reads: ClassVar[Reads] = Reads.ROUNDS
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/by-sizes.md", "Theorem 1", "Theorem 3")
    theorem: ClassVar[str] = f"{proofs[0]}: a mechanism chosen by noisy numbers of users"

    k: int
    epsilon: Fraction
    delta: Fraction
    k_bar: int
    max_items_per_user: int | None

    def __init__(
        self, k: int, epsilon: Number, delta: Number, *, k_bar: int | None = None, max_items_per_user: int | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", unknown_domain_delta(delta))
        put(self, "k_bar", max(10 * self.k, 1000) if k_bar is None else positive_integer(k_bar, "k_bar"))
        bound = None if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        put(self, "max_items_per_user", bound)
        if self.k_bar < self.k:
            raise InvalidArgument("k_bar", k_bar, allowed=f"an integer, k={self.k} or more")
        # A cap that no weights can have is refused here, not when rows are about to be read.
        spread_weights(self._cap(_DEFAULT_CAP))

    @property
    def epsilon_for_sizes(self) -> Fraction:
        """What the numbers of users cost."""
        return self.epsilon * _FOR_SIZES

    @property
    def epsilon_for_lead(self) -> Fraction:
        """What it costs to ask how far the list is ahead; 0 for lists that are not asked."""
        return self.epsilon * _FOR_LEAD if self.asks_lead else Fraction(0)

    @property
    def asks_lead(self) -> bool:
        """Whether the list is so short that selections come first."""
        return self.k <= _LONGEST_ASKED

    @property
    def epsilon_of_branch(self) -> Fraction:
        """What each branch may cost after the numbers of users, with all of delta."""
        return self.epsilon - self.epsilon_for_sizes - self.epsilon_for_lead

    @property
    def first_edges(self) -> tuple[int, ...]:
        """By which numbers of items users are counted."""
        return SHORT_EDGES if self.asks_lead else SIZE_EDGES

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return Guarantee.approximate(self.epsilon, self.delta)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What is asked first, and what every branch stays within."""
        lead = (LaplaceNoise(self.epsilon_for_lead),) if self.asks_lead else ()
        rest = LaplaceNoise(self.epsilon_for_sizes), ApproximateMechanism(self.epsilon_of_branch, self.delta)
        return (*lead, *rest)

    @property
    def branches(self) -> tuple[SizedBranch, ...]:
        """Every mechanism that may run, at the default cap: another cap changes no cost."""
        if self.asks_lead:
            return self.limited_domain, self.laplace
        calls = (self.limited_domain,) if self.k <= LONGEST_CALL else ()
        cap = self._cap(_DEFAULT_CAP)
        return (*calls, self.laplace, self.one_discovery(cap), self.rounds(cap))

    @property
    def limited_domain(self) -> LimitedDomain:
        """Successive selections, for tables of heavy users and short lists."""
        return self._limited_domain(self.epsilon_of_branch)

    @property
    def limited_domain_at_once(self) -> LimitedDomain:
        """The same where the numbers of users are not asked for, whose part it has too."""
        return self._limited_domain(self.epsilon - self.epsilon_for_lead)

    def _limited_domain(self, epsilon: Fraction) -> LimitedDomain:
        single, call = _selections(self.k, epsilon, self.delta)
        return LimitedDomain(self.k, self.k_bar, single, call, max_items_per_user=self.max_items_per_user)

    @property
    def laplace(self) -> TruncatedLaplaceHistogram:
        """One round of Laplace noise, for users with few items."""
        return TruncatedLaplaceHistogram(
            epsilon=self.epsilon_of_branch, delta=self.delta, max_items_per_user=self._cap(_DEFAULT_CAP), k=self.k
        )

    def rounds(self, cap: int) -> AdaptiveTopK:
        """Rounds of Gaussian noise, for everything else."""
        return AdaptiveTopK.within(
            self.k, epsilon=self.epsilon_of_branch, delta=self.delta, max_items_per_user=self._cap(cap)
        )

    def one_discovery(self, cap: int, share: Fraction = Fraction(1)) -> TruncatedGaussianHistogram:
        """One round of Gaussian noise, for tables so small that only finding items matters."""
        weights, hidden = spread_weights(self._cap(cap)), self.delta / 2
        mu_squared = calibrate_gaussian(self.epsilon_of_branch, split_delta(self.delta, hidden)) ** 2
        sigma = calibrate_sigma(mu_squared * share / 2, sensitivity_squared=weights.sensitivity_squared)
        return TruncatedGaussianHistogram(k=self.k, sigma=sigma, delta=hidden, weights=weights)

    @property
    def first_weights(self) -> Weights:
        """The weights of a first weighted count, whichever branch runs it."""
        return spread_weights(self._cap(_DEFAULT_CAP))

    @property
    def first_threshold(self) -> Fraction:
        """The lowest count with which an item can be found: that of users who have no other item."""
        return self.laplace.count_threshold

    def _cap(self, cap: int) -> int:
        return cap if self.max_items_per_user is None else min(cap, self.max_items_per_user)

    def thresholds(self, sizes: Sizes) -> Thresholds:
        """What an item must exceed in each branch, in floats: a decision on released numbers."""
        call = self.limited_domain if self.k <= LONGEST_CALL else None
        return replace(
            self._lowest_thresholds(sizes),
            call=None if call is None else float(call.margin),
            selection=0.0 if call is None else float(1 / call.epsilon_per_item),
        )

    def _lowest_thresholds(self, sizes: Sizes) -> Thresholds:
        """The same but for successive selections, for which no calibration can reach less than this."""
        bars = Thresholds(
            laplace=float(self.laplace.count_threshold),
            gaussian=float(self.one_discovery(sizes.cap, _OF_FINDING).count_threshold),
            call=None,
            selection=0.0,
        )
        if self.k > LONGEST_CALL:
            return bars
        single = largest_selection(self.k, float(self.epsilon_of_branch), float(self.delta))
        changing = min(self.k_bar, self.max_items_per_user or self.k_bar)
        # In parts: a delta may be too small for a float.
        odds = math.log(changing * self.delta.denominator) - math.log(self.delta.numerator)
        return replace(bars, call=1 + odds / single, selection=1 / single)

    def branch_for(self, noisy: Sequence[Fraction]) -> tuple[Branch, SizedBranch]:
        """The branch that follows from the noisy numbers of users, and its mechanism."""
        if self.asks_lead:
            branch = choose_short_branch(*map(float, noisy))
            return branch, self.limited_domain if branch is Branch.LIMITED_DOMAIN else self.laplace
        sizes = estimate_sizes([float(value) for value in noisy], float(1 / self.epsilon_for_sizes))
        branch = choose_branch(self.k, sizes, self._lowest_thresholds(sizes))
        if branch is Branch.LIMITED_DOMAIN:
            # Only now is it calibrated, which takes longer than everything else here together.
            branch = choose_branch(self.k, sizes, self.thresholds(sizes))
        if branch is Branch.LIMITED_DOMAIN:
            return branch, self.limited_domain
        if branch is Branch.LAPLACE:
            return branch, self.laplace
        return branch, self.rounds(sizes.cap) if branch is Branch.ROUNDS else self.one_discovery(sizes.cap)

    def release(self, reader: TableReader, *, bits: BitSource | None = None) -> Release:
        """Ask how far a short list is ahead, then if need be count users by their number of items; choose, and run."""
        asked: list[Event] = []
        found: dict[str, str] = {}
        branch: Branch
        chosen: SizedBranch
        branch, chosen = Branch.LIMITED_DOMAIN, self.limited_domain_at_once
        if not (self.asks_lead and self._is_ahead(reader, asked, found, bits)):
            noisy = pay_for_numbers(reader.user_sizes(self.first_edges), self.epsilon_for_sizes, asked, bits)
            branch, chosen = self.branch_for(noisy)
            names = SHORT_BUCKETS if self.asks_lead else BUCKETS
            users = (f"{name}:{shown_number(value)}" for name, value in zip(names, noisy, strict=True))
            found["users_by_items"] = " ".join(users)
        # Noisy sums of weights are not what counts of users are: they only rank.
        release = replace(self._run(chosen, reader, bits), values=None, value_kind=None)
        return after_numbers(self, release, asked, {"branch": str(branch), **found})

    def _is_ahead(self, reader: TableReader, asked: list[Event], found: dict[str, str], bits: BitSource | None) -> bool:
        """Whether the list is, by a noisy number, so far ahead that selections surely return it."""
        (noisy,) = pay_for_numbers((reader.lead(self.limited_domain_at_once),), self.epsilon_for_lead, asked, bits)
        found["lead"] = shown_number(noisy)
        return self.within_reach(noisy)

    def within_reach(self, noisy: Fraction) -> bool:
        """Whether selections return k items, by the noisy lead."""
        threshold = float(self.limited_domain_at_once.margin)
        return is_within_reach(float(noisy), scale=float(1 / self.epsilon_for_lead), threshold=threshold)

    def _run(self, chosen: SizedBranch, reader: TableReader, bits: BitSource | None) -> Release:
        if isinstance(chosen, AdaptiveTopK):
            return chosen.release(reader, bits=bits)
        if isinstance(chosen, LimitedDomain):
            return reader.select(chosen)
        return reader.discover(chosen, ())


@lru_cache(maxsize=256)
def _selections(k: int, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    plan = calibrate_epsilon(k, epsilon=epsilon, delta=delta)
    return plan.epsilon_per_item, plan.delta_per_call

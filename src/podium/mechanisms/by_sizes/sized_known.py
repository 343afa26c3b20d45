"""Top-k over a known domain that first pays to learn how many of its items users have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.mechanisms.by_sizes.clear_gap import LONGEST_TESTED, is_clear
from podium.mechanisms.by_sizes.known_decision import (
    KNOWN_BUCKETS,
    KNOWN_EDGES,
    KnownBranch,
    NoiseLevels,
    choose_known_branch,
)
from podium.mechanisms.by_sizes.paid_numbers import after_numbers, pay_for_numbers, shown_number
from podium.mechanisms.gaussian.refined import RefinedTopK
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.reader import KnownTableReader, Reads
from podium.mechanisms.rising import RATES, RisingTopK
from podium.mechanisms.shared_vote import SharedVoteTopK
from podium.mechanisms.weights import Weights, spread_weights
from podium.privacy import Guarantee
from podium.privacy.events import ApproximateMechanism, Event, LaplaceNoise, PureMechanism
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["SizedKnownTopK"]

_FOR_SIZES, _FOR_GAP = Fraction(1, 20), Fraction(1, 80)
_DEFAULT_CAP = 1000
_GUMBELS = math.pi / math.sqrt(3)
"""The standard deviation of the difference of two standard Gumbel variables."""

KnownSizedBranch = NoisyTopK | RefinedTopK | RisingTopK | SharedVoteTopK


@dataclass(frozen=True, slots=True, init=False)
class SizedKnownTopK:
    """The k most common items of a known domain, ranked in the way that suits how many of them users have.

    Use
        The items can be listed and nothing is known about users: one question. The default for lists of more than one
        item that leave items out.
    Shape
        known domain; ordered; no values, or gaps
    Guarantee
        (epsilon, delta)-DP for the whole release; epsilon-DP with delta=0. Neighbours: one user added or removed. The
        gap is epsilon/80-DP, the numbers of users are epsilon/20-DP, and each branch is (epsilon', delta)-DP with
        epsilon' = 15/16 epsilon for k <= 10, for which the gap is asked, and 19/20 epsilon for longer lists.
    Distribution
        For k <= 10 how far the k-th count is above the next, plus Lap(80/epsilon). If it is large, what follows is
        RisingTopK (NoisyTopK with delta=0). If not, the numbers of users with 1, 2, 3-4, 5-8, ..., 257-512, 513 and
        more items of the domain, plus Lap(20/epsilon) each. A public function of these noisy numbers chooses one of
        RisingTopK, SharedVoteTopK and RefinedTopK; with delta=0 one of NoisyTopK and SharedVoteTopK. The noisy numbers
        are released with the items.
    Symbols
        k; epsilon; delta; domain_size, how many items there are; max_items_per_user (None: at most 1000 where users are
        weighted, unrestricted where items are chosen in turn).
    Source
        docs/proofs/by-sizes.md; the branches have their own.
    Assumes
        The reader counts distinct (user, item) pairs of the domain and cuts users by a rule that sees only their rows.
    """

    reads: ClassVar[Reads] = Reads.ROUNDS
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/by-sizes.md", "Theorem 1", "Lemma 2")
    theorem: ClassVar[str] = f"{proofs[0]}: a mechanism chosen by noisy numbers of users"

    k: int
    epsilon: Fraction
    delta: Fraction
    domain_size: int
    max_items_per_user: int | None

    def __init__(
        self, k: int, epsilon: Number, delta: Number, *, domain_size: int, max_items_per_user: int | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", probability(delta, "delta", zero=True))
        put(self, "domain_size", positive_integer(domain_size, "domain_size"))
        bound = None if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        put(self, "max_items_per_user", bound)
        if self.k > self.domain_size:
            raise InvalidArgument("k", k, allowed=f"at most {self.domain_size}, the size of the domain")
        # A cap that no weights can have is refused here, not when rows are about to be read.
        spread_weights(self._cap)

    @property
    def epsilon_for_sizes(self) -> Fraction:
        """What the numbers of users cost."""
        return self.epsilon * _FOR_SIZES

    @property
    def epsilon_for_gap(self) -> Fraction:
        """What it costs to ask where the list ends; 0 for lists that are not asked."""
        return self.epsilon * _FOR_GAP if self.asks_gap else Fraction(0)

    @property
    def asks_gap(self) -> bool:
        """Whether the list is short, and leaves items out."""
        return self.k <= LONGEST_TESTED and self.k < self.domain_size

    @property
    def epsilon_of_branch(self) -> Fraction:
        """What each branch may cost, with all of delta."""
        return self.epsilon - self.epsilon_for_sizes - self.epsilon_for_gap

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return Guarantee.of(self.epsilon, self.delta)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The gap and the numbers of users, and what every branch stays within."""
        branch = self.epsilon_of_branch
        whole = ApproximateMechanism(branch, self.delta) if self.delta else PureMechanism(branch)
        gap = (LaplaceNoise(self.epsilon_for_gap),) if self.asks_gap else ()
        return (*gap, LaplaceNoise(self.epsilon_for_sizes), whole)

    @property
    def branches(self) -> tuple[KnownSizedBranch, ...]:
        """Every mechanism that may run."""
        return (self.in_turn, self.laplace, self.rounds) if self.delta else (self.in_turn, self.laplace)

    @property
    def in_turn(self) -> NoisyTopK | RisingTopK:
        """Selections, for users who have a large part of the domain, and for short lists."""
        if not self.delta:
            return NoisyTopK(self.k, self.epsilon_of_branch)
        return RisingTopK.within(self.k, epsilon=self.epsilon_of_branch, delta=self.delta)

    @property
    def laplace(self) -> SharedVoteTopK:
        """One round of Laplace noise, for users with few items."""
        return SharedVoteTopK(self.k, self.epsilon_of_branch, max_items_per_user=self._cap)

    @property
    def rounds(self) -> RefinedTopK:
        """Rounds of Gaussian noise, for long lists and users with several items."""
        return RefinedTopK.within(
            self.k, epsilon=self.epsilon_of_branch, delta=self.delta, max_items_per_user=self._cap
        )

    @property
    def first_edges(self) -> tuple[int, ...]:
        """By which numbers of items users are counted: nobody has more than all of the domain."""
        return tuple(edge for edge in KNOWN_EDGES if edge <= self.domain_size)

    @property
    def first_weights(self) -> Weights:
        """The weights of a first weighted count, whichever branch runs it."""
        return spread_weights(self._cap)

    @property
    def _cap(self) -> int:
        return min(self.domain_size, self.max_items_per_user or _DEFAULT_CAP)

    @property
    def levels(self) -> NoiseLevels:
        """The noise of each branch, in floats: a decision on released numbers."""
        rounds = math.sqrt(2 / float(self.rounds.mu_squared)) if self.delta else None
        return NoiseLevels(in_turn=self._noise_in_turn, laplace=2 / float(self.epsilon_of_branch), rounds=rounds)

    @property
    def _noise_in_turn(self) -> float:
        match self.in_turn:
            case RisingTopK() as rising:
                return _GUMBELS / (RATES[-1] * float(rising.unit))
            case _:
                return math.sqrt(2) * self.k / float(self.epsilon_of_branch)

    def clear_after(self, noisy: Fraction) -> bool:
        """Whether the list ends at so large a gap that selections find it."""
        scale, noise = float(1 / self.epsilon_for_gap), self._noise_in_turn / math.sqrt(2)
        return is_clear(float(noisy), scale=scale, noise=noise, k=self.k, domain_size=self.domain_size)

    def branch_for(self, noisy: Sequence[Fraction]) -> tuple[KnownBranch, KnownSizedBranch]:
        """The branch that follows from the noisy numbers of users, and its mechanism."""
        branch = choose_known_branch(
            [float(value) for value in noisy],
            float(1 / self.epsilon_for_sizes),
            domain_size=self.domain_size,
            cap=self.max_items_per_user or self.domain_size,
            levels=self.levels,
        )
        if branch is KnownBranch.IN_TURN:
            return branch, self.in_turn
        return branch, self.laplace if branch is KnownBranch.LAPLACE else self.rounds

    def release(self, reader: KnownTableReader, *, bits: BitSource | None = None) -> Release:
        """Ask where a short list ends, then if need be how many items users have; choose, and run what was chosen."""
        asked: list[Event] = []
        found: dict[str, str] = {}
        clear = False
        if self.asks_gap:
            gap = reader.known_gap(self.k, self.max_items_per_user)
            (noisy_gap,) = pay_for_numbers((gap,), self.epsilon_for_gap, asked, bits)
            clear, found["gap"] = self.clear_after(noisy_gap), shown_number(noisy_gap)
        branch: KnownBranch
        chosen: KnownSizedBranch
        branch, chosen = KnownBranch.IN_TURN, self.in_turn
        if not clear:
            noisy = pay_for_numbers(reader.user_sizes(self.first_edges), self.epsilon_for_sizes, asked, bits)
            branch, chosen = self.branch_for(noisy)
            users = (f"{name}:{shown_number(value)}" for name, value in zip(KNOWN_BUCKETS, noisy, strict=False))
            found["users_by_items"] = " ".join(users)
        return after_numbers(self, self._run(chosen, reader, bits), asked, {"branch": str(branch), **found})

    def _run(self, chosen: KnownSizedBranch, reader: KnownTableReader, bits: BitSource | None) -> Release:
        if isinstance(chosen, RefinedTopK):
            return chosen.release(reader, bits=bits)
        if isinstance(chosen, SharedVoteTopK):
            # The noisy sums are of shares, which is not what counts of users are: they only rank.
            return replace(reader.rank_known(chosen), values=None, value_kind=None)
        return reader.choose_known(chosen, self.max_items_per_user)

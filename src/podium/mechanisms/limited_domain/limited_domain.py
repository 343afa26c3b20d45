"""Top-k over an unknown domain: the limited domain of Durfee & Rogers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    flag,
    positive_fraction,
    positive_integer,
    rational_bounds,
)
from podium.histogram import Histogram, Item, TopRows
from podium.mechanisms.base import UNSAID, UNSAID_NONE, Distribution, Mechanism, certified_floats, describe
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.limited_domain.laplace import laplace_cost
from podium.mechanisms.limited_domain.private_k_bar import PrivateKBar, choose_k_bar, first_rows, k_bar_distribution
from podium.mechanisms.peeling import peeling_distribution
from podium.mechanisms.reader import Reads
from podium.privacy.events import Event, Selection, limited_domain_events
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, grid_bits_for, race, steps_per_unit
from podium.release import BOTTOM, Outcome, Release

if TYPE_CHECKING:
    from podium.mechanisms.limited_domain.laplace_race import LaplaceRace

__all__ = ["LimitedDomain", "PrivateKBar", "value_step"]

LimitedDomainNoise: TypeAlias = Literal["gumbel", "laplace"]

_THRESHOLD_BITS = 64
_LAPLACE_THEOREM: Final = "Durfee & Rogers 2019, Lemma 6.1 with the threshold 1 + ln(Delta/delta)/epsilon"
_STRICT_THEOREM: Final = "Durfee & Rogers 2019, Lemma 6.6 (strictly limited domain)"
_PRIVATE_THEOREM: Final = "Durfee & Rogers 2019, Lemma 6.8 with k+1 selections (private k_bar)"


@dataclass(frozen=True, slots=True, init=False)
class LimitedDomain(Mechanism):
    """The k best of the true top k_bar, as long as they stand out from the item after them.

    Use
        Nobody can list the items beforehand, and their order is wanted. The default for one or two items where a ledger
        pays, or counts are wanted.
    Shape
        unknown domain; ordered; no values, or noisy counts with Laplace noise
    Guarantee
        Each output symbol, BOTTOM included, is an epsilon_per_item-bounded-range selection and costs
        rho(epsilon_per_item); the call costs delta/(1+delta) once. Neighbours: one user added or removed.
        With ``k_bar=PrivateKBar(limit)`` the choice of k_bar is one selection more, and k_bar is released too.
        With ``noise="laplace"``: (Delta*eps, (e^(Delta*eps)+1) * (delta/4)(2+ln(Delta/delta))), noisy counts included.
    Distribution
        Peeling with weights exp(epsilon_per_item * h) over the true top-k_bar items of positive count and BOTTOM,
        whose score is h_(k_bar+1) + 1 + ln(min(Delta, k_bar)/delta)/epsilon_per_item; BOTTOM ends the output.
        ``strict=True``: only items above h_(k_bar+1) take part, and Delta does not help: ln(k_bar/delta).
        PrivateKBar: first i = k..limit with probability proportional to exp(-epsilon_per_item * h_(i+1)) / i.
        Laplace: all of them plus Lap(1/epsilon_per_item); those above BOTTOM in order, with these noisy counts.
        Sums of contributions: epsilon_per_item/clip for epsilon_per_item in all weights, and clip times the margin.
        With at_least, BOTTOM's score is the larger of the two.
    Symbols
        k, k_bar (DR's d_bar is PrivateKBar.limit); epsilon_per_item = eps; delta; max_items_per_user = Delta (None:
        unrestricted); at_least = m, a public number; clip = c, the most that one user adds to one sum (for sums that
        also fall: the span of what one user does to one sum, and scores below 0 count as 0).
    Source
        Durfee & Rogers 2019, Algorithm 1 and Theorems 1 and 2; Algorithms 4 (Laplace), 5 (strict) and 6 (private
        k_bar) as corrected in docs/proofs/limited-domain.md, which also has the repaired proof; for sums
        docs/proofs/measures.md.
    Assumes
        Each user adds an integer from 0 to clip to each count, and to at most Delta counts where Delta is given. Items
        whose sum is 0 do not exist.

    Noisy counts are released rounded down to a multiple of 2^-grid_bits, or at most 2^-31 of a scale 1/epsilon_per_item
    above 2^12; ``density`` is that of the ideal real-valued mechanism, of which the release is post-processing.
    """

    reads: ClassVar[Reads] = Reads.TOP_ROWS
    proofs: ClassVar[tuple[Proof, ...]] = (
        *proofs_in("docs/proofs/limited-domain.md", "Theorem 1", "Theorem 2", "Theorem 3", "section 3", "section 9"),
        *proofs_in("docs/proofs/measures.md", "Theorem 1", "Theorem 2"),
    )
    theorem: ClassVar[str] = "Durfee & Rogers 2019, Theorems 1 and 2 (limited domain, pay what you get)"
    grid_bits: ClassVar[int] = 20

    k: int
    k_bar: int | PrivateKBar
    epsilon_per_item: Fraction
    delta: Fraction
    max_items_per_user: int | None
    noise: LimitedDomainNoise
    strict: bool
    clip: int = field(metadata=UNSAID)
    at_least: Fraction | None = field(metadata=UNSAID_NONE)

    def __init__(
        self,
        k: int,
        k_bar: int | PrivateKBar,
        epsilon_per_item: Number,
        delta: Number,
        *,
        max_items_per_user: int | None = None,
        noise: LimitedDomainNoise = "gumbel",
        strict: bool = False,
        clip: int = 1,
        at_least: Number | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "k_bar", k_bar if isinstance(k_bar, PrivateKBar) else positive_integer(k_bar, "k_bar"))
        put(self, "epsilon_per_item", positive_fraction(epsilon_per_item, "epsilon_per_item"))
        put(self, "delta", unknown_domain_delta(delta))
        bound = None if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        put(self, "max_items_per_user", bound)
        if noise not in ("gumbel", "laplace"):
            raise InvalidArgument("noise", noise, allowed="'gumbel' or 'laplace'")
        put(self, "noise", noise)
        put(self, "strict", flag(strict, "strict"))
        put(self, "clip", positive_integer(clip, "clip"))
        put(self, "at_least", None if at_least is None else positive_fraction(at_least, "at_least"))
        if self.max_rows < self.k:
            raise InvalidArgument(
                "k_bar",
                k_bar,
                allowed=f"an integer, k={self.k} or more",
                hint="Ask for fewer items or read more rows.",
            )
        if noise == "laplace":
            self._require_laplace()

    def _require_laplace(self) -> None:
        if isinstance(self.k_bar, PrivateKBar) or self.strict:
            name, value = ("strict", True) if self.strict else ("k_bar", self.k_bar)
            raise InvalidArgument(
                name, value, allowed="a plain k_bar and strict=False where noise='laplace'", hint="Use noise='gumbel'."
            )
        for field_name, only in (("clip", 1), ("at_least", None)):
            if (found := getattr(self, field_name)) != only:
                allowed = f"{only} where noise='laplace'"
                raise InvalidArgument(field_name, found, allowed=allowed, hint="Use noise='gumbel'.")
        if self.max_items_per_user is None or self.max_items_per_user > self.k_bar:
            raise InvalidArgument(
                "max_items_per_user",
                self.max_items_per_user,
                allowed=f"an integer from 1 to k_bar={self.k_bar} where noise='laplace'",
                hint="Bound the items of each user, or use noise='gumbel', which needs no bound.",
            )
        laplace_cost(self.max_items_per_user, self.epsilon_per_item, self.delta)

    @property
    def max_rows(self) -> int:
        """How many rows, besides the count of the next one, the mechanism reads at most."""
        return self.k_bar.limit if isinstance(self.k_bar, PrivateKBar) else self.k_bar

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """k selections (one more if k_bar is private), and the call's delta once; Laplace: its pure part and delta."""
        if self.noise == "laplace":
            return (laplace_cost(self.max_items_per_user or 0, self.epsilon_per_item, self.delta),)
        extra = isinstance(self.k_bar, PrivateKBar)
        return limited_domain_events(self.epsilon_per_item, self.delta, items=self.k + extra, bottom=False)

    @property
    def rate(self) -> Fraction:
        """epsilon_per_item for each unit of the scores: a user moves them by at most clip units."""
        return self.epsilon_per_item / self.clip

    @property
    def margin(self) -> Fraction:
        """How far BOTTOM's score lies above the count of rank k_bar+1, clip times a multiple of 2^-64, rounded up.

        With a private k_bar, the largest that it can be.
        """
        return self.margin_at(self.max_rows)

    def margin_at(self, k_bar: int) -> Fraction:
        """The margin for this k_bar."""
        unrestricted = self.max_items_per_user is None or self.strict
        changing = k_bar if unrestricted else min(self.max_items_per_user or 0, k_bar)
        # Rounded up before it is multiplied: exact for any clip.
        return self.clip * _margin(changing, self.delta, self.epsilon_per_item)

    def bottom_at(self, k_bar: int, next_count: int) -> Fraction:
        """BOTTOM's score for this k_bar and the count after its rows.

        Raised to a public number it only grows, and moves with the counts by no more than they do.
        """
        margin = next_count + self.margin_at(k_bar)
        return margin if self.at_least is None else max(margin, self.at_least)

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on the top rows of a histogram, known domain or not."""
        rows = histogram.top(self.max_rows)
        if not isinstance(self.k_bar, PrivateKBar):
            return self._run(rows, self.k_bar, bits)
        chosen = choose_k_bar(rows, self.k, self.k_bar.limit, self.rate, bits)
        release = self._run(first_rows(rows, chosen), chosen, bits)
        return replace(release, parameters={**describe(self), "chosen_k_bar": str(chosen)})

    def _run(self, rows: TopRows, k_bar: int, bits: BitSource | None) -> Release:
        rows = self._domain(rows)
        bottom = len(rows.items)
        finish = race(
            np.append(rows.counts, rows.next_count),
            k=self.k,
            scale=1 / self.rate,
            noise=self.noise,
            handicaps={bottom: self.bottom_at(k_bar, rows.next_count) - rows.next_count},
            value_bits=_value_bits(self.epsilon_per_item) if self.noise == "laplace" else None,
            bits=bits,
        )
        stopped = bottom in finish.groups
        chosen = finish.groups[: finish.groups.index(bottom)] if stopped else finish.groups
        items = tuple(rows.items[i] for i in chosen)
        if self.noise == "gumbel":
            return self.release_of(items, stopped=stopped)
        values = finish.values[: len(items)]
        release = self._make_release(
            (*items, BOTTOM) if stopped else items, self.worst_case, k=self.k, values=values, value_kind="counts"
        )
        return replace(release, theorem=self._theorem())

    def release_of(self, items: tuple[Item, ...], *, stopped: bool) -> Release:
        """The release of these items with their receipt (Gumbel noise); BOTTOM ended the list if it ``stopped``."""
        outcome = (*items, BOTTOM) if stopped else items
        release = self._make_release(outcome, self._paid_events(len(items), stopped=stopped), k=self.k)
        return replace(release, theorem=self._theorem())

    def _paid_events(self, items: int, *, stopped: bool) -> tuple[Event, ...]:
        events = limited_domain_events(self.epsilon_per_item, self.delta, items=items, bottom=stopped)
        if isinstance(self.k_bar, PrivateKBar):
            return (events[0], Selection(self.epsilon_per_item), *events[1:])
        return events

    def _theorem(self) -> str:
        if self.noise == "laplace":
            return _LAPLACE_THEOREM
        if isinstance(self.k_bar, PrivateKBar):
            return _PRIVATE_THEOREM
        return _STRICT_THEOREM if self.strict else self.theorem

    def _domain(self, rows: TopRows) -> TopRows:
        if not self.strict:
            return rows
        # Rows come in descending order, so those above the next count are the first ones.
        above = int(np.count_nonzero(rows.counts > rows.next_count))
        return TopRows(rows.items[:above], rows.counts[:above], rows.next_count)

    def _exact_distribution(self, histogram: Histogram) -> Distribution:
        distribution: Distribution = {}
        for (_, outcome), chance in self._joint_distribution(histogram).items():
            distribution[outcome] = distribution[outcome] + chance if outcome in distribution else chance
        return distribution

    def _joint_distribution(self, histogram: Histogram) -> dict[tuple[int, Outcome], flint.arb]:
        """(k_bar, outcome) -> probability: a private k_bar is released as well."""
        rows = histogram.top(self.max_rows)
        joint: dict[tuple[int, Outcome], flint.arb] = {}
        for k_bar, chance in self._exact_k_bar_distribution(rows).items():
            for outcome, inner in self._distribution_at(first_rows(rows, k_bar), k_bar).items():
                joint[k_bar, outcome] = chance * inner
        return joint

    def _exact_k_bar_distribution(self, rows: TopRows) -> dict[int, flint.arb]:
        if isinstance(self.k_bar, PrivateKBar):
            return k_bar_distribution(rows, self.k, self.k_bar.limit, self.rate)
        return {self.k_bar: flint.arb(1)}

    def _distribution_at(self, rows: TopRows, k_bar: int) -> Distribution:
        rows = self._domain(rows)
        if self.noise == "laplace":
            return self._laplace_race(rows, k_bar).distribution()
        bottom = self.bottom_at(k_bar, rows.next_count)
        return peeling_distribution(rows.items, rows.counts.tolist(), self.rate, self.k, bottom=bottom)

    def _laplace_race(self, rows: TopRows, k_bar: int) -> LaplaceRace:
        from podium.mechanisms.limited_domain.laplace_race import LaplaceRace  # noqa: PLC0415 - not to answer

        bottom = rows.next_count + self.margin_at(k_bar)
        return LaplaceRace(rows.items, rows.counts.tolist(), bottom, 1 / self.epsilon_per_item, self.k)

    def k_bar_distribution(self, histogram: Histogram) -> dict[int, float]:
        """P(k_bar = i): with a private k_bar the distribution of the first selection."""
        rows = histogram.top(self.max_rows)
        return {
            i: float(chance.mid())
            for i, chance in certified_floats(lambda: self._exact_k_bar_distribution(rows)).items()
        }

    def _density(
        self, histogram: Histogram, outcome: Sequence[Item], values: list[Fraction]
    ) -> Callable[[], flint.arb]:
        """The joint density of an outcome and the noisy counts of its items (``noise="laplace"`` only).

        One value per item, none for BOTTOM; the density of (BOTTOM,) is its probability.
        """
        if self.noise != "laplace":
            raise InvalidArgument("noise", self.noise, allowed="'laplace' where values are asked for")
        if len(values) != sum(item is not BOTTOM for item in outcome):
            raise InvalidArgument("values", tuple(values), allowed="one value for each item of the outcome")
        rows = histogram.top(self.max_rows)
        return lambda: self._laplace_race(rows, self.max_rows).density(outcome, values)


def value_step(epsilon_per_item: Fraction) -> Fraction:
    """By less than this a released noisy count was rounded down."""
    return 1 / steps_per_unit(_value_bits(epsilon_per_item))


def _value_bits(epsilon_per_item: Fraction) -> int:
    return grid_bits_for(1 / epsilon_per_item, LimitedDomain.grid_bits)


@lru_cache(maxsize=1024)
def _margin(changing: int, delta: Fraction, epsilon: Fraction) -> Fraction:
    """1 + ln(changing/delta)/epsilon, rounded up."""
    with ball_precision(256):
        logarithm = (ball(changing) / ball(delta)).log() / ball(epsilon)
        return 1 + dyadic_above(rational_bounds(logarithm)[1], _THRESHOLD_BITS)

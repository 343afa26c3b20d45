"""First find out which items there are, then choose among them: a set union and a known-domain top-k."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Histogram, Item
from podium.mechanisms.base import Distribution, Mechanism, describe
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
from podium.mechanisms.peeling import peeling_distribution
from podium.mechanisms.weights import Weights, spread_weights
from podium.privacy.events import Event, Selection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["SetUnionThenTopK", "TwoReadings"]

_MAX_ITEMS = 12


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The same rows read twice: weighted sums to find items by, and plain counts of users to choose by.

    ``weighted`` are integer sums of ``weights.weight(t)`` over users cut to ``weights.cap`` items. ``counts`` need no
    cut: a selection only needs each user to add at most 1 to each count.
    """

    weighted: Histogram
    counts: Histogram


@dataclass(frozen=True, slots=True, init=False)
class SetUnionThenTopK(Mechanism):
    """The items that enough users have are found by weighted sums; the k best of them are chosen by true counts.

    Use
        Nobody can list the items beforehand and k is large, or users have many items each.
    Shape
        unknown domain; ordered; no values
    Guarantee
        delta/2-approximate zCDP with rho = s^2/(2 sigma^2) for the discovery (s <= 1) and rho(epsilon_per_item) for
        each item chosen; the other half of delta is for the conversion to an epsilon. If fewer than k items are found,
        all of them are put in order, and only that many selections are paid. Neighbours: one user added or removed.
    Distribution
        Every item with a weighted count x_i > 0, x_i = the sum of 1/sqrt(t_u) over its users, is found if
        x_i + N(0, sigma^2) > T = max over t of 1/sqrt(t) + sigma Phi^-1((1-delta/2)^(1/t)); then peeling with weights
        exp(epsilon_per_item h_i) over what was found.
    Symbols
        k; epsilon_per_item; delta (of the whole, half for the threshold); sigma, or rho = s^2/(2 sigma^2), of the
        discovery; max_items_per_user = Delta, to which users are cut before weights are given.
    Source
        Dick, Joseph & Raman 2026, after Gopi, Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin 2020;
        docs/proofs/gaussian-histograms.md, Theorem 2.
    Assumes
        Weighted sums as in GaussianSparseHistogram with ``weights``; each user adds at most 1 to each plain count.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/gaussian-histograms.md", "Theorem 2")
    theorem: ClassVar[str] = f"{proofs[0]} (set union, then peeling), after Dick, Joseph & Raman 2026"

    k: int
    epsilon_per_item: Fraction
    delta: Fraction
    max_items_per_user: int
    sigma: Fraction

    def __init__(
        self,
        k: int,
        epsilon_per_item: Number,
        delta: Number,
        max_items_per_user: int,
        *,
        sigma: Number | None = None,
        rho: Number | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon_per_item", positive_fraction(epsilon_per_item, "epsilon_per_item"))
        put(self, "delta", unknown_domain_delta(delta))
        put(self, "max_items_per_user", positive_integer(max_items_per_user, "max_items_per_user"))
        put(self, "sigma", GaussianSparseHistogram(delta=delta, sigma=sigma, rho=rho, weights=self.weights).sigma)

    @property
    def weights(self) -> Weights:
        """What a user adds to the weighted sums of the first reading."""
        return spread_weights(self.max_items_per_user)

    @property
    def discovery(self) -> GaussianSparseHistogram:
        """The first stage: on weighted sums, everything that passes, at delta/2."""
        return GaussianSparseHistogram(delta=self.delta / 2, sigma=self.sigma, weights=self.weights)

    def selection(self, found: int) -> ExponentialTopK | None:
        """The second stage, on a known domain of the ``found`` items; None where there is nothing to choose."""
        return ExponentialTopK(min(self.k, found), self.epsilon_per_item) if found else None

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """The discovery and k selections."""
        return (*self.discovery.worst_case, *(Selection(self.epsilon_per_item),) * self.k)

    def release(self, histogram: TwoReadings, *, bits: BitSource | None = None) -> Release:
        """Run both stages on two readings of the same rows."""
        readings = _readings(histogram)
        found = self.discovery.release(readings.weighted, bits=bits)
        return self.finish(found, _within(readings.counts, found.items), bits=bits)

    def finish(self, found: Release, counts: Histogram, *, bits: BitSource | None = None) -> Release:
        """The second stage alone: ``found`` by the discovery, ``counts`` over the known domain of its items."""
        second = self.selection(len(found.items))
        chosen = None if second is None else second.release(counts, bits=bits)
        paid = (*self.discovery.worst_case, *(() if chosen is None else chosen.paid.events))
        release = self._make_release(() if chosen is None else chosen.outcome, paid, k=self.k)
        return replace(release, parameters={**describe(self), "found": str(len(found.items))})

    def _exact_distribution(self, histogram: TwoReadings) -> Distribution:
        readings = _readings(histogram)
        if len(readings.weighted) > _MAX_ITEMS:
            raise InvalidArgument(
                "histogram",
                f"a reading of {len(readings.weighted)} items",
                allowed=f"at most {_MAX_ITEMS} items",
                hint="An exact distribution lists every set that may be found; release() has no such limit.",
            )
        chances = self.discovery.chances(readings.weighted)
        counts = _rows(readings.counts)
        distribution: Distribution = {}
        for found in itertools.product((False, True), repeat=len(chances)):
            items = tuple(itertools.compress(chances, found))
            chance = flint.arb(1)
            for passes, is_in in zip(chances.values(), found, strict=True):
                chance *= passes if is_in else 1 - passes
            scores = [counts.get(item, 0) for item in items]
            for outcome, inner in peeling_distribution(items, scores, self.epsilon_per_item, self.k).items():
                distribution[outcome] = distribution.get(outcome, flint.arb(0)) + chance * inner
        return distribution


def _readings(data: object) -> TwoReadings:
    if not isinstance(data, TwoReadings):
        raise InvalidArgument(
            "histogram",
            type(data).__name__,
            allowed="a TwoReadings of weighted sums and plain counts",
            hint="TwoReadings(weighted=..., counts=...); or run discovery and selection(...) one after the other.",
        )
    return data


def _rows(counts: Histogram) -> dict[Item, int]:
    rows = counts.top(len(counts))
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def _within(counts: Histogram, items: Iterable[Item]) -> Histogram:
    """The counts of these items, as a known domain; an item that nobody has by this reading counts 0."""
    return Histogram(_rows(counts), domain=items)

"""A meter on both sides of a mechanism: every call that touches rows, and every draw of noise, in the order they came.

What a receipt says is one thing, what was in fact read and drawn is another. The meter stands where the numbers of
private rows come in (histograms, readers in rounds, sources) and where noise is drawn (``podium.randomness``), and
writes both down. Bits that are read past it are written down too: they have no price, and no receipt is right then.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.support.metering.groups import MeteredGroupPairs, MeteredGroups
from tests.support.sources.wrapped import WrappedSource

from podium import randomness
from podium.curator.prepare import fresh_salt
from podium.histogram import Histogram, Item, Scores, _CountsOfCounts
from podium.mechanisms.canonical.rejection import SubsetSampler
from podium.mechanisms.exponential import ExponentialWithGap
from podium.mechanisms.joint.sampler import SequenceSampler
from podium.mechanisms.limited_domain import private_k_bar
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.reader import Discovery
from podium.mechanisms.rising import RisingTopK
from podium.mechanisms.weights import Weights
from podium.planning.memory_table import PairsReader
from podium.randomness.bits import Words
from podium.randomness.replay import ReplayableBits
from podium.release import Release
from podium.sources import (
    CountQuery,
    Domain,
    KeptPairs,
    NamedPairs,
    PairNorm,
    Snapshot,
    Source,
)

__all__ = ["Draw", "Meter", "MeteredReader", "MeteredSource", "Read", "Steps"]

Steps = tuple[tuple[int, int], ...]
"""Weights as steps (up_to, weight): a user with at most ``up_to`` items adds ``weight`` to each."""

PACKAGES = ("mechanisms", "estimates", "planning", "curator")
FUNCTIONS: tuple[Any, ...] = (
    randomness.race,
    randomness.choose,
    randomness.race_above,
    randomness.noisy_value,
    randomness.noisy_values,
    randomness.centred_values,
    randomness.correlated_values,
    randomness.discrete_laplace,
    randomness.discrete_gaussian,
    randomness.geometric,
    randomness.bernoulli_exp,
    randomness.NoisyNumber,
    # A draw of its own law, which may draw and reject several times inside.
    private_k_bar.choose_k_bar,
    fresh_salt,
)
METHODS: tuple[tuple[type, str], ...] = (
    (SubsetSampler, "draw"),
    (SequenceSampler, "draw"),
    (ExponentialWithGap, "gap_of"),
)


@dataclass(frozen=True, slots=True)
class Read:
    """Numbers of private rows that came in; ``weights`` is what a user adds to them, None where that is 1 each."""

    what: str
    numbers: tuple[Fraction, ...]
    weights: Steps | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """Noise that was drawn: by whom, with which arguments, and what came out."""

    what: str
    given: dict[str, Any]
    result: Any


class _Past:
    """Bits as a mechanism holds them: it hands them on to a draw; reading them itself is drawing past the meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def read(self, size: int) -> bytes:
        self._meter.note_bits(size)
        return self._meter.bits.read(size)

    def words(self, count: int) -> Words:
        self._meter.note_bits(8 * count)
        return self._meter.bits.words(count)


@dataclass(slots=True)
class Meter:
    """What was read and drawn since it was installed; the same seed draws the same."""

    bits: ReplayableBits
    log: list[Read | Draw] = field(default_factory=list)
    depth: int = 0

    @classmethod
    def install(cls, monkeypatch: pytest.MonkeyPatch, *, seed: int = 0, histograms: bool = False) -> Meter:
        """Meter all draws of this process; with ``histograms`` also whatever is asked of a histogram."""
        meter = cls(ReplayableBits(seed))
        past = _Past(meter)
        replaced = {id(function): meter.drawing(function.__name__, function) for function in FUNCTIONS}
        replaced[id(randomness.system_bits)] = lambda: past
        for module in _modules():
            for name, value in list(vars(module).items()):
                if id(value) in replaced:
                    monkeypatch.setattr(module, name, replaced[id(value)])
        for owner, name in METHODS:
            monkeypatch.setattr(owner, name, meter.drawing(f"{owner.__name__}.{name}", getattr(owner, name)))
        if histograms:
            for kind, method in [*((Histogram, n) for n in _ASKED), *((_CountsOfCounts, n) for n in _ASKED),
                                 (Scores, "groups")]:  # fmt: skip
                monkeypatch.setattr(kind, method, meter._asking(method, getattr(kind, method)))
        return meter

    @property
    def draws(self) -> list[Draw]:
        """The draws alone."""
        return [entry for entry in self.log if isinstance(entry, Draw)]

    @property
    def reads(self) -> list[Read]:
        """The reads alone."""
        return [entry for entry in self.log if isinstance(entry, Read)]

    def note_bits(self, size: int) -> None:
        """Bits that no metered draw asked for."""
        if not self.depth:
            self.log.append(Draw("bits past the meter", {"size": size}, None))

    def note(self, what: str, numbers: Iterable[Any], weights: Steps | None = None) -> None:
        """A call that touched rows."""
        if not self.depth:
            self.log.append(Read(what, tuple(Fraction(int(n)) for n in numbers), weights))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What happens in here belongs to the call that is being written down."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def drawing(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same draw, written down unless it is part of another one, from the meter's own bits."""
        signature = inspect.signature(function)

        @functools.wraps(function)
        def draw(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            if "bits" in bound.arguments:
                bound.arguments["bits"] = self.bits
            with self.inside():
                result = function(*bound.args, **bound.kwargs)
            if not self.depth:
                self.log.append(Draw(what, dict(bound.arguments), result))
            return result

        return draw

    def _asking(self, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def asked(*args: Any, **kwargs: Any) -> Any:
            with self.inside():
                answer = method(*args, **kwargs)
            scores = [*answer.counts.tolist(), answer.next_count] if what == "top" else list(answer.scores)
            scores = [int(score) if isinstance(score, np.integer) else score for score in scores]
            if not self.depth:
                self.log.append(Read(what, tuple(map(Fraction, scores))))
            return answer

        return asked


_ASKED = ("top", "groups", "observed_groups")


def _modules() -> list[ModuleType]:
    """Everything that may draw noise on rows. A draw that uses another, inside ``podium.randomness``, is one draw."""
    packages = [importlib.import_module(f"podium.{package}") for package in PACKAGES]
    found = [m.name for package in packages for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [*packages, *map(importlib.import_module, found)]


@dataclass(frozen=True, slots=True)
class MeteredReader:
    """What an adaptive mechanism asks, written down."""

    meter: Meter
    inner: PairsReader

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        sizes = self.inner.user_sizes(edges)
        self.meter.note("sizes", sizes)
        return sizes

    def lead(self, mechanism: LimitedDomain) -> int:
        self.meter.note("lead", (lead := self.inner.lead(mechanism),))
        return lead

    def select(self, mechanism: LimitedDomain) -> Release:
        self.meter.note("select", ())
        return self.inner.select(mechanism)

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        self.meter.note("discover", (), stage.weights.steps)
        return self.inner.discover(stage, without)

    def known_gap(self, k: int, max_items_per_user: int | None) -> int:
        gap = self.inner.known_gap(k, max_items_per_user)
        self.meter.note("gap", (gap,))
        return gap

    def choose_known(self, mechanism: NoisyTopK | RisingTopK, max_items_per_user: int | None) -> Release:
        self.meter.note("choose_known", ())
        return self.inner.choose_known(mechanism, max_items_per_user)

    def rank_known(self, stage: Discovery) -> Release:
        self.meter.note("rank_known", (), stage.weights.steps)
        return self.inner.rank_known(stage)

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        sizes = self.inner.sizes(items, edges)
        self.meter.note("sizes", sizes)
        return sizes

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        sums = self.inner.sums(items, weights)
        self.meter.note("sums", sums, weights.steps)
        return sums


@dataclass(frozen=True, slots=True)
class _MeteredSnapshot(MeteredGroups):
    meter: Meter
    inner: Snapshot
    query: CountQuery

    def note(self, what: str, numbers: Any) -> None:
        self.meter.note(what, numbers, self.query.weights)

    def top_rows(self, limit: int) -> Histogram:
        rows = self.inner.top_rows(limit)
        with self.meter.inside():
            top = rows.top(limit)
        self.meter.note("top_rows", (*top.counts, top.next_count), self.query.weights)
        return rows

    def counts_of_counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        counts, sizes = self.inner.counts_of_counts()
        self.meter.note("counts_of_counts", counts, self.query.weights)
        return counts, sizes

    def names(self, places: Sequence[tuple[int, int]]) -> tuple[Item, ...]:
        self.meter.note("names", (count for count, _ in places), self.query.weights)
        return self.inner.names(places)

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        sizes = self.inner.sizes(edges)
        self.meter.note("sizes", sizes)
        return sizes


@dataclass(frozen=True, slots=True)
class _MeteredPairs(MeteredGroupPairs):
    meter: Meter
    inner: KeptPairs

    def snapshot(self, query: CountQuery) -> Snapshot:
        return _MeteredSnapshot(self.meter, self.inner.snapshot(query), query)

    def among(self, items: tuple[Item, ...]) -> NamedPairs:
        return _MeteredNames(self.meter, self.inner.among(items))

    def rest_totals(self, items: Any, clip: int, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        found = self.inner.rest_totals(items, clip, buckets)
        self.meter.note("rest_totals", (*found[0], *found[1]))
        return found

    def value_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        found = self.inner.value_histograms(buckets, resolution)
        self.meter.note("value_histograms", (*found[0], *found[1]))
        return found

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        found = self.inner.norm_histograms(buckets)
        self.meter.note("norm_histograms", (*found[0], *found[1]))
        return found


@dataclass(frozen=True, slots=True)
class _MeteredNames:
    meter: Meter
    inner: NamedPairs

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        sizes = self.inner.sizes(edges)
        self.meter.note("sizes", sizes)
        return sizes

    def sums(self, weights: Sequence[tuple[int, int]], clip: int | None = None) -> tuple[int, ...]:
        sums = self.inner.sums(weights, clip)
        self.meter.note("sums", sums, tuple(weights))
        return sums

    def norm_sizes(self, norm: PairNorm, edges: Sequence[int]) -> tuple[int, ...]:
        sizes = self.inner.norm_sizes(norm, edges)
        self.meter.note("norm_sizes", sizes)
        return sizes

    def norm_sums(self, norm: PairNorm) -> tuple[int, ...]:
        sums = self.inner.norm_sums(norm)
        self.meter.note("norm_sums", sums, norm.steps)
        return sums


class MeteredSource(WrappedSource):
    """A source of which every question about rows is written down."""

    def __init__(self, meter: Meter, inner: Source) -> None:
        super().__init__(inner)
        self.meter = meter

    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[Snapshot]:
        return self._metered(query, domain)

    @contextmanager
    def _metered(self, query: CountQuery, domain: Domain | None) -> Iterator[Snapshot]:
        with self.inner.snapshot(query, domain=domain) as snapshot:
            yield _MeteredSnapshot(self.meter, snapshot, query)

    def keep_pairs(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[KeptPairs]:
        return self._kept(query, domain)

    @contextmanager
    def _kept(self, query: CountQuery, domain: Domain | None) -> Iterator[KeptPairs]:
        with self.inner.keep_pairs(query, domain=domain) as pairs:
            yield _MeteredPairs(self.meter, pairs)

"""Rounds on any table: what is paid stays within what is promised, and a request depends on nothing but releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.histogram import Item
from podium.mechanisms import AdaptiveTopK, Weights
from podium.mechanisms.gaussian import adaptive, border, correlated_counts, in_rounds
from podium.mechanisms.reader import Discovery
from podium.planning.memory_table import PairsReader
from podium.privacy.events import CorrelatedNoise, GaussianNoise, HiddenItems, is_real_gaussian
from podium.randomness import centred_values, correlated_values, noisy_values
from podium.randomness.replay import ReplayableBits
from podium.release import Release

Table = list[tuple[int, int]]


def crowd(counts: Sequence[int], *, first_user: int = 0) -> Table:
    """One item per user."""
    users = iter(range(first_user, first_user + sum(counts)))
    return [(next(users), item) for item, count in enumerate(counts) for _ in range(count)]


EMPTY: Table = []
ONE_USER: Table = [(0, item) for item in range(5)]
ONE_ITEM = crowd([400])
TIES = crowd([60] * 12)
STEEP = crowd([round(900 / (place + 1)) for place in range(40)])
FEW = crowd([300, 200])
HEAVY = [*crowd([200] * 6), *((5000 + user, item) for user in range(30) for item in range(user, 3000, 2 + user))]
MANY = [(user, item) for user in range(150) for item in range(30) if (user * 7 + item * 3) % (2 + item // 3) == 0]
NAMED = [EMPTY, ONE_USER, ONE_ITEM, TIES, STEEP, FEW, HEAVY, MANY]

tables = st.one_of(
    st.sampled_from(NAMED),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=300),
    st.lists(st.integers(0, 200), max_size=30).map(crowd),
)


def reader_of(table: Table, bits: ReplayableBits) -> PairsReader:
    return PairsReader([user for user, _ in table], [item for _, item in table], bits=bits)


def run(mechanism: AdaptiveTopK, table: Table, seed: int) -> Release:
    bits = ReplayableBits(seed)
    return mechanism.release(reader_of(table, bits), bits=bits)


def check_paid(mechanism: AdaptiveTopK, release: Release) -> None:
    gaussian = [event for event in release.paid.events if isinstance(event, GaussianNoise | CorrelatedNoise)]
    hidden = [event for event in release.paid.events if isinstance(event, HiddenItems)]
    assert len(gaussian) + len(hidden) == len(release.paid.events)
    assert all(is_real_gaussian(event) for event in gaussian)
    assert 2 * sum(event.rho for event in gaussian) <= mechanism.mu_squared
    assert 1 <= len(hidden) <= 3
    assert sum(event.delta for event in hidden) <= mechanism.delta
    assert len(release.paid.events) <= 13
    assert release.paid.cost <= mechanism.guarantee.cost
    assert release.guarantee == mechanism.guarantee


def check_outcome(mechanism: AdaptiveTopK, table: Table, release: Release) -> None:
    assert len(set(release.items)) == len(release.items) <= mechanism.k
    assert set(release.items) <= {item for _, item in table}
    assert (release.values is None) is not mechanism.counts
    assert release.values is None or len(release.values) == len(release.items)
    assert release.value_kind == ("counts" if mechanism.counts else None)
    assert Release.from_json(release.to_json()) == release


@settings(max_examples=80)
@given(
    table=tables,
    k=st.integers(1, 20),
    mu_squared=st.sampled_from([Fraction(1, 50), Fraction(1), Fraction(7, 3), Fraction(100)]),
    delta=st.sampled_from(["0.5", "0.01", "1e-6"]),
    most=st.sampled_from([1, 3, 50, 1000]),
    counts=st.booleans(),
    seed=st.integers(0, 999),
)
@example(EMPTY, 3, Fraction(1), "0.01", 50, True, 1)
@example(ONE_USER, 3, Fraction(1), "0.5", 50, True, 2)
@example(ONE_ITEM, 1, Fraction(1), "0.01", 50, True, 3)
@example(FEW, 10, Fraction(1), "0.01", 50, True, 4)
@example(TIES, 5, Fraction(100), "0.01", 50, True, 5)
@example(HEAVY, 3, Fraction(7, 3), "0.01", 1000, True, 6)
@example(HEAVY, 3, Fraction(100), "0.01", 3, False, 7)
@example(STEEP, 10**400, Fraction(100), "0.5", 50, False, 8)
def test_every_path_stays_within_the_promise(
    table: Table, k: int, mu_squared: Fraction, delta: str, most: int, counts: bool, seed: int
) -> None:
    mechanism = AdaptiveTopK(k, mu_squared, delta, max_items_per_user=most, counts=counts)
    release = run(mechanism, table, seed)
    check_paid(mechanism, release)
    check_outcome(mechanism, table, release)
    assert run(mechanism, table, seed) == release


def test_with_much_to_spend_the_answer_is_the_true_one() -> None:
    mechanism = AdaptiveTopK(6, 400, "0.01", max_items_per_user=50, counts=True)
    release = run(mechanism, STEEP, 1)
    assert release.items == (0, 1, 2, 3, 4, 5)
    assert release.values is not None
    assert all(abs(value - round(900 / (place + 1))) < 2 for place, value in enumerate(release.values))
    assert run(AdaptiveTopK(2, 400, "0.01"), FEW, 1).items == (0, 1)
    assert run(AdaptiveTopK(5, 400, "0.01"), EMPTY, 1).items == ()


@dataclass
class Tape:
    """Every request of a run in order, and what was released for it."""

    requests: list[tuple[Any, ...]] = field(default_factory=list)
    releases: list[Any] = field(default_factory=list)

    def keep(self, request: tuple[Any, ...], release: Any) -> Any:
        self.requests.append(request)
        self.releases.append(release)
        return release


@dataclass
class Taped:
    """A reader whose requests are written down; with ``script``, releases are those of an earlier run.

    What ``sizes`` and ``sums`` answer is private and goes on to the noise; it is the noisy numbers that are scripted.
    """

    inner: PairsReader
    tape: Tape
    script: Tape | None = None
    private: list[tuple[int, ...]] = field(default_factory=list)

    def released(self, request: tuple[Any, ...], fresh: Callable[[], Any]) -> Any:
        place = len(self.tape.requests)
        if self.script is None:
            return self.tape.keep(request, fresh())
        assert self.script.requests[place] == request, f"request {place} depends on more than releases"
        return self.tape.keep(request, self.script.releases[place])

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        found: Release = self.released(("discover", stage, without), lambda: self.inner.discover(stage, without))
        return found

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        self.released(("sizes", items, edges), lambda: None)
        self.private.append(self.inner.sizes(items, edges))
        return self.private[-1]

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        self.released(("sums", items, weights), lambda: None)
        self.private.append(self.inner.sums(items, weights))
        return self.private[-1]

    def noise(self, kind: str, draw: Callable[..., list[Fraction]]) -> Callable[..., list[Fraction]]:
        def noisy(values: Sequence[object], *, scale: object, **options: Any) -> list[Fraction]:
            request = (kind, len(values), scale)
            drawn: list[Fraction] = self.released(request, lambda: draw(values, scale=scale, **options))
            return drawn

        return noisy


def taped(mechanism: AdaptiveTopK, table: Table, seed: int, *, script: Tape | None = None) -> tuple[Release, Taped]:
    bits = ReplayableBits(seed)
    reader = Taped(reader_of(table, bits), Tape(), script)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_rounds, "noisy_values", reader.noise("noisy", noisy_values))
        patch.setattr(border, "centred_values", reader.noise("centred", centred_values))
        patch.setattr(correlated_counts, "correlated_values", reader.noise("correlated", correlated_values))
        return mechanism.release(reader, bits=bits), reader


BASE = crowd([70, 64, 60, 60, 58, 57, 50, 44, 41, 40, 12, 3])
NEIGHBOURS = {
    "a light user": [*BASE, (9999, 3)],
    "a user of the border": [*BASE, *((9999, item) for item in (2, 3, 4, 5, 6))],
    "a user of everything": [*BASE, *((9999, item) for item in range(12))],
    "an item of one's own": [*BASE, *((9999, item) for item in (0, 77, 78))],
}


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("counts", [False, True])
def test_a_neighbour_is_asked_the_same_unless_a_release_differs(name: str, counts: bool) -> None:
    mechanism = AdaptiveTopK(5, 8, "0.05", max_items_per_user=20, counts=counts)
    kinds: set[str] = set()
    differs = moved = False
    for seed in range(6):
        release, reader = taped(mechanism, BASE, seed)
        again, other = taped(mechanism, NEIGHBOURS[name], 1000 + seed, script=reader.tape)
        # Every request of the second run was compared with that of the first when it was made.
        assert other.tape.requests == reader.tape.requests
        assert (again.items, again.values, again.paid) == (release.items, release.values, release.paid)
        kinds |= {request[0] for request in reader.tape.requests}
        differs |= other.private != reader.private
        moved |= taped(mechanism, NEIGHBOURS[name], 1000 + seed)[1].tape.requests != reader.tape.requests
    assert kinds == {"discover", "sizes", "sums", "noisy", "centred"} | ({"correlated"} if counts else set())
    assert differs, "the two tables never gave different numbers, so this has shown nothing"
    assert moved, "requests do not depend on releases, so this has shown nothing"


def test_a_request_that_peeks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: a rule that looks at the true sizes makes the requests of neighbours differ."""
    honest = border.floor_for

    def run_peeking(table: Table, script: Tape | None) -> Taped:
        def peeking(items: int, users: Any, sigma: Fraction, **options: Any) -> Fraction:
            true = reader_of(table, ReplayableBits(0)).sizes(tuple(range(12)), (1,))
            return honest(items, users, sigma, **options) + true[0]

        monkeypatch.setattr(in_rounds, "floor_for", peeking)
        return taped(AdaptiveTopK(5, 8, "0.05", max_items_per_user=20), table, 3, script=script)[1]

    script = run_peeking(BASE, None).tape
    with pytest.raises(AssertionError, match="depends on more than releases"):
        run_peeking(NEIGHBOURS["a light user"], script)


def test_what_was_found_is_left_out_of_the_next_discovery() -> None:
    _, reader = taped(AdaptiveTopK(30, 1, "0.05", max_items_per_user=20), STEEP, 5)
    discoveries = [
        (request[2], release)
        for request, release in zip(reader.tape.requests, reader.tape.releases, strict=True)
        if request[0] == "discover"
    ]
    assert 2 <= len(discoveries) <= 3
    assert discoveries[0][0] == ()
    found: set[Item] = set()
    for without, release in discoveries:
        assert set(without) == found
        assert not found & set(release.items)
        found |= set(release.items)


def test_no_more_is_left_out_than_a_source_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive, "_MAX_EXCLUDED", 3)
    release, reader = taped(AdaptiveTopK(30, 1, "0.05", max_items_per_user=20), STEEP, 5)
    sizes = [len(request[2]) for request in reader.tape.requests if request[0] == "discover"]
    assert sizes[0] == 0
    assert set(sizes[1:]) == {3}
    assert len(set(release.items)) == len(release.items)

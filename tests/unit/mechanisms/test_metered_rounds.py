"""Receipts of mechanisms in rounds, and of those that choose by numbers of users, are what was drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.support.metering.meter import Draw, Meter, MeteredReader
from tests.support.metering.prices import Facts, check_links, check_receipt, due

from podium.mechanisms import (
    AdaptiveTopK,
    SizedTopK,
)
from podium.planning.memory_table import PairsReader
from podium.privacy import CorrelatedNoise
from podium.release import Receipt, Release

CROWD = [(user, item) for item in range(40) for user in range(7 * item, 7 * item + 410 - 8 * item)]
"""Neighbouring items differ by few users, and users have from 1 to 40 of them: a border to measure, and sizes."""


def _adaptive(monkeypatch: pytest.MonkeyPatch, mechanism: AdaptiveTopK, seed: int) -> tuple[Meter, Release]:
    meter = Meter.install(monkeypatch, seed=seed)
    users, items = zip(*CROWD, strict=True)
    return meter, mechanism.release(MeteredReader(meter, PairsReader(users, items)))


@pytest.mark.parametrize(
    ("k", "epsilon", "branch"),
    [(12, 4, "rounds"), (5, "1/50", "limited domain"), (100, "1/50", "one round")],
)
def test_numbers_of_users_and_the_branch_are_paid_for(
    k: int, epsilon: Any, branch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter.install(monkeypatch, seed=1)
    users, items = zip(*CROWD, strict=True)
    release = SizedTopK(k, epsilon, "1e-6").release(MeteredReader(meter, PairsReader(users, items)))
    assert release.parameters["branch"] == branch
    assert meter.reads[0].what == "sizes"
    check_receipt(release.paid, due(meter, Facts(changing=1000)))


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(
    ("mu_squared", "expected"),
    [("1/500", {"discover"}), (1, {"discover", "sizes", "sums"}), (30, {"discover", "sizes", "sums"})],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_round_is_paid_for(
    counts: bool, mu_squared: Any, expected: set[str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = AdaptiveTopK(10, mu_squared, "1e-6", max_items_per_user=30, counts=counts)
    meter, release = _adaptive(monkeypatch, mechanism, seed)
    asked = [read.what for read in meter.reads]
    assert expected == set(asked) - ({"sums"} if expected == {"discover"} else set())
    check_receipt(release.paid, due(meter))
    check_links(meter, Facts(derived=True))
    # Each call is its own draw: sizes of a border are noised before its sums are asked for.
    assert len(meter.draws) == len(asked)
    for read, draw in zip(meter.log[::2], meter.log[1::2], strict=True):
        assert not isinstance(read, Draw)
        assert isinstance(draw, Draw)
        if read.what == "sizes":
            assert [Fraction(value) for value in draw.given["values"]] == list(read.numbers)
    assert release.paid.rho <= mechanism.mu_squared / 2
    assert release.paid.delta <= mechanism.delta
    counted = counts and bool(release.items)
    assert sum(isinstance(event, CorrelatedNoise) for event in release.paid.events) == counted


def test_counts_of_rounds_are_paid_for_users_who_are_in_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on items per user is for finding; an event that took it for the counts would say too little."""
    meter, release = _adaptive(monkeypatch, AdaptiveTopK(10, 30, "1e-6", max_items_per_user=2, counts=True), 1)
    (paid,) = (event for event in release.paid.events if isinstance(event, CorrelatedNoise))
    others = tuple(event for event in release.paid.events if event is not paid)
    assert meter.reads[-1].weights == ((paid.max_items, 1),) == ((len(release.items), 1),)
    check_receipt(release.paid, due(meter))
    cheaper = CorrelatedNoise(paid.items, 2, paid.sigma, paid.shared_sigma)
    assert cheaper.rho < paid.rho
    with pytest.raises(AssertionError):
        check_receipt(Receipt((*others, cheaper)), due(meter))


@pytest.mark.parametrize("missing", range(5))
def test_the_meter_sees_a_missing_event(missing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a receipt of rounds that lacks an event, or has one that says more noise than there was."""
    meter, release = _adaptive(monkeypatch, AdaptiveTopK(10, 1, "1e-6", max_items_per_user=30, counts=True), 1)
    events, owed = release.paid.events, due(meter)
    assert len(events) > missing
    with pytest.raises(AssertionError):
        check_receipt(Receipt((*events[:missing], *events[missing + 1 :])), owed)
    event: Any = events[missing]
    changes = {"sigma": event.sigma * Fraction(1001, 1000)} if hasattr(event, "sigma") else {"delta": event.delta / 2}
    kept = {"sensitivity_squared": event.sensitivity_squared} if hasattr(event, "sigma") else {}
    with pytest.raises(AssertionError):
        check_receipt(Receipt((*events[:missing], type(event)(**changes, **kept), *events[missing + 1 :])), owed)

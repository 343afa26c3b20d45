"""SizedTopK: what it promises before anything is read, which branch follows which numbers, and its receipt."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.support.metering.meter import Meter, MeteredReader
from tests.support.metering.prices import Facts, check_receipt, due
from tests.support.refusals import refusal
from tests.support.sizes import REFUSED_ARGUMENTS, check_the_number_decides

from podium.mechanisms import SizedTopK
from podium.mechanisms.by_sizes.decision import (
    BUCKETS,
    LONGEST_CALL,
    SHORT_BUCKETS,
    SIZE_EDGES,
    Branch,
    Thresholds,
    choose_branch,
    estimate_sizes,
    largest_selection,
)
from podium.planning.memory_table import PairsReader
from podium.privacy import actual_cost, calibrate_epsilon, total, worst_case
from podium.privacy.events import ApproximateMechanism, LaplaceNoise
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

BARS = Thresholds(laplace=14.0, gaussian=26.0, call=62.0, selection=3.0)
"""Of three places at epsilon=1; in longer lists selections have more to exceed."""
LONG = Thresholds(laplace=14.0, gaussian=26.0, call=145.0, selection=7.0)


def noisy(*users: float) -> list[float]:
    return [*users, *[0.0] * (len(SIZE_EDGES) - len(users))]


def test_the_parts_add_up_to_what_was_asked_for() -> None:
    mechanism = SizedTopK(5, "0.7", "1e-6")
    assert mechanism.worst_case == (LaplaceNoise("0.035"), ApproximateMechanism("0.665", "1e-6"))
    guarantee = total(mechanism.worst_case)
    assert (guarantee.cost.epsilon, guarantee.cost.delta) == (Fraction(7, 10), Fraction(1, 10**6))
    short = SizedTopK(2, "0.7", "1e-6").worst_case
    assert short == (LaplaceNoise("0.00875"), LaplaceNoise("0.035"), ApproximateMechanism("0.65625", "1e-6"))
    assert total(short).cost.epsilon == Fraction(7, 10)
    assert (mechanism.guarantee.epsilon(), mechanism.guarantee.cost.delta) == (Fraction(7, 10), Fraction(1, 10**6))


@pytest.mark.parametrize("k", [1, 2, 3, 100])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_no_branch_costs_more_rho_or_delta_than_the_worst_case(k: int, epsilon: str) -> None:
    mechanism = SizedTopK(k, epsilon, "1e-6")
    most = worst_case(mechanism.worst_case)
    asked = mechanism.worst_case[:-1]
    costs = [worst_case((*asked, *branch.worst_case)) for branch in mechanism.branches]
    if mechanism.asks_lead:
        costs.append(worst_case((asked[0], *mechanism.limited_domain_at_once.worst_case)))
    for cost in costs:
        assert cost.rho <= most.rho
        assert cost.delta <= most.delta
    assert (mechanism.limited_domain in mechanism.branches) is (k <= LONGEST_CALL)


@pytest.mark.parametrize(
    ("k", "users", "branch"),
    [
        # One item each: nothing is lost by sharing a vote, and Laplace noise has the lower threshold.
        (10, noisy(3000), Branch.LAPLACE),
        (1000, noisy(100_000), Branch.LAPLACE),
        # Heavy users, and enough of them.
        (10, noisy(0, 0, 500, 2000, 4000), Branch.ROUNDS),
        (1000, noisy(0, 5000, 50_000, 20_000), Branch.ROUNDS),
        # So few pairs that only finding items matters.
        (100, noisy(0, 0, 0, 60, 60), Branch.ONE_DISCOVERY),
        # Heavy users and few places: selections do not care how many items users have.
        (3, noisy(0, 0, 0, 0, 0, 0, 1000), Branch.LIMITED_DOMAIN),
        (10, noisy(0, 0, 0, 0, 0, 0, 5000), Branch.LIMITED_DOMAIN),
        (11, noisy(0, 0, 0, 0, 0, 0, 5000), Branch.ROUNDS),
        # Nothing stands out of the noise.
        (10, [-3.0] * 8, Branch.LAPLACE),
    ],
)
def test_the_branch_follows_from_the_numbers(k: int, users: list[float], branch: Branch) -> None:
    assert choose_branch(k, estimate_sizes(users, 20.0), BARS if k == 3 else LONG) is branch


def test_without_a_call_there_is_no_limited_domain() -> None:
    bars = Thresholds(laplace=14.0, gaussian=26.0, call=None, selection=0.0)
    heavy = estimate_sizes(noisy(0, 0, 0, 0, 0, 0, 0, 40), 1.0)
    assert choose_branch(3, heavy, bars) is not Branch.LIMITED_DOMAIN


@pytest.mark.parametrize("k", [1, 2, 3, 10, 26, 30])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6"])
def test_no_calibration_exceeds_the_largest_selection(k: int, epsilon: float, delta: str) -> None:
    found = float(calibrate_epsilon(k, epsilon=epsilon, delta=delta).epsilon_per_item)
    largest = largest_selection(k, epsilon, float(delta))
    assert found <= largest
    if k == 1:
        # Basic composition reaches half of it, so that it is not above everything.
        assert largest < 2.01 * epsilon


@pytest.mark.parametrize("k", [3, 5, 30])
@pytest.mark.parametrize(("epsilon", "delta", "most"), [("0.1", "1e-9", None), ("1", "1e-6", 4), ("8", "1e-6", None)])
def test_selections_are_calibrated_only_if_they_may_be_chosen(
    k: int, epsilon: str, delta: str, most: int | None
) -> None:
    mechanism = SizedTopK(k, epsilon, delta, max_items_per_user=most)
    scale, seen = float(1 / mechanism.epsilon_for_sizes), set()
    for users in (0, 30, 1000, 10**5, 10**8):
        for bucket in range(len(SIZE_EDGES)):
            numbers = [Fraction(users if place == bucket else 0) for place in range(len(SIZE_EDGES))]
            sizes = estimate_sizes(list(map(float, numbers)), scale)
            exact, lowest = mechanism.thresholds(sizes), mechanism._lowest_thresholds(sizes)
            assert exact.call is not None
            assert lowest.call is not None
            assert (lowest.call <= exact.call, lowest.selection <= exact.selection) == (True, True)
            branch, _ = mechanism.branch_for(numbers)
            assert branch is choose_branch(k, sizes, exact)
            seen.add(branch)
    assert len(seen) >= 2


@pytest.mark.parametrize(("k", "delta"), [(5000, "1e-6"), (3, "1e-400")])
def test_long_lists_and_tiny_deltas_have_a_branch(k: int, delta: str) -> None:
    mechanism, numbers = SizedTopK(k, 1, delta), [Fraction(1000)] * len(SIZE_EDGES)
    sizes = estimate_sizes(list(map(float, numbers)), float(1 / mechanism.epsilon_for_sizes))
    branch, _ = mechanism.branch_for(numbers)
    assert branch is choose_branch(k, sizes, mechanism.thresholds(sizes))


def test_sizes_are_read_off_what_stands_out() -> None:
    sizes = estimate_sizes([1000.0, 79.0, -50.0, 0.0, 81.0, 0.0, 0.0, 0.0], 20.0)
    assert sizes.users == 1081
    assert sizes.pairs == 1000 + 81 * 12
    assert sizes.cap == 32
    assert sizes.single == pytest.approx(1000 / 1110)
    none = estimate_sizes([-1.0, -2.0, -0.5, -3.0, -4.0, -5.0, -6.0, -7.0], 20.0)
    assert (none.users, none.single, none.cap) == (1.0, 0.0, 8)


def pairs(users: int, each: int) -> tuple[list[int], list[int]]:
    """Users with the same number of items, most of them item 0, fewer of them item 1, and so on."""
    found = [
        (user, (user // (2 ** (place + 1)) if place else 0) % 7 + 10 * place)
        for user in range(users)
        for place in range(each)
    ]
    return [user for user, _ in found], [item for _, item in found]


@pytest.mark.parametrize(
    ("k", "table", "branch"),
    [(5, pairs(4000, 1), "Laplace noise"), (5, pairs(4000, 6), "rounds"), (50, pairs(60, 6), "one round")],
)
def test_a_receipt_lists_the_sizes_and_the_branch(k: int, table: Any, branch: str) -> None:
    mechanism = SizedTopK(k, 4, "1e-6")
    bits = ReplayableBits(3)
    release = mechanism.release(PairsReader(*table, bits=bits), bits=bits)
    assert release.mechanism == "SizedTopK"
    assert release.parameters["branch"] == branch
    shown = [part.split(":") for part in release.parameters["users_by_items"].split()]
    assert [name for name, _ in shown] == list(BUCKETS)
    # 4000 users, and Laplace noise of scale 5 on each number.
    assert abs(sum(int(users) for _, users in shown) - len(set(table[0]))) < 300
    assert release.paid.events[0] == LaplaceNoise("0.2")
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)
    assert release.theorem.startswith(
        "docs/proofs/by-sizes.md, Theorem 1: a mechanism chosen by noisy numbers of users; "
    )
    assert (release.values, release.value_kind) == (None, None)


def test_an_empty_table_is_an_ordinary_release() -> None:
    bits = ReplayableBits(1)
    release = SizedTopK(3, 1, "1e-6").release(PairsReader([], [], bits=bits), bits=bits)
    assert [item for item in release.outcome if item is not BOTTOM] == []
    assert len(release.paid.events) >= 2


AHEAD = list(range(4000)), [user % 7 % 3 for user in range(4000)]
CLOSE = list(range(120)), [user % 3 for user in range(120)]
HEAVY = [user for user in range(60) for _ in range(5)], [item for user in range(60) for item in range(5)]


@pytest.mark.parametrize(
    ("table", "reads", "branch"),
    [
        (AHEAD, ["lead", "select"], "limited domain"),
        (CLOSE, ["lead", "sizes", "discover"], "Laplace noise"),
        (HEAVY, ["lead", "sizes", "select"], "limited domain"),
    ],
)
def test_one_or_two_places_ask_how_far_they_are_ahead(
    table: Any, reads: list[str], branch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = SizedTopK(2, 4, "1e-6")
    meter = Meter.install(monkeypatch, seed=1)
    release = mechanism.release(MeteredReader(meter, PairsReader(*table)))
    assert [read.what for read in meter.reads] == reads
    check_receipt(release.paid, due(meter, Facts(changing=1000)))
    assert release.paid.events[0] == LaplaceNoise("0.05")
    assert (release.paid.events[1] == LaplaceNoise("0.2")) is ("sizes" in reads)
    assert release.parameters["branch"] == branch
    assert len(release.items) == 2
    assert ("users_by_items" in release.parameters) is ("sizes" in reads)
    if "sizes" in reads:
        shown = [part.split(":") for part in release.parameters["users_by_items"].split()]
        assert [name for name, _ in shown] == list(SHORT_BUCKETS)
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)
    assert (release.values, release.value_kind) == (None, None)


def test_the_noisy_lead_decides() -> None:
    mechanism = SizedTopK(1, 4, "1e-6")
    assert [mechanism.within_reach(Fraction(lead)) for lead in (-100, 80, 95)] == [False, False, True]
    table = PairsReader(list(range(90)), [0] * 90)
    check_the_number_decides(mechanism, table, "lead", mechanism.within_reach, seeds=12)


def test_a_list_that_is_far_ahead_has_the_part_of_the_sizes_too() -> None:
    mechanism = SizedTopK(2, 1, "1e-6")
    alone, after = mechanism.limited_domain_at_once, mechanism.limited_domain
    assert float(alone.epsilon_per_item) == pytest.approx(float(after.epsilon_per_item) * 79 / 75, rel=1e-3)
    assert calibrate_epsilon(2, epsilon="0.9875", delta="1e-6").epsilon_per_item == alone.epsilon_per_item


@pytest.mark.parametrize(
    ("arguments", "text"),
    [*REFUSED_ARGUMENTS, ({"k_bar": 2}, "k_bar=2 is not valid. Allowed: an integer, k=3 or more.")],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], text: str) -> None:
    assert refusal(lambda: SizedTopK(**{"k": 3, "epsilon": 1, "delta": "1e-6", **arguments})) == text

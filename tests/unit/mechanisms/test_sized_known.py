"""SizedKnownTopK: what it promises before anything is read, which branch follows which numbers, and its receipt."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.support.metering.meter import Meter, MeteredReader
from tests.support.metering.prices import check_receipt, due
from tests.support.refusals import refusal
from tests.support.sizes import REFUSED_ARGUMENTS, check_the_number_decides

from podium.mechanisms import NoisyTopK, RefinedTopK, RisingTopK, SharedVoteTopK, SizedKnownTopK
from podium.mechanisms.by_sizes.known_decision import KNOWN_EDGES, KnownBranch
from podium.planning.memory_table import PairsReader
from podium.privacy import actual_cost, total, worst_case
from podium.privacy.events import ApproximateMechanism, LaplaceNoise, PureMechanism
from podium.randomness.replay import ReplayableBits

Table = tuple[list[int], list[int]]


def pairs(users: int, each: int, size: int) -> Table:
    """Users with the same number of items, the lower numbers more often."""
    found = [
        (user, (user * user % size) * (user + place) // size % size) for user in range(users) for place in range(size)
    ]
    kept: dict[int, list[int]] = {}
    for user, item in found:
        own = kept.setdefault(user, [])
        if item not in own and len(own) < each:
            own.append(item)
    for user, own in kept.items():
        others = [(user + step) % size for step in range(size) if (user + step) % size not in own]
        own.extend(others[: each - len(own)])
    return [user for user, own in kept.items() for _ in own], [item for own in kept.values() for item in own]


FEW = pairs(3000, 1, 40)
MANY = pairs(600, 36, 40)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_parts_add_up_to_what_was_asked_for(delta: Any) -> None:
    mechanism = SizedKnownTopK(5, "0.7", delta, domain_size=40)
    rest = ApproximateMechanism("0.65625", delta) if delta else PureMechanism("0.65625")
    assert mechanism.worst_case == (LaplaceNoise("0.00875"), LaplaceNoise("0.035"), rest)
    whole = total(mechanism.worst_case).cost
    assert (whole.epsilon, whole.delta) == (Fraction(7, 10), Fraction(delta))
    assert (mechanism.guarantee.epsilon(), mechanism.guarantee.cost.delta) == (Fraction(7, 10), Fraction(delta))


@pytest.mark.parametrize("k", [2, 10, 300])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_no_branch_costs_more_rho_or_delta_than_the_worst_case(k: int, epsilon: str, delta: Any) -> None:
    mechanism = SizedKnownTopK(k, epsilon, delta, domain_size=1000)
    most = worst_case(mechanism.worst_case)
    assert {type(branch) for branch in mechanism.branches} == (
        {RisingTopK, SharedVoteTopK, RefinedTopK} if delta else {NoisyTopK, SharedVoteTopK}
    )
    for branch in mechanism.branches:
        cost = worst_case((LaplaceNoise(mechanism.epsilon_for_sizes), *branch.worst_case))
        assert (cost.rho <= most.rho, cost.delta <= most.delta) == (True, True)


@pytest.mark.parametrize(
    ("k", "size", "users", "branch"),
    [
        (10, 100, {1: 3000}, KnownBranch.LAPLACE),
        (10, 100, {1: 500, 2: 500, 3: 500}, KnownBranch.LAPLACE),
        # A large part of the domain: the differences of counts move as much as the counts.
        (20, 120, {65: 500}, KnownBranch.IN_TURN),
        (100, 1000, {257: 1000}, KnownBranch.IN_TURN),
        # Long lists, several items each.
        (1000, 4096, {17: 20_000}, KnownBranch.ROUNDS),
        # Short lists do not care.
        (4, 4096, {17: 20_000}, KnownBranch.IN_TURN),
    ],
)
def test_the_branch_follows_from_the_numbers(k: int, size: int, users: dict[int, int], branch: KnownBranch) -> None:
    mechanism = SizedKnownTopK(k, 1, "1e-6", domain_size=size)
    numbers = [Fraction(users.get(edge, 0)) for edge in mechanism.first_edges]
    found, chosen = mechanism.branch_for(numbers)
    assert found is branch
    assert chosen in mechanism.branches
    pure, _ = SizedKnownTopK(k, 1, 0, domain_size=size).branch_for(numbers)
    assert pure is not KnownBranch.ROUNDS


def test_nobody_is_counted_with_more_than_the_whole_domain() -> None:
    assert SizedKnownTopK(5, 1, 0, domain_size=40).first_edges == (1, 2, 3, 5, 9, 17, 33)
    assert SizedKnownTopK(5, 1, 0, domain_size=10**9).first_edges == KNOWN_EDGES
    # What does not stand out of the noise is not believed, and the noise of no user at all is one item each.
    crowd = SizedKnownTopK(20, 1, "1e-6", domain_size=40)
    assert crowd.branch_for([Fraction(1000), *[Fraction(139)] * 6])[0] is KnownBranch.LAPLACE
    assert crowd.branch_for([Fraction(-1), *[Fraction(-2)] * 6])[0] is KnownBranch.LAPLACE


@pytest.mark.parametrize(
    ("table", "delta", "branch"),
    [(FEW, "1e-6", "Laplace noise"), (MANY, "1e-6", "in turn"), (FEW, 0, "Laplace noise"), (MANY, 0, "in turn")],
)
def test_a_receipt_lists_the_sizes_and_the_branch(
    table: Table, delta: Any, branch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = SizedKnownTopK(5, 4, delta, domain_size=40, max_items_per_user=38)
    meter = Meter.install(monkeypatch, seed=3)
    release = mechanism.release(MeteredReader(meter, PairsReader(*table, domain_size=40)))
    assert (release.mechanism, release.parameters["branch"]) == ("SizedKnownTopK", branch)
    assert [read.what for read in meter.reads[:2]] == ["gap", "sizes"]
    check_receipt(release.paid, due(meter))
    assert release.paid.events[:2] == (LaplaceNoise("0.05"), LaplaceNoise("0.2"))
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)
    assert (len(set(release.items)), release.complete) == (5, True)
    shown = [part.split(":") for part in release.parameters["users_by_items"].split()]
    assert abs(sum(int(users) for _, users in shown) - len(set(table[0]))) < 200
    # Shares of votes are no counts of users; gaps in users are free where exponential noise was drawn.
    assert release.value_kind == ("gaps" if (delta, branch) == (0, "in turn") else None)
    assert release.theorem.startswith("docs/proofs/by-sizes.md, Theorem 1: a mechanism chosen by noisy numbers")


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_list_that_ends_at_a_wide_gap_asks_for_nothing_else(delta: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = SizedKnownTopK(4, 4, delta, domain_size=40)
    table = [user for user in range(400) for _ in range(4)], [item for _ in range(400) for item in range(4)]
    meter = Meter.install(monkeypatch, seed=3)
    release = mechanism.release(MeteredReader(meter, PairsReader(*table, domain_size=40)))
    assert [read.what for read in meter.reads] == ["gap", "choose_known"]
    check_receipt(release.paid, due(meter))
    assert release.paid.events[0] == LaplaceNoise("0.05")
    assert (set(release.items), release.parameters["branch"]) == ({0, 1, 2, 3}, "in turn")
    assert "users_by_items" not in release.parameters
    assert abs(int(release.parameters["gap"]) - 400) < 20 * 30


def test_the_noisy_gap_decides() -> None:
    mechanism = SizedKnownTopK(4, 4, 0, domain_size=40)
    users = 128
    assert mechanism.clear_after(Fraction(users)) != mechanism.clear_after(Fraction(users - 40))
    table = PairsReader([user for user in range(users) for _ in range(4)], [0, 1, 2, 3] * users, domain_size=40)
    check_the_number_decides(mechanism, table, "gap", mechanism.clear_after, seeds=8)


def test_only_short_lists_that_leave_items_out_ask_where_they_end() -> None:
    asked = {
        (k, size): SizedKnownTopK(k, 1, 0, domain_size=size).asks_gap for k, size in ((10, 11), (10, 10), (11, 40))
    }
    assert asked == {(10, 11): True, (10, 10): False, (11, 40): False}


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_gap_is_clear_if_neither_its_noise_nor_that_of_selections_can_bridge_it(delta: Any) -> None:
    mechanism = SizedKnownTopK(10, 1, delta, domain_size=1000)
    # Five times 80 for the gap's own noise, and 90 to 130 for the largest of 10,000 noises of selections.
    assert [mechanism.clear_after(Fraction(gap)) for gap in (-500, 470, 540)] == [False, False, True]


def test_rounds_of_a_known_domain_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pairs(900, 20, 400)
    mechanism = SizedKnownTopK(300, 1, "1e-6", domain_size=400)
    meter = Meter.install(monkeypatch, seed=1)
    release = mechanism.release(MeteredReader(meter, PairsReader(*table, domain_size=400)))
    assert release.parameters["branch"] == "rounds"
    check_receipt(release.paid, due(meter))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_an_empty_table_is_an_ordinary_release(seed: int, delta: Any) -> None:
    bits = ReplayableBits(seed)
    release = SizedKnownTopK(4, 1, delta, domain_size=9).release(
        PairsReader([], [], bits=bits, domain_size=9), bits=bits
    )
    assert len(set(release.items)) == 4
    assert set(release.items) <= set(range(9))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        *REFUSED_ARGUMENTS,
        ({"k": 10}, "k=10 is not valid. Allowed: at most 9, the size of the domain."),
        ({"domain_size": 0}, "domain_size=0 is not valid. Allowed: an integer, 1 or more."),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], text: str) -> None:
    assert (
        refusal(lambda: SizedKnownTopK(**{"k": 3, "epsilon": 1, "delta": "1e-6", "domain_size": 9, **arguments}))
        == text
    )

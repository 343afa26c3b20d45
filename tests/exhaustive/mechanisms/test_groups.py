"""Every small world of groups: a list for each group keeps the promise of one list, or of as many as a user is in."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from tests.support.groups import GroupWorld, by_group, check_groups, grouped_distribution, worst_of_groups
from tests.support.worlds import PRECISION, DistributionOf, SmallDistribution, SmallHistogram, cached, hockey_stick

from podium.audit.exact.claims import comparison
from podium.errors import InvalidArgument
from podium.exact import ball_precision
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy import Guarantee, bounded_range_rho
from podium.privacy.costs import Cost
from podium.release import BOTTOM, Outcome

HALF, DELTA = Fraction(1, 2), Fraction(1, 20)
PAIRS = ("Xa", "Xb", "Ya", "Yb")
LN_2 = Fraction("0.693147180559945309417232121458")

Lists = tuple[tuple[str, Outcome], ...]


@pytest.mark.parametrize("known", [None, 2])
@pytest.mark.parametrize(("k", "k_bar", "max_items"), [(1, 1, None), (1, 2, 1), (2, 2, 2), (2, 2, 3)])
@pytest.mark.parametrize("groups", [1, 2])
def test_all_groups_together_keep_the_promise(
    groups: int, k: int, k_bar: int, max_items: int | None, known: int | None
) -> None:
    mechanism = GroupedTopK.selections(
        k, k_bar, HALF, DELTA, groups_per_user=groups, known=known, max_items_per_user=max_items
    )
    check_groups(grouped_distribution(mechanism), GroupWorld(PAIRS, 1, groups, max_items), mechanism.guarantee)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("lift", [{"Xa": 9, "Xb": 9}, {"Xa": 9, "Ya": 9}])
def test_also_where_items_come_out(groups: int, lift: dict[str, int]) -> None:
    mechanism = GroupedTopK.selections(2, 2, HALF, DELTA, groups_per_user=groups)
    check_groups(grouped_distribution(mechanism), GroupWorld(PAIRS, 1, groups, lift=lift), mechanism.guarantee)


@pytest.mark.parametrize("groups", [1, 2])
def test_sums_at_a_clip_cost_what_numbers_of_users_cost(groups: int) -> None:
    """One user adds 1 or 2 to each pair; noise and a margin in units of 1 are not enough."""
    mechanism = GroupedTopK.selections(1, 1, HALF, DELTA, groups_per_user=groups, clip=2)
    short = GroupedTopK.selections(1, 1, HALF, DELTA, groups_per_user=groups)
    baskets = list(GroupWorld(("Xa", "Xb", "Ya"), 1, groups).baskets())
    moves = [
        dict(zip(some, by, strict=True)) for some in map(sorted, baskets) for by in product((1, 2), repeat=len(some))
    ]
    worlds: list[dict[str, int]] = [{"Xa": x, "Xb": 1, "Ya": y} for x in (0, 3) for y in (0, 2)]
    for selections, claim, holds in ((mechanism, mechanism.guarantee, True), (short, mechanism.guarantee, False)):
        compare, lookup = comparison(claim, "guarantee"), cached(grouped_distribution(selections))
        found = [
            compare(lookup(world), lookup({pair: count + by.get(pair, 0) for pair, count in world.items()})).violated
            for world in worlds
            for by in moves
        ]
        assert any(found) is not holds


@pytest.mark.parametrize("groups", [1, 2])
def test_known_items_cost_what_the_groups_of_one_user_cost(groups: int) -> None:
    mechanism = GroupedTopK(ExponentialTopK(1, HALF), groups, known=2)
    world = GroupWorld(PAIRS, 2, groups)
    distribution = grouped_distribution(mechanism, known=True)
    check_groups(distribution, world, mechanism.guarantee)
    if groups == 2:
        assert worst_of_groups(distribution, world, ExponentialTopK(1, HALF).guarantee).violated


def hidden_loss(mechanism: GroupedTopK, basket: dict[str, int], epsilon: Fraction) -> float:
    """The hockey-stick divergence between nobody and one user with these pairs, the larger of both directions."""
    distribution = grouped_distribution(mechanism)
    empty, full = distribution(dict.fromkeys(basket, 0)), distribution(basket)
    with ball_precision(PRECISION):
        return max(float(hockey_stick(p, q, epsilon).mid()) for p, q in ((empty, full), (full, empty)))


def test_one_group_needs_the_delta_of_one_list_and_two_need_more() -> None:
    """The vectors groups-delta: 1/21 for g = 1; 41/441 with delta in each of two; 81/1681 with a shared delta."""
    one = GroupedTopK.selections(1, 1, LN_2, DELTA)
    assert hidden_loss(one, {"Xa": 1}, LN_2) == pytest.approx(1 / 21, rel=1e-12)
    assert one.worst_case[0].delta == Fraction(1, 21)
    each = GroupedTopK(LimitedDomain(1, 1, LN_2, DELTA), 2)
    assert hidden_loss(each, {"Xa": 1, "Ya": 1}, 2 * LN_2) == pytest.approx(41 / 441, rel=1e-12)
    assert each.worst_case[0].delta == 2 * DELTA
    shared = GroupedTopK.selections(2, 2, LN_2, DELTA, groups_per_user=2, max_items_per_user=2)
    assert hidden_loss(shared, {"Xa": 1, "Ya": 1}, 4 * LN_2) == pytest.approx(81 / 1681, rel=1e-12)
    assert shared.worst_case[0].delta == DELTA


def test_several_groups_fail_more_often_than_one_call_is_charged() -> None:
    """Charged as one limited domain, delta/(1+delta), two groups that share delta would be charged too little."""
    shared = GroupedTopK.selections(1, 1, LN_2, DELTA, groups_per_user=2)
    found = hidden_loss(shared, {"Xa": 1, "Ya": 1}, 2 * LN_2)
    assert found == pytest.approx(1 - (1 + 1 / 40) ** -2, rel=1e-12)
    assert DELTA / (1 + DELTA) < found < shared.worst_case[0].delta


def claimed(mechanism: GroupedTopK, *, delta: Fraction, groups: int = 1) -> Guarantee:
    """The selections of so many groups and this delta."""
    epsilon, k = mechanism.inner.guarantee.cost.epsilon, groups
    assert epsilon is not None
    return Guarantee(Cost(epsilon=epsilon * k, rho=bounded_range_rho(epsilon) * k, delta=delta))


def test_two_groups_charged_as_one_are_rejected() -> None:
    two = GroupedTopK(LimitedDomain(1, 1, LN_2, DELTA), 2)
    world = GroupWorld(("Xa", "Ya"), 1, 2)
    check_groups(grouped_distribution(two), world, two.guarantee)
    worst = worst_of_groups(grouped_distribution(two), world, claimed(two, delta=DELTA / (1 + DELTA), groups=2))
    assert worst.violated
    assert worst.excess == pytest.approx(41 / 441 - 1 / 21, abs=1e-9)


def test_a_margin_for_one_group_with_delta_once_is_rejected() -> None:
    """min(Delta, K) in each group: the user's two pairs are both hidden with all of delta."""
    own = GroupedTopK(LimitedDomain(1, 1, LN_2, DELTA, max_items_per_user=2), 2)
    assert own.delta == 2 * DELTA
    found = hidden_loss(own, {"Xa": 1, "Ya": 1}, 2 * LN_2)
    assert found == pytest.approx(0.092971, abs=1e-6)
    assert found > DELTA
    right = GroupedTopK.selections(1, 1, LN_2, DELTA, groups_per_user=2, max_items_per_user=2)
    assert hidden_loss(right, {"Xa": 1, "Ya": 1}, 2 * LN_2) < DELTA


def test_margins_for_each_groups_own_k_bar_are_rejected() -> None:
    """K = 1 and 3, Delta = 3: m = min(3, 2*1) in one group and min(3, 2*3) in the other add up to more than delta."""
    parts = [LimitedDomain(1, 1, LN_2, DELTA / 2), LimitedDomain(1, 3, LN_2, DELTA)]
    counts = [{"Xa": 1}, {"Ya": 1, "Yb": 1}]
    with ball_precision(PRECISION):
        nothing = flint.arb(1)
        for part, basket in zip(parts, counts, strict=True):
            (histogram,) = by_group(basket).values()
            nothing *= part.distribution(histogram, exact=True)[BOTTOM,]
        assert 1 - float(nothing.mid()) == pytest.approx(0.055862, abs=1e-6)
        assert 1 - float(nothing.mid()) > 1 - float((-flint.arb(DELTA.numerator) / DELTA.denominator).exp().mid())


def test_a_strict_domain_needs_more_than_the_pairs_of_a_user() -> None:
    """One pair in each of two groups raises the next count, and all K leave at once: min(Delta, g K) is too small."""
    strict = LimitedDomain(1, 2, LN_2, DELTA, strict=True)
    with pytest.raises(InvalidArgument, match="inner"):
        GroupedTopK(strict, 2)
    with ball_precision(PRECISION):
        left, right = ({"a": 1, "b": 1, "c": last} for last in (0, 1))
        stays = strict.distribution(by_group({f"X{i}": n for i, n in left.items()})["X"], exact=True)
        leaves = strict.distribution(by_group({f"X{i}": n for i, n in right.items()})["X"], exact=True)
        assert set(leaves) == {(BOTTOM,)}
        nothing = stays[BOTTOM,] ** 2
    assert 1 - float(nothing.mid()) == pytest.approx(0.092971, abs=1e-6)


@pytest.mark.parametrize(("users", "found"), [(3, "0.166667"), (6, "0.615385")])
def test_a_group_chosen_by_other_peoples_numbers_is_rejected(users: int, found: str) -> None:
    """Everybody but one is in both groups and kept in the larger: the one decides where all are counted."""
    mechanism = GroupedTopK.selections(1, 1, LN_2, DELTA)
    distribution = grouped_distribution(mechanism)
    with_user, without = {"Xa": users, "Ya": 0}, {"Xa": 0, "Ya": users - 1}
    with ball_precision(PRECISION):
        loss = hockey_stick(distribution(with_user), distribution(without), LN_2)
    assert float(loss.mid()) == pytest.approx(float(found), abs=1e-6)
    assert loss > float(DELTA / (1 + DELTA))


def test_a_group_shown_because_it_has_rows_is_rejected() -> None:
    """An empty list under a group's name says that the group has rows."""
    mechanism = GroupedTopK.selections(1, 1, LN_2, DELTA)

    def shown(counts: SmallHistogram) -> SmallDistribution:
        present = {pair: count for pair, count in counts.items() if count}
        return GroupedTopK(mechanism.inner, known=1).distribution(by_group(present), exact=True)

    world = GroupWorld(("Xa",), 1, 1)
    check_groups(grouped_distribution(mechanism), world, mechanism.guarantee)
    worst = worst_of_groups(shown, world, mechanism.guarantee)
    assert worst.violated
    assert worst.excess == pytest.approx(1 - 1 / 21)


def test_a_group_is_hidden_as_often_as_the_vector_says() -> None:
    """The vector groups-hidden."""
    mechanism = GroupedTopK.selections(2, 2, HALF, Fraction(1, 100), max_items_per_user=2)
    found = mechanism.distribution(by_group({"Xa": 3, "Xb": 1}))
    assert found == pytest.approx(
        {
            (): 0.9817479226945865,
            (("X", ("a", "b")),): 6.638476463652015e-5,
            (("X", ("a", BOTTOM)),): 0.01327695292730403,
            (("X", ("b", "a")),): 6.582207372511045e-5,
            (("X", ("b", BOTTOM)),): 0.004842917539747822,
        }
    )


# Settling: whole transcripts of two questions, against the promise made before the first.

Price = Callable[[Lists], Fraction]


def symbols(lists: Lists, groups: int = 2) -> list[int]:
    """How many selections each group was, hidden ones included, most first."""
    shown = [len(outcome) for _, outcome in lists]
    return sorted([*shown, *[1] * (groups - len(shown))], reverse=True)


def of_largest(number: int) -> Price:
    return lambda lists: Fraction(sum(symbols(lists)[:number]))


def of_smallest(lists: Lists) -> Fraction:
    return Fraction(symbols(lists)[-1])


def of_mean(lists: Lists) -> Fraction:
    return Fraction(sum(symbols(lists)), 2)


def of_shown(lists: Lists) -> Fraction:
    """Hidden groups are free."""
    return Fraction(max((len(outcome) for _, outcome in lists), default=0))


def transcripts(plan: PayWhatYouGet, price: Price, *, groups_per_user: int = 1, longest: int = 2) -> DistributionOf:
    """Everything that is seen by somebody who asks for lists, without what came out, until nothing is left."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        whole: dict[Any, flint.arb] = {}
        with ball_precision(PRECISION):
            extend((), flint.arb(1), Fraction(plan.k_star), whole, counts)
        return whole

    def extend(
        seen: tuple[Lists, ...], chance: flint.arb, left: Fraction, whole: dict[Any, flint.arb], counts: SmallHistogram
    ) -> None:
        k = min(longest, int(left / groups_per_user))
        if not k or len(seen) == plan.l_star:
            whole[seen] = chance
            return
        gone = {f"{group}{item}" for lists in seen for group, outcome in lists for item in outcome}
        rest = {pair: count for pair, count in counts.items() if pair not in gone}
        mechanism = GroupedTopK(LimitedDomain(k, 4, plan.epsilon_per_item, plan.delta), groups_per_user)
        found: dict[Any, flint.arb] = mechanism.distribution(by_group(rest), exact=True)
        for lists, part in found.items():
            extend((*seen, lists), chance * part, left - price(lists), whole, counts)

    return distribution


@pytest.mark.parametrize(("groups", "k_star"), [(1, 2), (1, 3), (2, 4)])
def test_a_call_may_be_settled_at_the_costliest_groups(groups: int, k_star: int) -> None:
    plan = PayWhatYouGet(k_star, 2, HALF, "0.01")
    claim = Guarantee(
        Cost(epsilon=k_star * HALF, rho=k_star * bounded_range_rho(HALF), delta=Fraction(2, 100) * groups)
    )
    world = GroupWorld(("Xa", "Xb", "Ya"), 1, groups, lift={"Xa": 13, "Xb": 12})
    check_groups(transcripts(plan, of_largest(groups), groups_per_user=groups), world, claim)


@pytest.mark.parametrize(("price", "k"), [(of_smallest, 2), (of_mean, 3)])
def test_a_call_settled_at_the_smallest_or_the_mean_is_rejected(price: Price, k: int) -> None:
    """A list of two for the price of one, or of three for that of two, leaves something to ask for one more with."""
    plan = PayWhatYouGet(k, 2, LN_2, "1e-6")
    pairs = ("Xa", "Xb", "Xc", "Xd")[: k + 1]
    world = GroupWorld(pairs, 1, 1, lift=dict.fromkeys(pairs, 19))
    check_groups(transcripts(plan, of_largest(1), longest=k), world, plan.guarantee)
    assert worst_of_groups(transcripts(plan, price, longest=k), world, plan.guarantee).violated


def test_a_free_hidden_group_is_rejected() -> None:
    """ "Nothing came out of any group", said three times, is worth three selections."""
    plan = PayWhatYouGet(1, 3, LN_2, "1e-4")
    world = GroupWorld(("Xa",), 3, 1, lift={"Xa": 13})
    check_groups(transcripts(plan, of_largest(1)), world, plan.guarantee)
    worst = worst_of_groups(transcripts(plan, of_shown), world, plan.guarantee)
    assert worst.violated
    assert worst.excess > 0.05


def public_transcripts(k_star: int, price: Price) -> DistributionOf:
    """Two lists of known items that end at a public score, delta = 0, so that zCDP itself is compared."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        whole: dict[Any, flint.arb] = {}
        with ball_precision(PRECISION):
            extend((), flint.arb(1), Fraction(k_star), whole, counts)
        return whole

    def extend(
        seen: tuple[Lists, ...], chance: flint.arb, left: Fraction, whole: dict[Any, flint.arb], counts: SmallHistogram
    ) -> None:
        if left < 1:
            whole[seen] = chance
            return
        gone = {f"{group}{item}" for lists in seen for group, outcome in lists for item in outcome}
        joint: dict[Any, flint.arb] = {(): flint.arb(1)}
        for group in ("X", "Y"):
            items = [pair[1:] for pair in counts if pair[0] == group and pair not in gone]
            scores = [counts[group + item] for item in items]
            alone = peeling_distribution(items, scores, LN_2, min(2, int(left)), bottom=Fraction(2))
            joint = {(*lists, (group, one)): p * q for lists, p in joint.items() for one, q in alone.items()}
        for lists, part in joint.items():
            extend((*seen, lists), chance * part, left - price(lists), whole, counts)

    return distribution


def test_settling_is_exact_in_zcdp_too() -> None:
    """D_a/a is at most 2 rho settled at the largest, and more settled at the smallest, or for a user in two groups."""
    claim = Guarantee.zcdp(2 * bounded_range_rho(LN_2))
    one = GroupWorld(("Xa", "Xb", "Ya"), 2, 1)
    check_groups(public_transcripts(2, of_largest(1)), one, claim)
    check_groups(public_transcripts(2, of_largest(2)), GroupWorld(("Xa", "Ya"), 2, 2), claim)
    assert worst_of_groups(public_transcripts(2, of_smallest), one, claim).violated
    assert worst_of_groups(public_transcripts(2, of_largest(1)), GroupWorld(("Xa", "Ya"), 2, 2), claim).violated

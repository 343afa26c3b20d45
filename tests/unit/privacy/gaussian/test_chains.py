"""Chains: what a call is reserved at, what it settles for, and what it forfeits."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest
from bench.ledger.profiles import bounded_range_profile, profile
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidArgument
from podium.mechanisms.groups.costliest import costliest
from podium.privacy import Event, GaussianNoise, Selection
from podium.privacy.gaussian import Chain, Step, chain, chains, find_chain, price, prices, required_remainder, steps_of

TOTAL = Fraction(1, 4)

steps = st.builds(
    lambda kind, size, count: Step(kind, Fraction(size, 20), count),
    st.sampled_from(["pure", "bounded_range", "gaussian"]),
    st.integers(1, 8),
    st.integers(1, 5),
)


def some_chain(*wanted: Step, free: Fraction = TOTAL) -> Chain:
    found = chain(wanted, free)
    assert found is not None
    return found


def shape(found: Chain) -> list[tuple[int, int]]:
    return [(part.node, part.step.count) for part in found.parts]


def test_a_known_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number was computed independently, with exact prices, which need no slack."""
    monkeypatch.setattr(prices, "SLACK", 0)
    ninety_eight = Step.bounded_range("0.1", count=98)
    found = some_chain(ninety_eight)
    assert shape(found) == [(64, 35), (32, 32), (16, 16), (8, 8), (4, 4), (2, 2), (0, 1)]
    assert chain([ninety_eight.times(99)], TOTAL) is None
    assert float(TOTAL - found.total) == pytest.approx(0.001365148126, abs=1e-12)
    free = TOTAL - found.charge([ninety_eight.times(10)])
    assert float(free) == pytest.approx(0.224937713306, abs=1e-12)
    found = some_chain(Step.bounded_range("0.3", count=3), free=free)
    assert shape(found) == [(8, 1), (4, 2)]
    free -= found.total
    assert float(free) == pytest.approx(0.155262093866, abs=1e-12)
    free -= some_chain(Step.gaussian("0.02"), free=free).total
    assert float(free) == pytest.approx(0.135262093866, abs=1e-12)
    found = some_chain(Step.pure("0.2", count=2), free=free)
    assert [float(part.price) for part in found.parts] == pytest.approx([0.042950429601, 0.045437167663], abs=1e-12)
    assert shape(found) == [(2, 1), (1, 1)]
    free -= found.total
    assert float(free) == pytest.approx(0.046874496602, abs=1e-12)
    assert chain([Step.bounded_range("0.4")], free) is None


def test_the_slack_of_certificates_is_all_that_is_added() -> None:
    found = some_chain(Step.bounded_range("0.1", count=98))
    assert 0 < TOTAL - found.total < Fraction("0.001365148127")
    assert chain([Step.bounded_range("0.1", count=99)], TOTAL) is None


@given(st.lists(steps, max_size=4), st.fractions(0, 3, max_denominator=100), st.fractions(0, 1), st.booleans())
def test_a_chain_is_found_for_exactly_these_amounts(
    wanted: list[Step], free: Fraction, share: Fraction, one_shot: bool
) -> None:
    found = find_chain(wanted, free, one_shot=one_shot)
    assert found.holds_at(free)
    lowest = free - 1 if found.lowest is None else found.lowest
    end = max(lowest, free) + 1 if found.end is None else found.end
    least = Fraction(1, 1 << 200)
    for inside in (lowest, lowest + share * (end - least - lowest), end - least):
        assert found.holds_at(inside)
        assert chain(wanted, inside, one_shot=one_shot) == found.chain
    for bound, outside in ((found.lowest, lowest - least), (found.end, end)):
        if bound is not None:
            assert not found.holds_at(outside)
            # Where nothing fits, more may fit no better.
            assert found.chain is None or chain(wanted, outside, one_shot=one_shot) != found.chain


@given(st.lists(steps, max_size=4), st.fractions(0, 3, max_denominator=100))
def test_every_price_finds_its_remainder(wanted: list[Step], free: Fraction) -> None:
    found = chain(wanted, free)
    if found is None:
        return
    left = free
    for part in found.parts:
        left -= part.total
        assert part.price == price(part.step, part.node)
        assert left >= required_remainder(part.step, part.node) >= 0
    for noise in (True, False):
        assert [
            part.step.times(1)
            for part in found.parts
            for _ in range(part.step.count)
            if (part.step.kind == "gaussian") == noise
        ] == [step.times(1) for step in wanted for _ in range(step.count) if (step.kind == "gaussian") == noise]


@given(st.lists(steps, max_size=3), st.fractions(0, 3, max_denominator=100), st.fractions(0, 1, max_denominator=100))
def test_more_that_is_free_never_costs_more(wanted: list[Step], free: Fraction, more: Fraction) -> None:
    before, after = chain(wanted, free), chain(wanted, free + more)
    if before is not None:
        assert after is not None
        assert after.total <= before.total


@given(st.lists(steps, min_size=1, max_size=4), st.data())
def test_settling(wanted: list[Step], data: st.DataObject) -> None:
    """All of it is no refund; a part of it, in order, costs its own places, and never more than all."""
    found = chain(wanted, Fraction(100))
    assert found is not None
    assert found.charge(wanted) == found.total
    executed = [step.times(data.draw(st.integers(1, step.count))) for step in wanted if data.draw(st.booleans())]
    assert found.charge(executed) <= found.total
    assert found.charge(()) == 0
    zero = Chain.at_zero(wanted)
    assert zero.charge(executed) == sum(step.count * price(step, 0) for step in executed)
    assert zero.charge(executed[::-1]) == zero.charge(executed)


def test_the_first_places_of_equal_steps_are_charged() -> None:
    found = some_chain(Step.pure("0.2", count=3), free=Fraction("0.16"))
    first, second, third = (part.price for part in found.parts for _ in range(part.step.count))
    assert first < second < third
    assert found.charge([Step.pure("0.2", count=2)]) == first + second


def test_another_order_has_no_price() -> None:
    found = some_chain(Step.bounded_range("0.4"), Step.bounded_range("0.2"))
    assert found.charge([Step.bounded_range("0.2")]) == found.parts[1].price
    assert found.charge([Step.bounded_range("0.2"), Step.bounded_range("0.4")]) == found.total
    assert not found.has_price([Step.bounded_range("0.2"), Step.bounded_range("0.4")])
    assert found.has_price([Step.bounded_range("0.4"), Step.bounded_range("0.2")])
    assert found.has_price([Step.bounded_range("0.4")])
    assert found.has_price([])


def test_steps_that_were_not_reserved_have_a_price_only_where_a_whole_mechanism_was() -> None:
    """Nine selections of .1 cost less than one of .3 that took their place, with nothing left after it."""
    nine, one = Step.bounded_range("0.1", count=9), Step.bounded_range("0.3")
    needed = chains_that_just_fits(nine)
    assert needed.charge([one]) == needed.total < price(one, 0)
    assert not needed.has_price([one])
    assert float(bounded_range_profile(0.3, 0)) > 1.1 * float(profile(float(needed.total), 0))
    whole = some_chain(Step.pure("0.1"), Step.pure("0.3"))
    assert whole.has_price([Step.pure("0.1"), one])
    assert whole.charge([Step.pure("0.1"), one]) == whole.total > price(one, 0)
    assert not whole.has_price([Step.pure("0.3"), Step.pure("0.1")])


def chains_that_just_fits(wanted: Step) -> Chain:
    """The chain of the smallest budget that holds these steps."""
    low, high = Fraction(0), Chain.at_zero([wanted]).total
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if chain([wanted], middle) is None else (low, middle)
    return some_chain(wanted, free=high)


def test_gaussian_steps_may_come_later_and_in_parts_but_not_earlier() -> None:
    noise, selection = Step.gaussian("0.02"), Step.bounded_range("0.1", count=2)
    found = some_chain(noise, selection)
    later = [selection.times(1), Step.gaussian("0.01"), selection.times(1), Step.gaussian("0.005")]
    cost = found.parts[1].total + Fraction("0.015")
    assert sum(part.total for part in found.parts[1:]) + Fraction("0.015") == found.charge(later) >= cost
    assert not found.has_price([Step.gaussian("0.03")])
    earlier = some_chain(selection, noise)
    # Once noise was drawn that was reserved for the end, the selections have lost the remainder of their price.
    assert not earlier.has_price([noise, selection])


def test_lists_for_groups_cost_as_many_selections_as_ran_whichever_list_they_are_of() -> None:
    """Each list is selections and then noise: noise between them is reserved first, so no selection loses its place."""
    selections, noise = Step.bounded_range("0.1", count=5), Step.gaussian("0.02")
    found = some_chain(selections, noise, selections, noise)
    assert [part.step.kind == "gaussian" for part in found.parts] == [True, *[False] * (len(found.parts) - 2), True]
    short_and_long = found.charge([selections.times(1), noise, selections, noise])
    assert short_and_long == found.charge([selections, noise, selections.times(1), noise])
    assert short_and_long == found.charge([selections.times(6), noise, noise])
    assert short_and_long < found.charge([selections, noise, selections.times(2), noise])


@pytest.mark.parametrize("counted", [True, False])
def test_no_user_s_lists_cost_more_than_the_costliest(counted: bool) -> None:
    """Three groups, of which a user is in any two: what is settled covers the places that their lists take."""

    def own(length: int) -> tuple[Event, ...]:
        return (Selection("0.1"),) * length + ((GaussianNoise(30, sensitivity_squared=length),) if counted else ())

    longest = 4
    # So little is free that places have different prices.
    reserved = steps_of(own(longest) * 2)
    found = some_chain(*reserved, free=Chain.at_zero(reserved).total)
    assert len({part.node for part in found.parts if part.step.kind != "gaussian"}) > 1
    for lengths in product(range(1, longest + 1), repeat=3):
        lists = dict(zip("abc", map(own, lengths), strict=True))
        settled = found.charge(steps_of(costliest(lists, 2)))
        for first, second in permutations("abc", 2):
            assert found.charge(steps_of(lists[first] + lists[second])) <= settled
    # The largest refund is that of the shortest lists.
    assert found.charge(steps_of(own(1) * 2)) < found.charge(steps_of(own(longest) * 2)) == found.total


def test_lists_of_unequal_steps_for_groups_are_priced_at_node_zero() -> None:
    """Settled is the costliest list, and another may have run: at higher nodes its places could cost more."""
    first, second = Step.bounded_range("0.1"), Step.bounded_range("0.2")
    one = some_chain(first, second)
    several = some_chain(first, second, first, second)
    assert not one.any_order
    assert several.any_order
    assert several == Chain.at_zero([first, second, first, second])
    assert several.charge([first, first, second]) == several.charge([first, second, first])


def test_a_chain_with_one_higher_price_has_an_order() -> None:
    found = some_chain(Step.bounded_range("0.1", count=98))
    assert {part.node for part in found.parts} > {0}
    assert not found.any_order
    assert Chain.at_zero([Step.bounded_range("0.1", count=98)]).any_order


def test_a_session_is_priced_at_node_zero() -> None:
    wanted = [Step.bounded_range("0.1", count=2), Step.gaussian("0.02")]
    session = chain(wanted, TOTAL, one_shot=False)
    assert session == Chain.at_zero(wanted)
    assert session.any_order
    assert not some_chain(*wanted).any_order
    assert session.total > some_chain(*wanted).total
    assert chain(wanted, session.total, one_shot=False) == session
    assert chain(wanted, session.total - Fraction(1, 10**12), one_shot=False) is None


def test_a_chain_is_written_and_read() -> None:
    found = some_chain(Step.bounded_range("0.1", count=5), Step.gaussian("1/3"), Step.pure("0.2"), free=Fraction(1))
    assert Chain.from_json(found.to_json()) == found
    assert Chain.from_json(Chain(()).to_json()) == Chain(())
    for wrong in ("", "[]", '{"version":2,"parts":[]}', '{"version":1,"parts":[["pure","1",1,0]]}', '{"version":1}'):
        with pytest.raises(InvalidArgument):
            Chain.from_json(wrong)


def test_prices_are_looked_up_and_not_computed_when_a_call_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    found = some_chain(Step.bounded_range("0.1", count=98))
    monkeypatch.setattr(chains, "price", None)
    assert found.charge([Step.bounded_range("0.1", count=98)]) == found.total

"""The private choice of a clip: what it costs, what one user can do to it, and the rule."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from tests.support.measures import bucket_of, clip_histograms, user_histograms

from podium.errors import InvalidArgument
from podium.mechanisms.measures.amounts import Amounts, Totals, estimate_amounts, estimate_totals
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION, ClipChoice
from podium.privacy import GaussianNoise
from podium.randomness.replay import ReplayableBits

PAIRS = (400.0, 900.0, 1500.0, 1200.0, 600.0, 200.0, 20.0, 5.0)
USERS = (300.0, 700.0, 1500.0, 1500.0, 700.0, 120.0)


def test_the_example_of_the_rule() -> None:
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    assert amounts.pairs == (*PAIRS[:6], 0.0, 0.0)
    assert amounts.total == 138543.4375


def found_by_hand(clip: int, noise: float, k: int) -> float:
    """The same from single amounts: .75 of a bucket's end for each pair of it, 1 in the first bucket."""
    amounts = [max(1.0, 0.75 * (1 << j)) for j in range(6)]
    all_of_them = sum(number * amount for number, amount in zip(PAIRS, amounts, strict=False))
    left = sum(number * min(amount, clip) for number, amount in zip(PAIRS, amounts, strict=False))
    kept, kth = left / all_of_them, 138543.4375 / (10 * k)
    return (1 - 0.03 * (1 - kept) ** 2) / (1 + (noise * clip / (kept * kth)) ** 3)


@pytest.mark.parametrize(("noise", "clip"), [(1, 32), (5, 8), (20, 4), (50, 1), (300, 1), (1e9, 1)])
def test_the_more_noise_the_smaller_the_clip(noise: float, clip: int) -> None:
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    found = [amounts.found(1 << j, k=20, noise=noise) for j in range(8)]
    assert found == pytest.approx([found_by_hand(1 << j, noise, 20) for j in range(8)], rel=1e-9)
    assert amounts.clip_for_list(k=20, noise=noise) == clip == 1 << found.index(max(found))


def test_no_noise_is_too_much() -> None:
    """Nothing that rows decide may make a question fail that is paid."""
    for amounts in (estimate_amounts(PAIRS, USERS, 10.0), estimate_totals(PAIRS, USERS, 10.0)):
        assert amounts.clip_for_list(k=20, noise=1e250) <= 2**7
        assert amounts.clip_for_list(k=20, noise=1e60) == 1


def test_measuring_takes_a_larger_clip_than_selecting() -> None:
    """What is clipped is missing from a value in full, but from all places of a list alike."""
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    for noise in (5.0, 20.0, 50.0, 300.0):
        assert amounts.clip_for_list(k=20, noise=noise) < amounts.clip_for_values(k=20, noise=noise)


def test_a_long_list_is_not_clipped_less() -> None:
    """Its last sums are smaller, and noise hides them sooner."""
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    clips = [amounts.clip_for_list(k=k, noise=5.0) for k in (1, 5, 20, 100, 1000, 10**6)]
    assert clips == sorted(clips, reverse=True)
    assert clips[0] > clips[-1] == 1


@pytest.mark.parametrize("pairs", [PAIRS, (0.0,) * 8])
def test_a_clip_of_1_where_nothing_stands_out(pairs: tuple[float, ...]) -> None:
    for amounts in (
        estimate_amounts(pairs, USERS, 1e6),
        estimate_amounts((0.0,) * 8, USERS, 1.0),
        estimate_amounts(pairs, (0.0,) * 6, 1.0),
        estimate_totals((0.0,) * 8, pairs, 1.0),
    ):
        assert amounts.clip_for_list(k=3, noise=1.0) == amounts.clip_for_values(k=3, noise=1.0) == 1


def test_what_may_be_noise_is_dropped() -> None:
    """An entry counts if it is the largest and stands out, or beside one that counts, or stands out by far."""
    amounts = estimate_amounts((31.0, 24.0, 26.0, 90.0, 40.0, 24.0, 31.0, 26.0, 52.0, 26.0), (39.0, 20.0), 10.0)
    assert amounts.pairs == (0.0, 0.0, 26.0, 90.0, 40.0, 0.0, 31.0, 26.0, 52.0, 26.0)
    assert amounts.users == (0.0, 0.0)


def test_longer_users_add_more() -> None:
    """300 users of length 3 who add 3, and 100 of length 6, half of whom add 6 and the others 12."""
    found = Totals((0.0, 0.0, 300.0, 100.0), (0.0, 0.0, 600.0, 100.0, 100.0))
    assert found.total == 600 * 3 + 100 * 6 + 100 * 12
    assert found.kept(8) == 1
    assert found.kept(4) == pytest.approx((6 * 3 + 1 * 6 * 4 / 6 + 1 * 12 * 4 / 6) / (6 * 3 + 6 + 12))
    assert found.kept(1) == pytest.approx((6 * 1 + 1 + 2) / 36)


def test_lengths_leave_more_than_their_share() -> None:
    """At a small clip a user's amounts are alike, and a vector of one length has a larger sum."""
    lengths, totals = (0.0, 100.0, 300.0, 100.0), (0.0, 100.0, 300.0, 100.0)
    found = Totals(lengths, totals)
    for clip in (1, 2, 4, 8):
        kept = found.kept(clip)
        kth = kept * (2 - kept) * found.total / 10
        by_hand = (1 - 0.03 * (1 - kept) ** 2) / (1 + (30 * clip / kth) ** 3)
        assert found.found(clip, k=1, noise=30) == pytest.approx(by_hand, rel=1e-9)


def test_the_weight_of_a_pair_in_rounds() -> None:
    assert Amounts((1.0,), (5.0,)).spread == 1.0
    assert Amounts((1.0,), (0.0, 0.0, 0.0, 5.0)).spread == pytest.approx(6**-0.5)
    assert Amounts((0.0,), (0.0,)).spread == 1.0


def test_buckets() -> None:
    assert [bucket_of(amount) for amount in (1, 2, 3, 4, 5, 8, 9, 2**39, 2**39 + 1, 2**40, 2**70)] == [
        0, 1, 2, 2, 3, 3, 4, 39, 40, 40, 40
    ]  # fmt: skip


def test_one_user_moves_the_histograms_by_less_than_the_claim() -> None:
    """Squared length at most 2, attained by users whose amounts are alike."""
    claimed = ClipChoice(1).event.sensitivity_squared
    found = []
    for size in range(1, 5):
        for amounts in itertools.combinations_with_replacement((1, 2, 3, 9), size):
            parts, users = user_histograms(amounts)
            found.append(sum(Fraction(part, RESOLUTION) ** 2 for part in parts) + sum(number**2 for number in users))
    assert max(found) == claimed == 2
    # Pairs that are not shares of their user move further than that.
    assert sum(number**2 for number in (4, 0)) + 1 > claimed


def test_what_it_costs() -> None:
    choice = ClipChoice("0.0003")
    event = choice.event
    assert event == GaussianNoise(choice.sigma, sensitivity_squared=2)
    assert choice.rho * (1 - Fraction(1, 10**8)) < event.rho == 1 / choice.sigma**2 <= choice.rho


def test_a_release_is_an_exact_draw_that_can_be_replayed() -> None:
    choice, table = ClipChoice("0.5", buckets=6), [{"a": 3, "b": 4}] * 400 + [{"a": 1}] * 100
    histograms = clip_histograms(table, 6)
    assert histograms == ((100 * RESOLUTION, 0, 400 * RESOLUTION, 0, 0, 0), (100, 400, 0, 0, 0, 0))
    pairs, users = choice.noisy(histograms, bits=ReplayableBits(1))
    assert pairs[2] != 400
    assert abs(pairs[2] - 400) < 15
    assert abs(users[0] - 100) < 15
    amounts = choice.release(histograms, bits=ReplayableBits(1))
    assert amounts.pairs[0] == float(pairs[0])
    assert amounts.clip_for_list(k=1, noise=0.1) == 4


def test_nothing_is_known_of_an_empty_table() -> None:
    assert clip_histograms([]) == ((0,) * BUCKETS, (0,) * BUCKETS)
    for seed in range(20):
        amounts = ClipChoice("0.01").release(clip_histograms([]), bits=ReplayableBits(seed))
        assert amounts.clip_for_list(k=10, noise=5.0) <= 2**40


def test_what_is_refused() -> None:
    for arguments, name in (((0,), "rho"), (("x",), "rho")):
        with pytest.raises(InvalidArgument, match=name):
            ClipChoice(*arguments)
    for buckets in (0, 42):
        with pytest.raises(InvalidArgument, match="buckets"):
            ClipChoice(1, buckets=buckets)
    with pytest.raises(InvalidArgument, match="41 buckets"):
        ClipChoice(1).noisy(((0,), (0,)))

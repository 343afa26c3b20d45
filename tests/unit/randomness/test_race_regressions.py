"""What once went wrong: sizes beyond floats, overflow, bits that never make progress, unsound platforms."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from scipy import stats

from podium.errors import EntropyFailure, InvalidArgument
from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness import bernoulli_exp, choose, discrete_gaussian, geometric, noisy_values, race
from podium.randomness.bits import SecureBits
from podium.randomness.candidates import exact_integers
from podium.randomness.grouping import Grouping, group_equal
from podium.randomness.integers import distinct_below
from podium.randomness.noise import NOISES, NoiseName, exponential_bounds, float_stage_is_sound
from podium.randomness.replay import ConstantBits, ReplayableBits


@pytest.mark.parametrize("name", NOISES)
def test_more_members_than_a_float_can_count(name: NoiseName) -> None:
    """log(10^900) = 2072 beats a score of 2000 by far, behind 300 scores that are all ahead of it without noise."""
    scores, sizes = [2000 + i % 7 for i in range(300)] + [0], [1] * 300 + [10**900]
    for seed in range(10):
        assert race(scores, k=1, multiplicities=sizes, noise=name, bits=ReplayableBits(seed)).groups == (300,)


def test_distances_that_overflow_in_noise_units() -> None:
    scores = [10**300, 0, -(10**300), 10**300 + 1]
    assert race(scores, k=4, scale=Fraction(1, 10**60)).groups == (3, 0, 1, 2)
    many = [-(10**300)] * 3 + list(range(300))
    assert set(race(many, k=2, scale=Fraction(1, 10**60)).groups) == {301, 302}


def test_distances_near_the_ends_of_64_bit_integers() -> None:
    for dtype, low, high in ((np.int64, -(2**63), 2**63 - 1), (np.uint64, 0, 2**64 - 1)):
        scores = np.array([low, high, low + 1, high - 1] * 400, dtype=dtype)
        finish = race(scores, k=800, scale=Fraction(1, 1000), bits=ReplayableBits(1))
        assert Counter(int(scores[i]) for i in finish.groups) == {high: 400, high - 1: 400}
    inside, unit = exact_integers([2**62 - 1, -(2**62) + 1])
    assert inside.dtype == np.int64
    assert unit == 1
    assert exact_integers([2**62, 0])[0].dtype == object
    assert exact_integers([0, -(2**62)])[0].dtype == object


def test_laplace_noise_at_its_joint() -> None:
    """Balls around log 2, where the two branches of the quantile meet, enclose both."""
    quantile = NOISES["laplace"].from_rate_ball
    with ball_precision(100):
        log2 = flint.arb(2).log()
        assert quantile(log2).contains(flint.arb(0))
        assert abs(quantile(log2)) < flint.arb(2) ** -90
        wide = log2 + flint.arb(0, flint.arb(2) ** -40)
        for inside in (log2 - flint.arb(2) ** -41, log2, log2 + flint.arb(2) ** -41):
            assert quantile(wide).contains(quantile(inside))


def test_the_key_stream_is_read_under_the_lock() -> None:
    """Two threads that advanced it at once could be given the same bits."""
    source = SecureBits()
    source.read(1)
    inner, held = source._stream, []

    class Spy:
        def update_into(self, data: Any, out: Any) -> None:
            held.append(source._lock.locked())
            assert inner is not None
            inner.update_into(data, out)

    source._stream = Spy()  # type: ignore[assignment]
    source.words(1 << 15)
    assert held == [True] * 4


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_rejection_on_constant_bits_ends(byte: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.randomness.integers._TRIES", 16)  # 256 take a few seconds
    bits = ConstantBits(byte)
    grouping = Grouping(np.arange(4000) % 2, 0, 8000)
    for limit in (1000, 1024, 2**64, 2**80):
        with pytest.raises(EntropyFailure, match="rejected"):
            distinct_below(limit, 3, bits)
    with pytest.raises(EntropyFailure, match="rejected"):
        grouping.random_positions([0, 0], bits)


def test_exponents_and_variances_beyond_floats() -> None:
    assert not bernoulli_exp(["1e400", "1e300"]).any()
    assert bernoulli_exp(["1e-400"] * 5).all()
    assert discrete_gaussian(variance="1e-400", size=4).tolist() == [0] * 4
    assert discrete_gaussian(variance="1e-320", size=4).tolist() == [0] * 4
    assert geometric(epsilon="1e400", size=3).tolist() == [0] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"handicaps": {-1: Fraction(1)}},
            ("handicaps, scales='a position outside the scores' is not valid. Allowed: positions of the scores."),
        ),
        (
            {"scales": {2: Fraction(1)}},
            ("handicaps, scales='a position outside the scores' is not valid. Allowed: positions of the scores."),
        ),
        ({"scales": {0: Fraction(0)}}, "scales=0 is not valid. Allowed: a number above 0."),
        (
            {"handicaps": {0: float("nan")}},
            "handicaps=nan is not valid. Allowed: an int, Fraction, Decimal, str or finite float.",
        ),
    ],
)
def test_bad_handicaps_and_scales(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        race([1, 2], k=1, **arguments)
    assert str(caught.value) == message


@contextmanager
def bad_functions() -> Iterator[None]:
    """A platform on which NumPy's functions are wrong by a third."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("log", "log1p", "exp", "expm1", "tanh"):
            patch.setattr(np, name, _wrong(getattr(np, name)))
        float_stage_is_sound.cache_clear()
        yield
    float_stage_is_sound.cache_clear()


def _wrong(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, **more: function(1.3 * np.asarray(x), **more)


def _everything(seed: int) -> list[Any]:
    bits = ReplayableBits(seed)
    scores = [(i * 37) % 11 for i in range(300)]
    return [
        *(race(scores, k=5, noise=name, gap_bits=20, value_bits=20, bits=bits) for name in NOISES),
        race([3, 1, 2], multiplicities=[2, 10**20, 7], k=6, bits=bits),
        choose(scores[:30], k=4, rate="1/3", bits=bits),
        noisy_values([1, 2, 3], scale=2, bits=bits),
        geometric(epsilon="0.1", size=20, bits=bits).tolist(),
        discrete_gaussian(variance=7, size=20, bits=bits).tolist(),
        bernoulli_exp(["0.5"] * 20, bits=bits).tolist(),
    ]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_platform_with_bad_functions_gives_the_same_answers(seed: int) -> None:
    assert float_stage_is_sound()
    expected = _everything(seed)
    with bad_functions():
        assert not float_stage_is_sound()
        assert _everything(seed) == expected


@pytest.mark.parametrize("head", [1, 12, 52])
def test_minus_log_v_in_balls(head: int) -> None:
    words = [0, 1, 2**12, 2**63, 2**63 - 1, 2**64 - 1, 2**64 - 2**13, 12345678901234567890]
    with bad_functions():
        low, high = exponential_bounds(np.array([words], dtype=np.uint64), head)
    with ball_precision(300):
        for word, below, above in zip(words, low[0], high[0], strict=True):
            digits, whole = word >> (64 - head), 1 << head
            assert above == np.inf if digits == 0 else Fraction(float(above)) >= rational_bounds(
                -(ball(Fraction(digits, whole)).log())
            )[1]  # fmt: skip
            assert below == 0.0 if digits + 1 == whole else Fraction(float(below)) <= rational_bounds(
                -(ball(Fraction(digits + 1, whole)).log())
            )[0]  # fmt: skip
            assert digits in {0, whole - 1} or above - below < 1e-12 + 1.5 / digits + 1.5 / (whole - digits)


def _uniform_pairs(sample: Callable[[ReplayableBits], tuple[int, ...]], outcomes: int, draws: int = 6000) -> float:
    bits = ReplayableBits(31)
    seen = Counter(sample(bits) for _ in range(draws))
    assert len(seen) <= outcomes
    found = np.array([*seen.values(), *[0] * (outcomes - len(seen))])
    return float(stats.chisquare(found).pvalue)


@pytest.mark.parametrize(("limit", "count"), [(5, 2), (6, 2), (5, 4), (4, 3), (7, 1)])
def test_ordered_choices_are_equally_likely(limit: int, count: int) -> None:
    outcomes = len(list(itertools.permutations(range(limit), count)))
    assert _uniform_pairs(lambda bits: tuple(distinct_below(limit, count, bits)), outcomes) > 1e-6


def test_choices_from_huge_ranges() -> None:
    for limit in (2**63, 2**64, 2**64 + 1, 3 * 2**70):
        drawn = distinct_below(limit, 200, ReplayableBits(1))
        assert len(set(drawn)) == 200
        assert all(0 <= number < limit for number in drawn)
        assert max(drawn) > limit * 9 // 10
        assert drawn != sorted(drawn)


@pytest.mark.parametrize("repeats", [1, 2000])
def test_rows_of_a_group_are_equally_likely(repeats: int) -> None:
    """Found by looking at random rows where the value is common, from the list of its rows where it is rare."""
    rare = [7, 7, 7, 7, 7, 1000, 1000]
    raw = np.array([*rare, *[3] * repeats, 10**12])
    grouping = Grouping(raw, 3, 5000)
    group = grouping.values.tolist().index(7)
    ordered = _uniform_pairs(lambda bits: tuple(grouping.random_positions([group] * 2, bits)), 20)
    assert ordered > 1e-6
    assert sorted(grouping.random_positions([group] * 5, ReplayableBits(2))) == [0, 1, 2, 3, 4]


def test_rows_of_the_smallest_value_are_not_those_beyond_the_table() -> None:
    """Rows too large for the table are looked up as the smallest value and must be struck out again."""
    raw = np.array([10**12, 0, 10**13, 0, *[5] * 4000, 10**14])
    grouping = Grouping(raw, 0, 100)
    assert grouping.values.tolist() == [0, 5, 10**12, 10**13, 10**14]
    assert sorted(grouping.random_positions([0, 0], ReplayableBits(3))) == [1, 3]
    assert grouping.random_positions([4, 2, 3], ReplayableBits(3)) == [4004, 0, 2]
    assert group_equal(raw) is not None


def test_several_groups_at_once() -> None:
    raw = np.array(([1] * 700 + [2] * 700 + [9] * 2 + [8] * 3) * 2)
    grouping = group_equal(raw)
    assert grouping is not None
    wanted = [0, 1, 3, 2, 0, 3, 1, 2, 3, 3, 0]
    for seed in range(20):
        rows = grouping.random_positions(wanted, ReplayableBits(seed))
        assert [int(raw[row]) for row in rows] == [int(grouping.values[group]) for group in wanted]
        assert len(set(rows)) == len(rows)

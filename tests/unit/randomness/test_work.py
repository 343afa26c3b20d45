"""The work of a release is bounded by public numbers: tiny epsilons and large groups draw no more than others."""

from __future__ import annotations

import pytest

from podium.histogram import Histogram
from podium.mechanisms import GaussianSparseHistogram, NoisyTopK, TruncatedGaussianHistogram
from podium.randomness import partial_sample, race
from podium.randomness.bits import Words
from podium.randomness.replay import ReplayableBits

K = 300


class CountedBits:
    """Replayable bits that count what is drawn."""

    def __init__(self, seed: int) -> None:
        self._bits = ReplayableBits(seed)
        self.drawn = 0

    def read(self, size: int) -> bytes:
        self.drawn += size
        return self._bits.read(size)

    def words(self, count: int) -> Words:
        self.drawn += 8 * count
        return self._bits.words(count)


@pytest.fixture
def logarithms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry, how many digits, for each random number whose logarithm was enclosed in balls."""
    seen: list[int] = []
    plain = partial_sample._exponential_ends

    def counted(digits: int, count: int) -> tuple[object, object]:
        seen.append(count)
        return plain(digits, count)

    monkeypatch.setattr(partial_sample, "_exponential_ends", counted)
    return seen


def gaps_of_a_large_group(epsilon: str) -> int:
    """300 places of 2^40 items that nobody has: all of them order statistics of one group."""
    bits = CountedBits(5)
    release = NoisyTopK(K, epsilon).release(Histogram({1: 4, 2: 3}, domain_size=2**40), bits=bits)
    assert len(release.values or ()) == K
    return bits.drawn


@pytest.mark.parametrize("epsilon", ["1e-18", "1e-300"])
def test_a_tiny_epsilon_takes_no_more_work(epsilon: str, logarithms: list[int]) -> None:
    usual = gaps_of_a_large_group("0.5")
    seen = len(logarithms)
    assert gaps_of_a_large_group(epsilon) <= 3 * usual
    assert len(logarithms) - seen <= 2 * K
    assert max(logarithms, default=0) <= 208


def test_places_of_one_group_share_their_sums(logarithms: list[int]) -> None:
    """A grid too fine for floats sends every place to the exact stage; one logarithm a draw, not one a draw and place.

    With sums of their own the 300 places would ask for about 90,000.
    """
    bits = ReplayableBits(6)
    finish = race([0], k=K, scale=1, noise="exponential", multiplicities=[2**40], gap_bits=80, bits=bits)
    assert len(finish.gaps) == K
    assert K <= len(logarithms) <= 4 * K


@pytest.mark.parametrize("sigma", [10, 10**20, 10**300])
@pytest.mark.parametrize("delta", ["0.999", "0.1"])
def test_cut_off_counts_of_any_sigma_are_decided_early(sigma: int, delta: str, logarithms: list[int]) -> None:
    """10^9 items of one user each, of which a share of at most delta passes: the work is that of who passes."""
    stage = TruncatedGaussianHistogram(sigma=sigma, delta=delta, max_items_per_user=1, k=200)
    counts = Histogram.from_counts_of_counts({1: 10**9, 2: 200}, lambda count, rank: (count, rank), known=False)
    bits = CountedBits(7)
    assert len(stage.release(counts, bits=bits).items) == 200
    assert bits.drawn <= 40_000
    assert len(logarithms) <= 400


@pytest.mark.parametrize("sigma", [10, 10**20, 10**300])
def test_noisy_counts_of_any_sigma_are_decided_early(sigma: int, logarithms: list[int]) -> None:
    stage = GaussianSparseHistogram(sigma=sigma, delta="0.999", max_items_per_user=1)
    counts = Histogram.from_counts_of_counts({1: 200, 2: 200}, lambda count, rank: (count, rank), known=False)
    bits = CountedBits(7)
    stage.release(counts, bits=bits)
    assert bits.drawn <= 40_000
    assert len(logarithms) <= 400

"""Class sizes, blocks and proposals by brute force over all subsets, with and without ties across the cut."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from podium.histogram import Histogram
from podium.mechanisms.canonical.classes import Loss, Ranking, block_size
from podium.mechanisms.canonical.envelope import Envelope
from podium.mechanisms.canonical.rejection import Proposals

_SMALL = [(d, k) for d in range(2, 9) for k in range(1, d)]


def _class_of(subset: tuple[int, ...], k: int) -> tuple[int, int]:
    """(a, t) by looking: the ranks contained from the top, and the lowest rank."""
    a = next(a for a in range(k + 1) if a + 1 not in subset)
    return (a, max(subset)) if a < k else (k - 1, k)


def _tie_patterns(d: int) -> Iterator[list[int]]:
    """Every way in which d ranks can tie: descending scores with steps 0 or 1."""
    for steps in itertools.product((0, 1), repeat=d - 1):
        yield [sum(steps[i:]) for i in range(d)]


@pytest.mark.parametrize(("d", "k"), _SMALL)
def test_a_class_has_as_many_subsets_as_the_binomial_says(d: int, k: int) -> None:
    seen = Counter(_class_of(subset, k) for subset in itertools.combinations(range(1, d + 1), k))
    assert seen.pop((k - 1, k)) == 1
    assert seen == {
        (a, t): size for a in range(k) for t in range(k + 1, d + 1) if (size := math.comb(t - a - 2, k - 1 - a))
    }


@pytest.mark.parametrize(("d", "k"), _SMALL)
def test_a_block_has_as_many_subsets_as_its_classes_together(d: int, k: int) -> None:
    for pa, ta in itertools.product(range(k), range(k + 1, d + 1)):
        for pb, tb in itertools.product(range(pa, k), range(ta, d + 1)):
            classes = itertools.product(range(pa, pb + 1), range(ta, tb + 1))
            assert block_size(k, (pa, pb), (ta, tb)) == sum(math.comb(t - a - 2, k - 1 - a) for a, t in classes)


@pytest.mark.parametrize(("d", "k"), [(d, k) for d, k in _SMALL if d <= 7])
@pytest.mark.parametrize(("rise", "drop"), [(1, 1), (0, 1), (1, 0), (2, 1)])
def test_the_blocks_of_a_ranking_count_the_subsets_of_every_loss(d: int, k: int, rise: int, drop: int) -> None:
    loss = Loss(Fraction(rise), Fraction(drop))
    for scores in _tie_patterns(d):
        ranking = Ranking(Histogram(dict(enumerate(scores))).groups(), k)
        heads, tails = ranking.blocks(loss)
        counted: Counter[Fraction] = Counter({Fraction(0): 1})
        for (pa, pb, up), (ta, tb, down) in itertools.product(heads, tails):
            counted[loss.exact(up, down)] += block_size(k, (pa, pb), (ta, tb))
        seen: Counter[Fraction] = Counter()
        for chosen in itertools.combinations(range(d), k):
            worst = min(scores[i] for i in chosen)
            missed = max(scores[i] for i in range(d) if i not in chosen)
            seen[Fraction(rise * (max(worst, missed) - scores[k - 1]) + drop * (scores[k - 1] - worst))] += 1
        assert counted == seen
        assert counted.total() == math.comb(d, k)


@pytest.mark.parametrize(("a_free", "t_free"), list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize(("d", "k"), [(3, 1), (3, 2), (5, 2), (5, 4), (6, 3), (7, 3), (7, 4)])
def test_every_subset_of_a_rectangle_is_proposed_exactly_once(d: int, k: int, *, a_free: bool, t_free: bool) -> None:
    for pa, ta in itertools.product(range(k), range(k + 1, d + 1)):
        for pb, tb in itertools.product(range(pa, k), range(ta, d + 1)):
            plan = Proposals(k, (pa, pb), (ta, tb), a_free=a_free, t_free=t_free)
            heads = [None] if a_free else list(range(pa, pb + 1))
            tails = [None] if t_free else list(range(ta, tb + 1))
            draws = list(itertools.combinations(range(plan.room), plan.chosen))
            assert len(heads) * len(tails) == plan.copies
            found: Counter[tuple[int, ...]] = Counter()
            for a, t, drawn in itertools.product(heads, tails, draws):
                read = plan.read(a, t, np.array(drawn, dtype=np.int64))
                if read is not None:
                    subset = (*range(1, read[0] + 1), *read[2].tolist(), read[1])
                    assert _class_of(subset, k) == (read[0], read[1])
                    found[subset] += 1
            wanted = [
                subset
                for subset in itertools.combinations(range(1, d + 1), k)
                if pa <= _class_of(subset, k)[0] <= pb and ta <= _class_of(subset, k)[1] <= tb
            ]
            assert found == Counter(wanted)


@pytest.mark.parametrize(("d", "k"), [(2, 1), (4, 2), (6, 2), (6, 4), (7, 3)])
@pytest.mark.parametrize("step", [None, Fraction(3, 2)])
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1), Fraction(40)])
def test_an_envelope_covers_every_class_once_and_dominates_it(
    d: int, k: int, step: Fraction | None, rate: Fraction
) -> None:
    loss = Loss(rate, rate / 3, step)
    for scores in _tie_patterns(d):
        ranking = Ranking(Histogram(dict(enumerate(scores))).groups(), k)
        envelope = Envelope(ranking, loss)
        unit = math.exp(envelope.top) / 2**40
        assert envelope.weights[-1] * unit >= 1.0
        covered: list[tuple[int, int]] = []
        for index in range(len(envelope) - 1):
            (a0, a1), (t0, t1) = envelope.ranges(index)
            covered += itertools.product(range(a0, a1 + 1), range(t0, t1 + 1))
            plan = Proposals.of(envelope, index, k)
            best = min(loss.exact(*ranking.distances(a, t)) for a in range(a0, a1 + 1) for t in range(t0, t1 + 1))
            proposals = plan.copies * math.comb(plan.room, plan.chosen)
            assert proposals >= block_size(k, (a0, a1), (t0, t1))
            assert envelope.weights[index] * unit >= proposals * math.exp(-best)
        assert sorted(covered) == list(itertools.product(range(k), range(k + 1, d + 1)))

"""JointTopK: examples, costs, error texts, counting by hand, large domains and numbers beyond floats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bench.measure import peak_extra_bytes
from tests.support.refusals import check_refused_domains, check_refused_sizes, refusal, too_many

from podium.errors import EntropyFailure
from podium.histogram import Histogram, Scores
from podium.mechanisms import JointTopK
from podium.mechanisms.joint import sampler as joint_sampler
from podium.mechanisms.joint.sampler import Ladder, SequenceSampler, pieces_of
from podium.privacy.events import SetSelection
from podium.randomness.replay import ConstantBits, ReplayableBits
from podium.release import Release

_EXAMPLE = Histogram({"a": 9, "b": 7, "c": 6, "d": 3})


def _loss(sequence: tuple[str, ...], counts: dict[str, int]) -> int:
    best = sorted(counts.values(), reverse=True)
    return max(top - counts[item] for top, item in zip(best, sequence, strict=False))


def test_the_distribution_by_hand() -> None:
    counts = {"a": 9, "b": 7, "c": 6, "d": 3}
    # Two places, losses: ab 0, ac 1, ba 2, bc 2, ca 3, cb 3, ad 4, bd 4, cd 4, da db dc 6.
    weights = {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 6: 3}
    total = sum(size * math.exp(-0.25 * loss) for loss, size in weights.items())
    distribution = JointTopK(2, "0.5").distribution(_EXAMPLE)
    assert len(distribution) == 12
    for sequence in itertools.permutations("abcd", 2):
        assert distribution[sequence] == pytest.approx(math.exp(-0.25 * _loss(sequence, counts)) / total, abs=1e-14)
    assert sum(distribution.values()) == pytest.approx(1.0, abs=1e-14)


def test_one_place_is_the_exponential_mechanism_at_half_the_epsilon() -> None:
    distribution = JointTopK(1, 1).distribution(_EXAMPLE)
    weights = {item: math.exp(0.5 * count) for item, count in zip("abcd", (9, 7, 6, 3), strict=True)}
    assert distribution == pytest.approx({(item,): w / sum(weights.values()) for item, w in weights.items()}, abs=1e-14)


def test_every_place_can_be_asked_for() -> None:
    distribution = JointTopK(3, 2).distribution(Histogram({"a": 2, "b": 1, "c": 0}))
    assert len(distribution) == 6
    assert distribution["a", "b", "c"] / distribution["b", "a", "c"] == pytest.approx(math.e, abs=1e-12)
    assert distribution["a", "b", "c"] / distribution["c", "b", "a"] == pytest.approx(math.exp(2), abs=1e-12)


def test_a_loss_is_never_negative_and_ties_are_equal() -> None:
    distribution = JointTopK(2, 1).distribution(Histogram({"a": 4, "b": 2, "c": 2, "d": 2}))
    assert distribution["a", "b"] == distribution["a", "c"] == distribution["a", "d"] == max(distribution.values())
    assert distribution["b", "a"] == distribution["b", "c"] == distribution["d", "b"]
    flat = JointTopK(2, 5).distribution(Histogram.from_arrays(range(5), [0] * 5))
    assert list(flat.values()) == [pytest.approx(0.05, abs=1e-14)] * 20


def test_what_it_costs() -> None:
    mechanism = JointTopK(3, "0.3")
    assert mechanism.worst_case == (SetSelection("0.3"),)
    assert mechanism.guarantee.rho is not None
    assert mechanism.guarantee.rho < Fraction(9, 800)
    assert mechanism.guarantee.epsilon(delta=0) == Fraction(3, 10)


def test_a_release_is_a_ranked_list_with_its_receipt() -> None:
    release = JointTopK(2, "0.5").release(_EXAMPLE, bits=ReplayableBits(1))
    assert isinstance(release.outcome, tuple)
    assert len(set(release.outcome)) == 2
    assert release.complete
    assert release.ordered
    assert release.paid.events == (SetSelection("0.5"),)
    assert Release.from_json(release.to_json()) == release
    assert set(JointTopK(2, "0.5").release(_EXAMPLE).outcome) < set("abcd")


def test_a_large_epsilon_finds_the_top_k_in_order() -> None:
    assert JointTopK(3, 4000).release(_EXAMPLE).outcome == ("a", "b", "c")
    assert JointTopK(4, 4000).release(_EXAMPLE).outcome == ("a", "b", "c", "d")
    assert JointTopK(3, 8000, monotone=False).release(_EXAMPLE).outcome == ("a", "b", "c")


def test_counting_agrees_with_listing() -> None:
    for counts in ((5, 3, 3, 2, 0), (1, 1, 1, 0, 0), (7, 7, 4, 4, 4), (2, 2, 2, 2, 2), (90, 31, 9, 2, 1)):
        for k in range(1, 6):
            ladder = Ladder(Histogram(dict(enumerate(counts))).groups(), k)
            assert ladder.bottom == counts[0] - counts[-1]
            losses = [
                max(top - counts[i] for top, i in zip(counts, chosen, strict=False))
                for chosen in itertools.permutations(range(5), k)
            ]
            for allowance in range(ladder.bottom + 2):
                within = sum(loss <= allowance for loss in losses)
                assert ladder.count(allowance) == math.prod(ladder.choices(allowance)) == within
                assert ladder.log_counts([allowance])[0] == pytest.approx(math.log(within), abs=1e-12)


def test_pieces_cover_every_allowance_once() -> None:
    rng = np.random.default_rng(5)
    for rate in (Fraction(1, 1000), Fraction(1, 3), Fraction(50)):
        ladder = Ladder(Histogram.from_arrays(range(80), rng.integers(0, 500, 80)).groups(), 9)
        pieces = sorted(pieces_of(ladder, rate), key=lambda piece: piece.first)
        assert [piece.first for piece in pieces] == [0, *(piece.last + 1 for piece in pieces[:-1])]
        assert pieces[-1].last == ladder.bottom - 1
        assert all(piece.low <= piece.high for piece in pieces)


def test_proposals_are_seldom_rejected_and_few() -> None:
    """What is proposed exceeds what is accepted by a small factor, and the pieces do not grow with the counts."""
    rng = np.random.default_rng(6)
    for largest in (10**3, 10**6, 10**9):
        ladder = Ladder(Histogram.from_arrays(range(2000), rng.integers(0, largest, 2000)).groups(), 50)
        for rate in (Fraction(100, largest), Fraction(1), Fraction(1, largest)):
            pieces = pieces_of(ladder, rate)
            tail = ladder.log_counts([ladder.bottom])[0] - float(ladder.bottom * rate) - math.log(min(float(rate), 1.0))
            proposed = float(np.logaddexp.reduce([tail, *(piece.high for piece in pieces)]))
            accepted = float(np.logaddexp.reduce([tail, *(piece.low for piece in pieces)]))
            assert proposed - accepted < 1.2
            assert len(pieces) < 500


def test_a_domain_of_which_nearly_everything_is_unseen() -> None:
    few = Histogram({3: 50, 7: 20, 10**11: 90}, domain_size=10**12)
    assert JointTopK(3, 100).release(few).outcome == (10**11, 3, 7)
    outcome: Any = JointTopK(1000, 5000).release(few).outcome
    assert outcome[:3] == (10**11, 3, 7)
    assert len(set(outcome)) == 1000
    assert all(isinstance(item, int) and 0 <= item < 10**12 for item in outcome)
    # Three seen items cannot stand out against 10^24 pairs at a small epsilon.
    assert not {3, 7, 10**11} & set(JointTopK(2, "1/10").release(few).outcome)


@pytest.mark.parametrize("size", [2**61 - 1, 2**62 + 1, 10**30, 2**900])
def test_domains_beyond_every_machine_word(size: int) -> None:
    few = Histogram({3: 90, 7: 90}, domain_size=size)
    outcome: Any = JointTopK(4, 2000).release(few, bits=ReplayableBits(7)).outcome
    assert set(outcome[:2]) == {3, 7}
    assert all(isinstance(item, int) and 0 <= item < size for item in outcome)


def test_scores_beyond_every_float() -> None:
    scores = Scores({"a": 10**400, "b": 10**399, "c": Fraction(1, 10**300), "d": 0}, sensitivity=1)
    assert JointTopK(2, 1).release(scores).outcome == ("a", "b")
    close = Scores({"a": 2**70 + 1, "b": 2**70, "c": -(2**70)}, sensitivity="1e-20")
    assert JointTopK(3, 1).release(close).outcome == ("a", "b", "c")
    assert JointTopK(3, "1e-1000").release(close).complete
    assert JointTopK(3, "1e1000").release(close).outcome == ("a", "b", "c")


def test_a_thousand_places_among_a_million_ties_and_among_netflix_like_counts() -> None:
    tied = Histogram.from_counts_of_counts({7: 10**6, 6: 10**7}, lambda count, rank: (count, rank))
    outcome: Any = JointTopK(1000, 6000).release(tied, bits=ReplayableBits(3)).outcome
    assert len(set(outcome)) == 1000
    assert {count for count, _ in outcome} == {7}
    rng = np.random.default_rng(3)
    counts = rng.zipf(1.3, 17770) % 100_000
    histogram = Histogram.from_arrays(range(17770), counts)
    mechanism = JointTopK(1000, "0.05")
    assert len(set(mechanism.release(histogram).outcome)) == 1000
    assert peak_extra_bytes(lambda: mechanism.release(histogram)) < 8 * 17770 * 1000 / 10


def test_error_texts() -> None:
    wrong: Any = JointTopK
    assert refusal(lambda: wrong(0, 1)) == "k=0 is not valid. Allowed: an integer, 1 or more."
    assert refusal(lambda: wrong(2, 0)) == "epsilon=0 is not valid. Allowed: a number above 0."
    assert refusal(lambda: wrong(2, 1, monotone=1)) == "monotone=1 is not valid. Allowed: True or False."
    check_refused_domains(JointTopK, _EXAMPLE, 5, too_many(5, 4))
    check_refused_sizes(JointTopK)
    assert refusal(lambda: JointTopK(2, 1).density(_EXAMPLE, ("a", "b"), [1])).startswith("values=")


def test_broken_bits_release_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = Ladder(Histogram({0: 9, 1: 5}, domain_size=9).groups(), 2)
    sampler = SequenceSampler(ladder, Fraction(1, 4))
    with pytest.raises(EntropyFailure):
        sampler.draw(ConstantBits(255))
    monkeypatch.setattr(joint_sampler, "_TRIES", 0)
    with pytest.raises(EntropyFailure) as caught:
        sampler.draw(ReplayableBits(1))
    assert str(caught.value) == (
        "A sampler that accepts every few proposals rejected 0 in a row, which sound bits do not do. "
        "Nothing was released. Check the system's entropy (os.urandom)."
    )

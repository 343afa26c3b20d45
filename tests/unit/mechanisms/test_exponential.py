"""ExponentialTopK and ExponentialWithGap: numbers of the formulas, receipts, densities, error texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from tests.support.refusals import UNKNOWN_DOMAIN, refusal, too_many

from podium.errors import InvalidArgument
from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
from podium.privacy.events import BottomEvent, PureMechanism, Selection
from podium.randomness import BitSource
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM, Release

H = Histogram({0: 3, 1: 1, 2: 0})


def test_the_distribution_has_the_value_of_the_formulas() -> None:
    distribution = ExponentialTopK(2, "0.5").distribution(H)
    assert distribution[0, 1] == pytest.approx(0.391235433579705, abs=5e-16)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)
    assert len(distribution) == 6


def test_the_span_divides_epsilon_once() -> None:
    """Counts that move both ways are counts at half the epsilon; scores of sensitivity s likewise, in units of s."""
    half = ExponentialTopK(2, "0.25").distribution(H)
    assert ExponentialTopK(2, "0.5", monotone=False).distribution(H) == half
    assert ExponentialTopK(2, "0.5").distribution(Scores({0: 6, 1: 2, 2: 0}, sensitivity=2)) == half
    one_sided = Scores({0: 6, 1: 2, 2: 0}, rises_by=2, falls_by=0)
    assert ExponentialTopK(2, "0.5").distribution(one_sided) == ExponentialTopK(2, "0.5").distribution(H)
    assert ExponentialWithGap("0.5", monotone=False).distribution(H) == ExponentialWithGap("0.25").distribution(H)


def test_receipts_top_k() -> None:
    mechanism = ExponentialTopK(2, "0.1")
    release = mechanism.release(H, bits=ReplayableBits(1))
    assert release.paid.events == (Selection("0.1"),) * 2 == mechanism.worst_case
    assert release.paid.epsilon == mechanism.guarantee.epsilon() == Fraction(1, 5)
    assert release.paid.rho == 2 * Selection("0.1").rho < Fraction(1, 100) / 4
    assert release.ordered
    assert release.complete
    assert release.values is None
    assert Release.from_json(release.to_json()) == release


def test_receipts_with_gap() -> None:
    mechanism = ExponentialWithGap("0.1")
    release = mechanism.release(H, bits=ReplayableBits(1))
    assert release.paid.events == (PureMechanism("0.1"),)
    assert release.paid.rho == Fraction(1, 200), "a gap is out: the bounded-range constant does not hold"
    assert release.value_kind == "gaps"
    assert release.values is not None
    assert len(release.values) == 1
    assert (release.values[0] * 2**20).denominator == 1
    assert release.values[0] >= 0
    assert Release.from_json(release.to_json()) == release


def test_all_items_can_be_ranked() -> None:
    assert set(ExponentialTopK(3, 1).release(H, bits=ReplayableBits(3)).outcome) == {0, 1, 2}


def test_a_huge_domain_is_no_trouble() -> None:
    huge = Histogram({7: 2000}, domain_size=10**30)
    release = ExponentialTopK(2, 1).release(huge, bits=ReplayableBits(4))
    first, second = release.items
    assert first == 7
    assert isinstance(second, int)
    assert 0 <= second < 10**30
    gap = ExponentialWithGap(1).release(huge, bits=ReplayableBits(5)).values
    assert gap is not None
    assert abs(gap[0] - (2000 - Fraction(math.log(10**30)))) < 40
    assert ExponentialWithGap(1).gap_of(10**29, huge, bits=ReplayableBits(6))[0] < 40


def test_the_gap_density_is_the_logistic_one_in_counts() -> None:
    mechanism = ExponentialWithGap("0.5")
    theta = 1.5 - math.log(math.exp(0.5) + 1)
    for gap in (Fraction(0), Fraction(1, 3), Fraction(40)):
        z = gap / 2 - Fraction(theta)
        expected = 0.5 * math.exp(-z) / (1 + math.exp(-z)) ** 2
        assert mechanism.density(H, (0,), (gap,)) == pytest.approx(expected, rel=1e-14)
    assert mechanism.density(H, (0,), (-1,)) == 0.0


def test_the_density_integrates_to_the_distribution() -> None:
    mechanism = ExponentialWithGap("0.5")
    for item, probability in ((0, 0.7), (1, 0.2), (2, 0.1)):
        total = mpmath.quad(lambda g, i=item: mechanism.density(H, (i,), (float(g),)), [0, 4, 10, 40, 90])
        assert float(total) == pytest.approx(mechanism.distribution(H)[(item,)], abs=1e-12)
        assert float(total) == pytest.approx(probability, abs=0.1)


def test_the_density_of_far_away_gaps_keeps_its_accuracy() -> None:
    density = ExponentialWithGap(1).density(Histogram({0: 10**6, 1: 0}), (0,), (10**6 - 100,), exact=True)
    assert density.rel_accuracy_bits() > 40
    assert float(density.mid()) == pytest.approx(math.exp(-100), rel=1e-12)


def test_a_lone_item_has_no_gap() -> None:
    lone = Histogram({"only": 5})
    mechanism = ExponentialWithGap(1)
    assert mechanism.release(lone, bits=ReplayableBits(0)).values == ()
    assert mechanism.release_around(lambda _: "only", lone, bits=ReplayableBits(0)).values == ()
    assert mechanism.density(lone, ("only",), ()) == 1.0
    assert mechanism.distribution(lone) == {("only",): 1.0}
    assert ExponentialTopK(1, 1).distribution(lone) == {("only",): 1.0}


def test_the_black_box_is_asked_once_and_only_for_the_item() -> None:
    asked: list[KnownDomain] = []

    def sampler(domain: KnownDomain) -> int:
        asked.append(domain)
        return 2

    release = ExponentialWithGap(1).release_around(sampler, H, bits=ReplayableBits(2))
    assert asked == [H]
    assert release.outcome == (2,)
    assert release.paid.events == (PureMechanism(1),)
    assert release.value_kind == "gaps"


class _HeadThenBits:
    """A bit source whose first word is chosen, so that the refinement of a gap is really exercised."""

    def __init__(self, head: int) -> None:
        self._head = head
        self._rest = ReplayableBits(9)

    def read(self, size: int) -> bytes:
        return self._rest.read(size)

    def words(self, count: int) -> Any:
        words = self._rest.words(count).copy()
        words[0] = self._head
        return words


@pytest.mark.parametrize("head", [0, 2**64 - 1, 2**63, 12345])
def test_extreme_uniforms_still_give_a_gap_between_the_right_ends(head: int) -> None:
    """The first 64 digits leave an interval open; the gap of every number in it is known to floats."""
    bits: BitSource = _HeadThenBits(head)
    (gap,) = ExponentialWithGap("0.5").gap_of(0, H, bits=bits)
    odds = math.exp(1.5) / (math.exp(0.5) + 1)

    def ideal(top: int) -> float:
        return 2 * (math.log1p(odds * (1 - top / 2**64)) - math.log(top / 2**64))

    assert gap > ideal(head + 1) - 2.0**-19
    assert head == 0 or gap <= ideal(head) + 1e-12


ERRORS: list[tuple[Callable[[], object], str]] = [
    (lambda: ExponentialTopK(0, 1), "k=0 is not valid. Allowed: an integer, 1 or more."),
    (lambda: ExponentialTopK(1.5, 1), "k=1.5 is not valid. Allowed: an integer, 1 or more."),  # type: ignore[arg-type]
    (lambda: ExponentialTopK(1, 0), "epsilon_per_item=0 is not valid. Allowed: a number above 0."),
    (lambda: ExponentialTopK(1, -1), "epsilon_per_item=-1 is not valid. Allowed: a number above 0."),
    (
        lambda: ExponentialTopK(1, "x"),
        (
            "epsilon_per_item='x' is not valid. Allowed: an int, Fraction, Decimal, str or finite float. "
            "Write a number like '0.1' or '1e-6'."
        ),
    ),
    (lambda: ExponentialTopK(1, 1, monotone=1), "monotone=1 is not valid. Allowed: True or False."),  # type: ignore[arg-type]
    (
        lambda: ExponentialTopK(4, 1).release(H),
        too_many(4, 3),
    ),
    (
        lambda: ExponentialTopK(4, 1).distribution(H),
        too_many(4, 3),
    ),
    (
        lambda: ExponentialTopK(1, 1).release(Histogram({"a": 1}, known=False)),
        UNKNOWN_DOMAIN,
    ),
    (
        lambda: ExponentialTopK(9, 1).distribution(Histogram({}, domain_size=1000)),
        (
            "histogram='a domain of 1000 items' is not valid. Allowed: a domain on which at most 100000 outcomes are "
            "possible. An exact distribution lists every outcome; release() has no such limit."
        ),
    ),
    (lambda: ExponentialWithGap(0), "epsilon=0 is not valid. Allowed: a number above 0."),
    (
        lambda: ExponentialWithGap(1).release(Histogram({})),
        too_many(1, 0),
    ),
    (
        lambda: ExponentialWithGap(1).release_around(lambda _: "z", H),
        (
            "sampler='a sampler that drew something else' is not valid. "
            "Allowed: a sampler that draws an item of the domain."
        ),
    ),
    (lambda: ExponentialWithGap(1).gap_of("z", H), "item='z' is not valid. Allowed: an item of the domain."),
    (
        lambda: ExponentialWithGap(1).density(H, (0, 1), (1,)),
        "outcome=(0, 1) is not valid. Allowed: a tuple of one item.",
    ),
    (
        lambda: ExponentialWithGap(1).density(H, (0,), (1, 2)),
        "values=(1, 2) is not valid. Allowed: one gap, or none where the domain has one item.",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=range(len(ERRORS)))
def test_error_texts(call: Callable[[], object], text: str) -> None:
    assert refusal(call) == text


def test_unknown_items_outside_an_implicit_domain() -> None:
    huge = Histogram({7: 2}, domain_size=100)
    for item in (100, -1, "7"):
        with pytest.raises(InvalidArgument, match="Allowed: an item of the domain"):
            ExponentialWithGap(1).gap_of(item, huge)


def test_a_list_that_ends_pays_for_its_end() -> None:
    known = Histogram({"a": 500, "b": 1, "c": 0})
    ended = ExponentialTopK(3, 1, at_least=250).release(known)
    assert ended.outcome == ("a", BOTTOM)
    assert ended.paid.events == (Selection(1), BottomEvent(1))
    assert ended.guarantee == ExponentialTopK(3, 1).release(known).guarantee
    whole = ExponentialTopK(1, 1, at_least=250).release(known)
    assert (whole.outcome, whole.paid.events) == (("a",), (Selection(1),))
    with pytest.raises(InvalidArgument, match="at_least"):
        ExponentialTopK(1, 1, at_least=0)

"""Exact comparisons: a candidate's noisy score as an interval that shrinks with every digit revealed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import flint

from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness.noise import Noise
from podium.randomness.streams import Uniform

__all__ = ["Arrivals", "Contender", "exact_floor", "gap_floor", "is_positive", "rank_contenders", "value_floor"]

_GUARD_BITS = 64


class Arrivals:
    """The rates E_1 <= E_2 <= ... of a group's draws from the largest on: E_j sums -log(V_i)/(m - i + 1), i = 1..j.

    Sums are carried on from the last one that was wanted: all places of a large group together cost one logarithm per
    draw and number of digits, not one per draw and place.
    """

    __slots__ = ("_multiplicity", "_stream", "_sums", "_uniforms")

    def __init__(self, multiplicity: int, stream: Callable[[int], Uniform]) -> None:
        self._multiplicity = multiplicity
        self._stream = stream
        # One object per stream: a stream asked twice must go on with the same digits.
        self._uniforms: list[Uniform] = []
        self._sums: dict[int, tuple[list[flint.arb], list[flint.arb]]] = {}

    def ends(self, order: int, digits: int) -> tuple[flint.arb, flint.arb]:
        """Balls below and above E_order, knowing ``digits`` digits of every stream."""
        fast, slow = self._sums.setdefault(digits, ([], []))
        # Rounding is far below the width that the digits leave open, however many terms there are.
        with ball_precision(digits + _GUARD_BITS + order.bit_length()):
            for place in range(len(fast), order):
                low, high = _exponential_ends(self._uniform(place).digits(digits), digits)
                left = self._multiplicity - place
                fast.append(low / left + (fast[-1] if fast else 0))
                slow.append(high / left + (slow[-1] if slow else 0))
        return fast[order - 1], slow[order - 1]

    def _uniform(self, place: int) -> Uniform:
        if place == len(self._uniforms):
            self._uniforms.append(self._stream(place + 1))
        return self._uniforms[place]


class Contender:
    """offset + factor * Z, with Z the ``order``-th largest of a group's independent draws of the noise."""

    __slots__ = ("_arrivals", "_factor", "_noise", "_offset", "group", "order")

    def __init__(
        self,
        group: int,
        offset: Fraction,
        noise: Noise,
        arrivals: Arrivals,
        order: int = 1,
        *,
        factor: Fraction = Fraction(1),
    ) -> None:
        self.group: int = group
        self.order: int = order
        self._offset = offset
        self._noise = noise
        self._arrivals = arrivals
        self._factor = factor

    @classmethod
    def single(
        cls, group: int, offset: Fraction, noise: Noise, uniform: Uniform, *, factor: Fraction = Fraction(1)
    ) -> Contender:
        """The only member of a group, whose noise comes from this stream."""
        return cls(group, offset, noise, Arrivals(1, lambda _: uniform), factor=factor)

    def shifted(self, by: Fraction) -> Contender:
        """The same draw with ``by`` added: the streams are shared, not copied."""
        return Contender(self.group, self._offset + by, self._noise, self._arrivals, self.order, factor=self._factor)

    def precision(self, digits: int) -> int:
        """Bits of working precision at which rounding is far below the width of the interval."""
        return digits + _GUARD_BITS + (abs(int(self._offset)) | int(self._factor)).bit_length()

    def bounds(self, digits: int) -> tuple[flint.arb, flint.arb]:
        """Balls below and above the noisy score, knowing ``digits`` digits of every stream."""
        fast, slow = self._arrivals.ends(self.order, digits)
        offset, factor = ball(self._offset), ball(self._factor)
        return offset + factor * self._noise_at(slow), offset + factor * self._noise_at(fast)

    def _noise_at(self, rate: flint.arb) -> flint.arb:
        if rate.is_zero():
            return flint.arb.pos_inf()
        if not rate.is_finite():
            return flint.arb.neg_inf() if self._noise.lowest < 0 else flint.arb(0)
        return self._noise.from_rate_ball(rate)


def _exponential_ends(digits: int, count: int) -> tuple[flint.arb, flint.arb]:
    """-log V at the two ends of the interval that the first ``count`` digits leave open."""
    whole = 1 << count
    low = flint.arb(0) if digits + 1 == whole else _minus_log(digits + 1, whole)
    high = flint.arb.pos_inf() if digits == 0 else _minus_log(digits, whole)
    return low, high


def _minus_log(top: int, whole: int) -> flint.arb:
    if 2 * top > whole:
        return -(ball(Fraction(top - whole, whole))).log1p()
    return -(ball(Fraction(top, whole))).log()


def _refinements(start: int) -> Iterator[int]:
    digits = 2 * start
    while True:
        yield digits
        digits *= 2


def _compare(start: int, a: Contender, b: Contender) -> int:
    """-1 if ``a`` is ahead of ``b``, 1 if behind; never 0, because ties have probability 0."""
    if a.group == b.group:
        return a.order - b.order
    for digits in _refinements(start):
        with ball_precision(max(a.precision(digits), b.precision(digits))):
            (a_low, a_high), (b_low, b_high) = a.bounds(digits), b.bounds(digits)
            if a_low > b_high:
                return -1
            if b_low > a_high:
                return 1
    raise AssertionError("unreachable: the streams end first")


def rank_contenders(contenders: Iterable[Contender], start: int) -> list[Contender]:
    """The contenders from the largest noisy score to the smallest, decided exactly."""
    return sorted(contenders, key=functools.cmp_to_key(functools.partial(_compare, start)))


def exact_floor(
    bounds: Callable[[int], tuple[flint.arb, flint.arb]],
    precision: Callable[[int], int],
    unit: Fraction,
    start: int,
) -> int:
    """floor(x * unit) for a number x known only through ever closer bounds."""
    # Fewer digits than the unit has leave the floor open.
    least = unit.numerator.bit_length() - unit.denominator.bit_length()
    for digits in itertools.dropwhile(lambda digits: digits < least, _refinements(start)):
        with ball_precision(precision(digits) + unit.numerator.bit_length()):
            low, high = bounds(digits)
            if not (low.is_finite() and high.is_finite()):
                continue
            below = rational_bounds(low)[0] * unit
            above = rational_bounds(high)[1] * unit
        if below // 1 == above // 1:
            return below // 1
    raise AssertionError("unreachable: the streams end first")


def is_positive(contender: Contender, start: int) -> bool:
    """Whether a noisy score is above 0."""
    for digits in _refinements(start):
        with ball_precision(contender.precision(digits)):
            low, high = contender.bounds(digits)
            if low > 0:
                return True
            if high < 0:
                return False
    raise AssertionError("unreachable: the streams end first")


def value_floor(contender: Contender, unit: Fraction, start: int) -> int:
    """floor(noisy score * unit)."""
    return exact_floor(contender.bounds, contender.precision, unit, start)


def gap_floor(ahead: Contender, behind: Contender, unit: Fraction, start: int) -> int:
    """floor((noisy score ahead - noisy score behind) * unit)."""

    def bounds(digits: int) -> tuple[flint.arb, flint.arb]:
        (a_low, a_high), (b_low, b_high) = ahead.bounds(digits), behind.bounds(digits)
        # Within a group the order is certain even while the intervals still overlap.
        return (a_low - b_high).max(flint.arb(0)), a_high - b_low

    return exact_floor(bounds, lambda digits: max(ahead.precision(digits), behind.precision(digits)), unit, start)

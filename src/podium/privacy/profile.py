"""A privacy profile known at a few points: (epsilon, delta) pairs that all hold for one mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, probability
from podium.privacy.rounding import above, certified, significant_above

if TYPE_CHECKING:
    from collections.abc import Iterable

    import flint

__all__ = ["Profile"]

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, init=False, order=True)
class Profile:
    """Pairs under which one mechanism is (epsilon, delta)-DP, from small epsilon to small delta.

    Between two pairs the true profile lies below the chord in ``e^epsilon``, because it is convex there; and
    at ``e^epsilon = 0`` every profile is 1. Pairs that another pair improves on in both numbers are dropped.
    """

    points: tuple[Point, ...]

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        exact = [(_loss(epsilon), probability(delta, "delta", zero=True)) for epsilon, delta in points]
        if not exact:
            raise InvalidArgument("points", (), allowed="at least one (epsilon, delta) pair")
        object.__setattr__(self, "points", _front(exact))

    def delta(self, epsilon: Fraction) -> Fraction:
        """An upper bound on delta at this epsilon."""
        left: tuple[Fraction | None, Fraction] = (None, Fraction(1))
        for right in self.points:
            if epsilon == right[0]:
                return right[1]
            if epsilon < right[0]:
                return _chord(left, right, epsilon)
            left = right
        return self.points[-1][1]

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """A total that holds at this delta; None if no known point has so small a delta."""
        if delta < self.points[-1][1]:
            return None
        if delta >= self.points[0][1]:
            return _crossing((None, Fraction(1)), self.points[0], delta)
        return next(_crossing(left, right, delta) for left, right in pairwise(self.points) if delta >= right[1])

    def combine(self, other: Profile) -> Profile:
        """Basic composition of any point of one with any point of the other."""
        sums = [(a + c, b + d) for (a, b), (c, d) in product(self.points, other.points)]
        useful = [point for point in sums if point[1] < 1]
        if not useful:
            raise InvalidArgument(
                "delta", "1", allowed="a total below 1", hint="These profiles promise nothing together."
            )
        return Profile(useful)


def _loss(value: Number) -> Fraction:
    number = exact_fraction(value, "epsilon")
    if number < 0:
        raise InvalidArgument("epsilon", value, allowed="a number, 0 or more")
    return number


def _front(points: list[Point]) -> tuple[Point, ...]:
    front: list[Point] = []
    for epsilon, delta in sorted(set(points)):
        if not front or delta < front[-1][1]:
            front.append((epsilon, delta))
    return tuple(front)


def _chord(left: tuple[Fraction | None, Fraction], right: Point, epsilon: Fraction) -> Fraction:
    def value() -> flint.arb:
        start = ball(0) if left[0] is None else ball(left[0]).exp()
        share = (ball(right[0]).exp() - ball(epsilon).exp()) / (ball(right[0]).exp() - start)
        return ball(right[1]) + share * ball(left[1] - right[1])

    return min(left[1], certified(value, significant_above))


def _crossing(left: tuple[Fraction | None, Fraction], right: Point, delta: Fraction) -> Fraction:
    if delta == right[1]:
        return right[0]
    share = (delta - right[1]) / (left[1] - right[1])

    def value() -> flint.arb:
        start = ball(0) if left[0] is None else ball(left[0]).exp()
        return (ball(right[0]).exp() * ball(1 - share) + start * ball(share)).log()

    return min(right[0], max(Fraction(0), certified(value, above)))

"""A privacy profile known at a few points: (epsilon, delta) pairs that all hold for one mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, exact_fraction, probability
from podium.privacy.rounding import above, certified_bound, decimal_repr, significant_above

if TYPE_CHECKING:
    from collections.abc import Iterable

    import flint

__all__ = ["Profile"]

Point = tuple[Fraction, Fraction]

_HULL_BITS = 512


@dataclass(frozen=True, slots=True, init=False, order=True)
class Profile:
    """Pairs under which one mechanism is (epsilon, delta)-DP, from small epsilon to small delta.

    The true profile ``delta(epsilon)`` is convex in ``e^epsilon``, so it lies below every chord; and because both
    directions of a pair of neighbours are covered, ``delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon))`` bounds it
    on the other side of 0. So what is known everywhere is the lower convex hull of the pairs and their mirror images;
    for one pair that is randomised response, the worst (epsilon, delta)-DP pair (Kairouz, Oh & Viswanath 2015).
    Pairs that another pair improves on in both numbers are dropped.
    """

    __repr__ = decimal_repr

    points: tuple[Point, ...]

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        exact = [(_loss(epsilon), probability(delta, "delta", zero=True)) for epsilon, delta in points]
        if not exact:
            raise InvalidArgument("points", (), allowed="at least one (epsilon, delta) pair")
        object.__setattr__(self, "points", _front(exact))

    def delta(self, epsilon: Fraction) -> Fraction:
        """An upper bound on delta at this epsilon."""
        if epsilon >= self.points[-1][0]:
            return self.points[-1][1]
        left, right = next(edge for edge in pairwise(_hull(self.points)) if epsilon <= edge[1].epsilon)
        return right.given if epsilon == right.epsilon else _chord(left, right, epsilon)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """A total that holds at this delta; None if no known point has so small a delta."""
        if delta < self.points[-1][1]:
            return None
        corners = _hull(self.points)
        if delta >= self.delta(Fraction(0)):
            return Fraction(0)
        left, right = next(edge for edge in pairwise(corners) if edge[1].epsilon >= 0 and delta >= edge[1].given)
        return right.epsilon if delta == right.given else _crossing(left, right, delta)

    def combine(self, other: Profile) -> Profile:
        """Basic composition of any point of one with any point of the other."""
        sums = [(a + c, b + d) for (a, b), (c, d) in product(self.points, other.points)]
        useful = [point for point in sums if point[1] < 1]
        if not useful:
            raise InvalidArgument(
                "delta", "1", allowed="a total below 1", hint="Together these profiles guarantee nothing."
            )
        return Profile(useful)


@dataclass(frozen=True, slots=True)
class _Corner:
    """A corner of the hull: a pair as given (epsilon >= 0), or the mirror image of one (epsilon < 0)."""

    epsilon: Fraction
    given: Fraction

    def across(self) -> flint.arb:
        """``e^epsilon`` at the current ball precision."""
        return ball(self.epsilon).exp()

    def up(self) -> flint.arb:
        """The profile's bound there, at the current ball precision."""
        if self.epsilon >= 0:
            return ball(self.given)
        return 1 - self.across() * ball(1 - self.given)


def _hull(points: tuple[Point, ...]) -> list[_Corner]:
    """The corners of the lower convex hull, left to right.

    Any chord is a bound; that these are the lowest ones is decided to hundreds of digits, and need not be more exact.
    """
    mirrored = [_Corner(-epsilon, delta) for epsilon, delta in reversed(points) if epsilon > 0]
    hull: list[_Corner] = []
    with ball_precision(_HULL_BITS):
        for corner in [*mirrored, *(_Corner(epsilon, delta) for epsilon, delta in points)]:
            while len(hull) > 1 and not _turns_left(hull[-2], hull[-1], corner):
                hull.pop()
            hull.append(corner)
    return hull


def _turns_left(a: _Corner, b: _Corner, c: _Corner) -> bool:
    cross = (b.across() - a.across()) * (c.up() - a.up()) - (b.up() - a.up()) * (c.across() - a.across())
    return bool(cross.mid() > 0)


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


def _chord(left: _Corner, right: _Corner, epsilon: Fraction) -> Fraction:
    def value() -> flint.arb:
        share = (right.across() - ball(epsilon).exp()) / (right.across() - left.across())
        return right.up() + share * (left.up() - right.up())

    return min(Fraction(1), certified_bound(value, significant_above))


def _crossing(left: _Corner, right: _Corner, delta: Fraction) -> Fraction:
    def value() -> flint.arb:
        share = (ball(delta) - right.up()) / (left.up() - right.up())
        return (right.across() * (1 - share) + left.across() * share).log()

    return min(right.epsilon, max(Fraction(0), certified_bound(value, above)))

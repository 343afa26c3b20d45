"""The canonical mechanism's sampler: propose from an envelope, accept with one exact coin.

Each rectangle of the envelope proposes from a family of subsets that one binomial counts, which contains its own
subsets and little else. A coin with exactly the right probability corrects for everything that was rounded up, so
pruning and floats cost time, never truth. docs/proofs/canonical.md has the argument, for both kinds of noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import flint
import numpy as np

from podium.errors import EntropyFailure
from podium.exact import ball, ball_precision, float_above, float_below
from podium.mechanisms.canonical.classes import Integers, Loss, Ranking
from podium.mechanisms.canonical.envelope import GRID, LOOSENESS, SLACK, Envelope, binomial
from podium.randomness import BitSource, uniform_below
from podium.randomness.noise import exponential_bounds, float_stage_is_sound
from podium.randomness.streams import FreshStreams, Uniform

__all__ = ["CanonicalNoise", "Proposals", "SubsetSampler", "uniform_subset"]

CanonicalNoise: TypeAlias = Literal["gumbel", "exponential"]

_WIDE_SLACK = 2.0**-34
_TINY = 1e-290
_TRIES = 10_000
_ROUNDS = 256
_WIDEST_WORD = 1 << 62
_STUCK = (
    "A sampler that accepts every few proposals rejected {tries} in a row, which sound bits do not do. "
    "Nothing was released. Check the system's entropy (os.urandom)."
)


@dataclass(frozen=True, slots=True)
class Proposals:
    """A family of (a, t, draw) that holds every subset with a and t in the two ranges exactly once, and few others.

    The draw is a set of ranks. Where t is free the draw contains it; else t is uniform, and the draw must lie
    below it. Where a is free the draw shows it; else a is uniform, and the draw must begin with a - a0 ranks that
    stand for the ranks up to a: that makes classes of different a equally wide.
    """

    k: int
    heads: tuple[int, int]
    tails: tuple[int, int]
    a_free: bool
    t_free: bool

    @classmethod
    def of(cls, envelope: Envelope, index: int, k: int) -> Proposals:
        """The proposals of a rectangle."""
        heads, tails = envelope.ranges(index)
        kind = envelope.kind(index)
        return cls(k, heads, tails, a_free=bool(kind & 1), t_free=bool(kind & 2))

    @property
    def room(self) -> int:
        """From how many ranks a draw is made."""
        return self.tails[1] - self.heads[0] - 2 + self.a_free + self.t_free

    @property
    def chosen(self) -> int:
        """How many ranks a draw has."""
        return self.k - 1 - self.heads[0] + self.t_free

    @property
    def copies(self) -> int:
        """How often the draws are repeated, for every a and t that are not free."""
        heads = 1 if self.a_free else self.heads[1] - self.heads[0] + 1
        return heads if self.t_free else heads * (self.tails[1] - self.tails[0] + 1)

    def count(self) -> flint.arb:
        """How many proposals there are."""
        return ball(self.copies) * binomial(self.room, self.chosen)

    def draw(self, bits: BitSource) -> tuple[int, int, Integers] | None:
        """A uniform proposal as ``read`` understands it."""
        (a0, a1), (t0, t1) = self.heads, self.tails
        a = None if self.a_free else a0 + uniform_below(a1 - a0 + 1, bits)
        t = None if self.t_free else t0 + uniform_below(t1 - t0 + 1, bits)
        return self.read(a, t, uniform_subset(self.room, self.chosen, bits))

    def read(self, a: int | None, t: int | None, drawn: Integers) -> tuple[int, int, Integers] | None:
        """(a, t, the ranks between them) from a subset of range(room); None if it is no subset of the rectangle."""
        (a0, a1), (t0, _) = self.heads, self.tails
        ranks = drawn + (a0 + 1 if a is None else a0 + 2)
        if t is None:
            t, ranks = int(ranks[-1]), ranks[:-1]
        if t < t0 or (len(ranks) and ranks[-1] >= t):
            return None
        if a is None:
            missing = np.flatnonzero(ranks != np.arange(a0 + 1, a0 + 1 + len(ranks)))
            a = a0 + (int(missing[0]) if len(missing) else len(ranks))
            return (a, t, ranks[a - a0 :]) if a <= a1 else None
        if a > a0 and ranks[a - a0 - 1] != a + 1:
            return None
        return a, t, ranks[a - a0 :]


def uniform_subset(size: int, count: int, bits: BitSource) -> Integers:
    """A uniform ``count``-subset of range(size), ascending: the first distinct ones of independent uniform numbers."""
    if 2 * count > size:
        left_out = uniform_subset(size, size - count, bits)
        inside = np.ones(size, dtype=np.bool_)
        inside[left_out] = False
        return np.flatnonzero(inside)
    if size >= _WIDEST_WORD:
        chosen: set[int] = set()
        for _ in range(_ROUNDS + 2 * count):
            if len(chosen) == count:
                return np.array(sorted(chosen), dtype=object)
            chosen.add(uniform_below(size, bits))
        raise EntropyFailure(_STUCK.format(tries=_ROUNDS))
    shift = np.uint64(64 - (size - 1).bit_length()) if size > 1 else np.uint64(63)
    drawn = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        values, places = np.unique(drawn, return_index=True)
        if len(values) >= count:
            return np.sort(drawn[np.sort(places)[:count]])
        # A word falls into the range with probability above one half; the lot is enough almost always.
        words = (bits.words(2 * (count - len(values)) + count // 2 + 8) >> shift).astype(np.int64)
        drawn = np.concatenate([drawn, words[words < size]])
    raise EntropyFailure(_STUCK.format(tries=_ROUNDS))


class SubsetSampler:
    """Draws subsets with the distribution of the canonical mechanism.

    With Gumbel noise a subset is drawn in proportion to e^-loss. With exponential noise the same proposals arrive at
    the times of a Poisson process and a second factor thins them: permute-and-flip, for sets too many to permute.
    """

    def __init__(self, ranking: Ranking, loss: Loss, noise: CanonicalNoise) -> None:
        self._ranking = ranking
        self._loss = loss
        self._noise = noise
        self.envelope: Envelope = Envelope(ranking, loss)

    def draw(self, bits: BitSource) -> list[int]:
        """The ranks of one subset."""
        clock = None if self._noise == "gumbel" else _Clock(self.envelope, FreshStreams(bits))
        k = self._ranking.k
        for _ in range(_TRIES):
            if clock is not None:
                clock.tick()
            index = self.envelope.pick(bits)
            if index == len(self.envelope) - 1:
                if _Coin(self.envelope, index, None, Fraction(0), clock).flip(bits):
                    return list(range(1, k + 1))
                continue
            plan = Proposals.of(self.envelope, index, k)
            proposal = plan.draw(bits)
            if proposal is None:
                continue
            a, t, between = proposal
            loss = self._loss.exact(*self._ranking.distances(a, t))
            if _Coin(self.envelope, index, plan, loss, clock).flip(bits):
                return [*range(1, a + 1), *between.tolist(), t]
        raise EntropyFailure(_STUCK.format(tries=_TRIES))


class _Clock:
    """The arrival times of proposals: a Poisson process whose rate is the envelope's total weight."""

    def __init__(self, envelope: Envelope, streams: FreshStreams) -> None:
        self._envelope = envelope
        self._streams = streams
        self._uniforms: list[Uniform] = []
        self._low = self._high = 0.0

    def tick(self) -> None:
        one = np.ones(1, dtype=np.intp)
        word = self._streams.heads(one, one)
        low, high = exponential_bounds(word, 52)
        self._low, self._high = self._low + float(low[0]), self._high + float(high[0])
        self._uniforms.append(Uniform(self._streams, 1, 1, int(word[0])))

    def floats(self) -> tuple[float, float]:
        """Bounds on the time of the last proposal."""
        with np.errstate(under="ignore"):
            unit = float(np.exp(-float(self._envelope.top))) * 2.0**GRID / self._envelope.total
        return self._low * unit * (1.0 - _WIDE_SLACK), self._high * unit * (1.0 + _WIDE_SLACK) + _TINY

    def balls(self, digits: int) -> tuple[flint.arb, flint.arb]:
        """The same from this many digits of every stream."""
        unit = ball(-self._envelope.top).exp() * ball(Fraction(1 << GRID, self._envelope.total))
        low = high = flint.arb(0)
        for uniform in self._uniforms:
            known = uniform.digits(digits)
            low -= ball(Fraction(known + 1, 1 << digits)).log()
            high = high - ball(Fraction(known, 1 << digits)).log() if known else flint.arb.pos_inf()
        return low * unit, high * unit


class _Coin:
    """Falls with the probability by which a proposal must be thinned, exactly."""

    def __init__(
        self, envelope: Envelope, index: int, plan: Proposals | None, loss: Fraction, clock: _Clock | None
    ) -> None:
        self._envelope = envelope
        self._index = index
        self._plan = plan
        self._loss = loss
        self._clock = clock

    def flip(self, bits: BitSource) -> bool:
        uniform = Uniform(FreshStreams(bits), 1, 1, int(bits.words(1)[0]))
        head = uniform.digits(52)
        low, high = self._floats() if float_stage_is_sound() else (0.0, 1.0)
        if (head + 1) * 2.0**-52 <= low:
            return True
        if head * 2.0**-52 >= high:
            return False
        digits = 64
        while True:
            known = uniform.digits(digits)
            with ball_precision(2 * digits + 128 + self._size_bits()):
                below, above = self._balls(digits)
                if ball(Fraction(known + 1, 1 << digits)) <= below:
                    return True
                if ball(Fraction(known, 1 << digits)) >= above:
                    return False
            digits *= 2

    def _size_bits(self) -> int:
        room = 0 if self._plan is None else self._plan.room.bit_length()
        return 4 * room + int(self._envelope.top).bit_length() + int(self._loss).bit_length()

    def _floats(self) -> tuple[float, float]:
        size = 0.0 if self._plan is None else self._envelope.log_size(self._index)
        gap = 0.0 if self._plan is None else LOOSENESS + 3.0 * SLACK * (1.0 + size)
        loss_low, loss_high = float_below(self._loss), float_above(self._loss)
        top, weight = float(self._envelope.top), float(self._envelope.weights[self._index])
        # What is not a number decides nothing: every comparison with it fails, and balls take over.
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            unit = 2.0**GRID / weight
            # The slack in the size covers the rounding of these sums, which are no larger.
            low = float(np.exp(size - gap - loss_high - top)) * unit * (1.0 - _WIDE_SLACK)
            high = float(np.exp(size - loss_low - top)) * unit * (1.0 + _WIDE_SLACK) + _TINY
            if self._clock is not None and self._loss:
                early, late = self._clock.floats()
                low /= 1.0 + float(np.expm1(late) * -np.expm1(-loss_high)) * (1.0 + SLACK)
                high /= 1.0 + float(np.expm1(early) * -np.expm1(-loss_low)) * (1.0 - SLACK)
        return low * (1.0 - SLACK), high * (1.0 + SLACK)

    def _balls(self, digits: int) -> tuple[flint.arb, flint.arb]:
        count = flint.arb(1) if self._plan is None else self._plan.count()
        weight = Fraction(1 << GRID, int(self._envelope.weights[self._index]))
        kept = count * ball(-self._loss - self._envelope.top).exp() * ball(weight)
        if self._clock is None or not self._loss:
            return kept, kept
        early, late = self._clock.balls(digits)
        rest = -ball(-self._loss).expm1()
        slow = flint.arb(0) if not late.is_finite() else kept / (1 + late.expm1() * rest)
        return slow, kept / (1 + early.expm1() * rest)

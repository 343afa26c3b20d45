"""Uniform integers, exactly: a range of any size, and random members of groups without repetition."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from podium.errors import EntropyFailure
from podium.randomness.bits import BitSource

__all__ = ["Patience", "distinct_below", "random_members", "uniform_below", "uniform_stream"]

_TRIES = 256
_WORD = 64


def uniform_below(limit: int, bits: BitSource) -> int:
    """A uniform integer in [0, limit), by rejection: each try succeeds with probability above one half."""
    width = (limit - 1).bit_length()
    if not width:
        return 0
    size = (width + 7) // 8
    for _ in range(_TRIES):
        value = int.from_bytes(bits.read(size), "little") >> (8 * size - width)
        if value < limit:
            return value
    raise _rejected()


def uniform_stream(limit: int, first: int, bits: BitSource) -> Iterator[NDArray[np.uint64]]:
    """Endless batches of uniform integers in [0, limit), limit at most 2^64; the batches grow from ``first``."""
    width = max((limit - 1).bit_length(), 1)
    size, patience = first, Patience()
    while True:
        drawn = bits.words(size) >> np.uint64(_WORD - width)
        inside = drawn[drawn <= np.uint64(limit - 1)]
        patience.after(progress=len(inside) > 0)
        yield inside
        size = min(2 * size, 1 << 16)


class Patience:
    """Counts the rounds of a rejection sampler that brought nothing: sound bits never use it up, broken ones do."""

    def __init__(self) -> None:
        self._left = _TRIES

    def after(self, *, progress: bool) -> None:
        """A round is over; fails after 256 idle ones in a row."""
        self._left = _TRIES if progress else self._left - 1
        if not self._left:
            raise _rejected()


def distinct_below(limit: int, count: int, bits: BitSource) -> list[int]:
    """``count`` different integers in [0, limit), every ordered choice equally likely."""
    if limit == 1:
        return [0] * count
    if 2 * count > limit:
        return _shuffled_start(limit, count, bits)
    found: dict[int, None] = {}
    batches, patience = _batches_below(limit, count, bits), Patience()
    while len(found) < count:
        # Repetitions are skipped: what is left is a uniform choice among those not yet taken.
        before = len(found)
        found |= dict.fromkeys(next(batches))
        patience.after(progress=len(found) > before)
    return list(found)[:count]


def _batches_below(limit: int, count: int, bits: BitSource) -> Iterator[list[int]]:
    if (limit - 1).bit_length() <= _WORD:
        return (batch.tolist() for batch in uniform_stream(limit, 2 * count + 4, bits))
    return ([uniform_below(limit, bits)] for _ in itertools.count())


def _shuffled_start(limit: int, count: int, bits: BitSource) -> list[int]:
    """The first ``count`` places of a random permutation, for when most members are wanted."""
    left = list(range(limit))
    for place in range(count):
        chosen = place + uniform_below(limit - place, bits)
        left[place], left[chosen] = left[chosen], left[place]
    return left[:count]


def random_members(groups: Sequence[int], sizes: Iterable[int], bits: BitSource) -> list[int]:
    """For each group in turn (with its size) a uniform member of that group that was not taken before."""
    wanted = Counter(groups)
    of_size = dict(zip(groups, sizes, strict=True))
    members = {group: iter(distinct_below(of_size[group], count, bits)) for group, count in wanted.items()}
    return [next(members[group]) for group in groups]


def _rejected() -> EntropyFailure:
    return EntropyFailure(
        f"{_TRIES} draws of a uniform integer in a row were rejected, which sound bits do not do. "
        "Nothing was released. Check the system's entropy (os.urandom)."
    )

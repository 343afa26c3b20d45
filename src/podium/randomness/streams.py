"""One endless stream of random bits per candidate, revealed only as far as a decision needs.

The exactness of the sampler rests on this picture: every candidate owns a uniform number V in (0, 1) with
infinitely many binary digits. The first 64 digits are drawn for all at once; further digits only for the few
candidates whose order is still open, and always appended to the digits already known, never drawn again.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from podium.errors import EntropyFailure
from podium.randomness.bits import BitSource, Words

__all__ = ["MAX_STREAM_BITS", "FreshStreams", "Streams", "Uniform"]

MAX_STREAM_BITS = 1 << 15
"""Binary digits after which an undecided comparison means broken bits: its chance is below 2^-4000.

The largest and the smallest number that a parameter may be are 2^13300 apart, and digits are revealed by doubling.
"""


class Streams(Protocol):
    """The streams of a race, named by (group, order): the order-th largest candidate of a group."""

    def heads(self, groups: NDArray[np.intp], orders: NDArray[np.intp]) -> Words:
        """The first 64 digits of one stream per (group, order), broadcast together."""
        ...

    def more(self, group: int, order: int, known: int) -> int:
        """The 64 digits of a stream that follow its first ``known`` ones."""
        ...


class FreshStreams:
    """Streams of fresh bits. The names do not matter: nothing is keyed by them, nothing is drawn twice."""

    def __init__(self, bits: BitSource) -> None:
        self._bits = bits

    def heads(self, groups: NDArray[np.intp], orders: NDArray[np.intp]) -> Words:
        """The first 64 digits of one stream per (group, order), broadcast together."""
        both = np.broadcast(groups, orders)
        return self._bits.words(both.size).reshape(both.shape)

    def more(self, group: int, order: int, known: int) -> int:
        """The 64 digits of a stream that follow its first ``known`` ones."""
        return int.from_bytes(self._bits.read(8), "little")


class Uniform:
    """A uniform number of which the first ``known`` binary digits are revealed."""

    __slots__ = ("_digits", "_group", "_order", "_streams", "known")

    def __init__(self, streams: Streams, group: int, order: int, head: int) -> None:
        self._streams = streams
        self._group = group
        self._order = order
        self._digits = head
        self.known: int = 64

    def digits(self, count: int) -> int:
        """The first ``count`` digits as an integer t: the number lies in [t, t+1] / 2^count."""
        while self.known < count:
            if self.known >= MAX_STREAM_BITS:
                raise EntropyFailure(
                    f"A comparison was still undecided after {MAX_STREAM_BITS} random bits, which sound bits "
                    "do not do. Nothing was released. Check the system's entropy (os.urandom)."
                )
            self._digits = self._digits << 64 | self._streams.more(self._group, self._order, self.known)
            self.known += 64
        return self._digits >> (self.known - count)

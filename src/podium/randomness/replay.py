"""Replayable bits, for tests only: the same seed gives the same bits, so nothing drawn here is private.

Production code cannot pick these by accident: an import contract keeps every other module from importing this
one, and the constructors refuse to work unless the environment says that this process is a test.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np
from numpy.typing import NDArray

from podium.errors import PodiumError
from podium.randomness.bits import Words, counter_stream

__all__ = ["ENABLING_VARIABLE", "ConstantBits", "KeyedStreams", "ReplayableBits"]

ENABLING_VARIABLE = "PODIUM_REPLAYABLE_RANDOMNESS"
_ENABLING_VALUE = "this process releases nothing"


def _require_test_process() -> None:
    if os.environ.get(ENABLING_VARIABLE) != _ENABLING_VALUE:
        raise PodiumError(
            "Replayable randomness protects nobody and is only for tests. "
            f"It works in a process whose environment has {ENABLING_VARIABLE}={_ENABLING_VALUE!r}. "
            "To release something, use the default source."
        )


class ReplayableBits:
    """A bit source that repeats itself for the same seed."""

    def __init__(self, seed: int) -> None:
        _require_test_process()
        self._stream = counter_stream(hashlib.sha256(b"podium replay %d" % seed).digest(), bytes(16))

    def read(self, size: int) -> bytes:
        """``size`` bytes, the same for the same seed and the same calls before."""
        return self._stream.update(bytes(size))

    def words(self, count: int) -> Words:
        """``count`` 64-bit words, the same for the same seed and the same calls before."""
        return np.frombuffer(self.read(8 * count), dtype=np.uint64)


class ConstantBits:
    """A broken source: every byte is the same."""

    def __init__(self, byte: int) -> None:
        _require_test_process()
        self._byte = bytes([byte])

    def read(self, size: int) -> bytes:
        """``size`` times the byte."""
        return self._byte * size

    def words(self, count: int) -> Words:
        """``count`` words of the byte."""
        return np.frombuffer(self.read(8 * count), dtype=np.uint64)


class KeyedStreams:
    """Streams that are a function of (seed, group, order), so that two implementations can share them."""

    def __init__(self, seed: int) -> None:
        _require_test_process()
        self._seed = seed

    def heads(self, groups: NDArray[np.intp], orders: NDArray[np.intp]) -> Words:
        """The first 64 digits of one stream per (group, order), broadcast together."""
        shape = np.broadcast_shapes(groups.shape, orders.shape)
        pairs = zip(np.broadcast_to(groups, shape).flat, np.broadcast_to(orders, shape).flat, strict=True)
        flat = [self.more(int(group), int(order), 0) for group, order in pairs]
        return np.array(flat, dtype=np.uint64).reshape(shape)

    def more(self, group: int, order: int, known: int) -> int:
        """The 64 digits of a stream that follow its first ``known`` ones."""
        text = b"%d %d %d %d" % (self._seed, group, order, known)
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")

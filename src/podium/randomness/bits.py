"""Secure random bits: AES-256-CTR keyed by the operating system, safe across forks and threads.

A top-k over a million scores wants megabytes of bits; a block cipher in counter mode delivers them at
memory speed where a system call for each would not. The key comes from ``os.urandom`` and is replaced at the
start of every draw (``system_bits``), after a fixed amount of output and in every forked child, so no two processes
ever share a stream, and a machine that is restored twice from one snapshot does not repeat its noise.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import Protocol, TypeAlias

import numpy as np
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from podium.errors import EntropyFailure

__all__ = ["BitSource", "SecureBits", "UrandomBits", "Words", "check_source", "system_bits"]

Words: TypeAlias = NDArray[np.uint64]

_REKEY_BYTES = 1 << 28
_BLOCK = 1 << 16
_SAMPLE = 1 << 13


class BitSource(Protocol):
    """Where the kernel takes its bits from."""

    def read(self, size: int) -> bytes:
        """``size`` fresh random bytes."""
        ...

    def words(self, count: int) -> Words:
        """``count`` fresh 64-bit words."""
        ...


def counter_stream(key: bytes, nonce: bytes) -> CipherContext:
    """The AES-256-CTR key stream for one key and one initial counter."""
    return Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()


class SecureBits:
    """AES-256 in counter mode, keyed from ``os.urandom``.

    One object may serve many threads. It takes a new key after ``renew``, after every 256 MiB and in every forked
    child; the fork hook and the process id are both checked, because either alone can be bypassed.
    """

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # A new lock too: the fork may have copied one that a thread of the parent held.
        self._lock = threading.Lock()
        self._stream: CipherContext | None = None
        self._left = 0
        self._owner = -1

    def _rekey(self) -> CipherContext:
        self._stream = counter_stream(os.urandom(32), os.urandom(16))
        self._left = _REKEY_BYTES
        self._owner = os.getpid()
        return self._stream

    def renew(self) -> None:
        """Let the next byte come under a new key, for every thread: none ever returns to an old one."""
        with self._lock:
            self._left = 0

    def read(self, size: int) -> bytes:
        """``size`` fresh random bytes."""
        buffer = bytearray(size)
        self._fill(memoryview(buffer))
        return bytes(buffer)

    def words(self, count: int) -> Words:
        """``count`` fresh 64-bit words."""
        out = np.empty(count, dtype=np.uint64)
        if count:
            self._fill(out.view(np.uint8).data)
        return out

    def _fill(self, out: memoryview) -> None:
        for start in range(0, len(out), _BLOCK):
            part = out[start : start + _BLOCK]
            with self._lock:
                stream = self._stream
                if stream is None or self._left < len(part) or self._owner != os.getpid():
                    stream = self._rekey()
                self._left -= len(part)
                stream.update_into(_ZEROS[: len(part)], part)


_ZEROS = memoryview(bytes(_BLOCK))


class UrandomBits:
    """``os.urandom`` alone: the fallback where the cipher is not available."""

    def read(self, size: int) -> bytes:
        """``size`` fresh random bytes."""
        return os.urandom(size)

    def words(self, count: int) -> Words:
        """``count`` fresh 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def system_bits() -> BitSource:
    """The process-wide source that every draw asks for when it begins: from here on its bits have a new key.

    Memory that is copied between two draws (a virtual machine's snapshot, restored twice) holds no key of a later one.
    """
    source = _tested_source()
    if isinstance(source, SecureBits):
        source.renew()
    return source


@functools.cache
def _tested_source() -> BitSource:
    """One for the process, health-tested before its first use."""
    source: BitSource = SecureBits() if _cipher_works() else UrandomBits()
    check_source(source)
    return source


# NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt), first block.
_KNOWN_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
_KNOWN_COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
_KNOWN_PLAIN = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
_KNOWN_CIPHER = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228")


def _cipher_works() -> bool:
    try:
        return counter_stream(_KNOWN_KEY, _KNOWN_COUNTER).update(_KNOWN_PLAIN) == _KNOWN_CIPHER
    except UnsupportedAlgorithm:
        return False


def check_source(source: BitSource) -> None:
    """Refuse a source whose output is constant, repeats, or is grossly unbalanced.

    A sound source fails with probability below 2^-80: no word of 8,192 may repeat at once in two draws in
    the same place, and the number of ones among 2^19 bits must be within 12 standard deviations (362 each)
    of one half.
    """
    first, second = source.words(_SAMPLE), source.words(_SAMPLE)
    repeats = int(np.count_nonzero(first == second)) > 1 or int(np.count_nonzero(first[1:] == first[:-1])) > 1
    ones = int(np.bitwise_count(first).sum())
    if repeats or abs(ones - 32 * _SAMPLE) > 12 * 362:
        raise EntropyFailure(
            "The source of random bits failed its start-up health test. Nothing was released. "
            "Check the system's entropy (os.urandom) and the installed 'cryptography' package."
        )

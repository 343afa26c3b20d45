"""The bit source: known answers, health, fork safety, and a replayable twin that nobody picks by accident."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import CipherContext

from podium.errors import EntropyFailure, PodiumError
from podium.randomness import (
    NoisyNumber,
    bernoulli_exp,
    centred_values,
    choose,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    noisy_value,
    noisy_values,
    race,
    race_above,
    uniform_below,
)
from podium.randomness import bits as bits_module
from podium.randomness.bits import BitSource, SecureBits, UrandomBits, check_source, counter_stream, system_bits
from podium.randomness.replay import ENABLING_VARIABLE, ConstantBits, KeyedStreams, ReplayableBits


def test_aes_256_counter_mode_known_answer() -> None:
    """All four blocks of NIST SP 800-38A, F.5.5."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    cipher = bytes.fromhex(
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
    )
    assert counter_stream(key, counter).update(plain) == cipher


@pytest.mark.parametrize("source", [SecureBits(), UrandomBits(), ReplayableBits(7)])
def test_sources_pass_the_health_test(source: BitSource) -> None:
    check_source(source)
    assert len(source.read(5)) == 5
    assert source.words(0).shape == (0,)
    assert source.words(100_000).dtype == np.uint64


@pytest.mark.parametrize("byte", [0x00, 0xFF, 0x55])
def test_a_constant_source_fails_the_health_test(byte: int) -> None:
    with pytest.raises(EntropyFailure, match="failed its start-up health test"):
        check_source(ConstantBits(byte))


def test_a_biased_source_fails_the_health_test() -> None:
    class Biased(ReplayableBits):
        def words(self, count: int) -> bits_module.Words:
            return super().words(count) | super().words(count) & super().words(count) & np.uint64(0xFF)

    with pytest.raises(EntropyFailure):
        check_source(Biased(1))


def test_an_unusable_cipher_falls_back_to_urandom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits_module, "_KNOWN_CIPHER", bytes(16))
    bits_module._tested_source.cache_clear()
    try:
        assert isinstance(system_bits(), UrandomBits)
    finally:
        bits_module._tested_source.cache_clear()


def test_a_new_key_is_taken_periodically(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits_module, "_REKEY_BYTES", 1 << 16)
    source = SecureBits()
    source.read(1)
    first = source._stream
    source.read(1 << 17)
    assert source._stream is not first


def _child(source: SecureBits, connection: object) -> None:
    connection.send_bytes(source.read(64))  # type: ignore[attr-defined]


def test_parent_and_children_never_share_a_stream() -> None:
    source = SecureBits()
    source.read(1)
    context = multiprocessing.get_context("fork")
    seen = []
    for _ in range(8):
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(source, writer))
        child.start()
        seen.append(reader.recv_bytes())
        seen.append(source.read(64))
        child.join()
    # Without a new key each child would repeat the 64 bytes that the parent reads next.
    chunks = [block[i : i + 16] for block in seen for i in range(0, 64, 16)]
    assert len(set(chunks)) == len(chunks)


def test_a_changed_process_id_alone_forces_a_new_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second line of defence, for forks that bypass Python's hooks."""
    source = SecureBits()
    source.read(1)
    before = source._stream
    monkeypatch.setattr(os, "getpid", lambda: -7)
    source.read(1)
    assert source._stream is not before


def run_in_threads(work: Callable[[], object], number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_share_one_source_without_repeating_bytes() -> None:
    source = SecureBits()
    found: list[bytes] = []

    def work() -> None:
        found.extend(source.read(16) for _ in range(500))

    run_in_threads(work, 8)
    assert len(set(found)) == 8 * 500


class Copied(SecureBits):
    """A source whose memory is copied as a snapshot of the machine copies it: nobody is told."""

    copied = False

    def _forget(self) -> None:
        if not self.copied:
            super()._forget()


def _restored(work: Callable[[], bytes]) -> bytes:
    """What a copy of this process does next."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, work())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def test_a_snapshot_restored_twice_does_not_repeat_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Copied()
    source.read(1)
    source.copied = True
    monkeypatch.setattr(os, "getpid", lambda: source._owner)
    monkeypatch.setattr(bits_module, "_tested_source", lambda: source)
    # The copies are faithful: what goes on reading without asking for the source again is the same in both.
    assert _restored(lambda: source.read(64)) == _restored(lambda: source.read(64))

    def question() -> bytes:
        return repr(noisy_values([0] * 8, scale=1, grid_bits=40)).encode()

    assert _restored(question) != _restored(question)


DRAWS: dict[str, Callable[[], object]] = {
    "race": lambda: race([3, 2, 1], k=1, scale=1, noise="gumbel"),
    "race_above": lambda: race_above([3, 2, 1], scale=1, above=2),
    "choose": lambda: choose([3, 2, 1], k=1, rate=1),
    "noisy_value": lambda: noisy_value(3, scale=1),
    "noisy_values": lambda: noisy_values([3, 2], scale=1),
    "centred_values": lambda: centred_values([3, 2], scale=1),
    "NoisyNumber": lambda: NoisyNumber(3, scale=1).exceeds(NoisyNumber(0, scale=1)),
    "geometric": lambda: geometric(epsilon=1),
    "discrete_laplace": lambda: discrete_laplace(scale=1),
    "discrete_gaussian": lambda: discrete_gaussian(variance=1),
    "bernoulli_exp": lambda: bernoulli_exp([1]),
    "uniform_below": lambda: uniform_below(10, system_bits()),
}


@pytest.mark.parametrize("name", DRAWS)
def test_every_draw_begins_with_a_new_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []

    def counted(key: bytes, nonce: bytes) -> CipherContext:
        keys.append(key)
        return counter_stream(key, nonce)

    system_bits()  # tested before keys are counted
    monkeypatch.setattr(bits_module, "counter_stream", counted)
    for draws in range(1, 4):
        DRAWS[name]()
        assert len(keys) >= draws
    assert len(set(keys)) == len(keys)


def test_a_thread_that_asks_for_a_new_key_does_not_disturb_others() -> None:
    source = SecureBits()
    found: list[bytes] = []

    def work() -> None:
        for _ in range(300):
            source.renew()
            found.append(source.read(16))

    run_in_threads(work, 4)
    assert len(set(found)) == 4 * 300


def test_replayable_bits_need_a_test_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENABLING_VARIABLE)
    for make in (lambda: ReplayableBits(1), lambda: KeyedStreams(1), lambda: ConstantBits(0)):
        with pytest.raises(PodiumError, match="only for tests"):
            make()


def test_replayable_bits_repeat() -> None:
    assert ReplayableBits(3).read(40) == ReplayableBits(3).read(40) != ReplayableBits(4).read(40)

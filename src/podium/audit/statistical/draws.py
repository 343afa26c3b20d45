"""Black boxes: what a sampler returns, checked and made countable.

An outcome is split into a discrete part (``observation``) and its real numbers, so that an audit can bin the
numbers and count the rest. Nothing is assumed of the sampler but that its draws are independent.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.audit.exact.exhaustive import picklable
from podium.audit.statistical.observation import REAL, Entries, Raised, SeenRelease, look
from podium.audit.targets.inputs import mechanism_input
from podium.errors import InvalidArgument, SamplerFailed, UnusableOutcome
from podium.exact import positive_integer
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["BlackBox", "Draws", "MechanismSampler", "Recorder", "Sampler"]

Sampler: TypeAlias = Callable[..., Any]
"""One input in, one outcome out; where ``batch=True``, an input and a size in, that many outcomes out."""

_MAX_OUTCOMES = 10_000
_MAX_NUMBERS = 32
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class MechanismSampler:
    """A mechanism as a black box: its whole release, or its error. ``bits`` is for tests."""

    mechanism: Any
    bits: BitSource | None = None

    def __call__(self, counts: dict[str, int]) -> Release:
        """One release on a histogram."""
        options = {} if self.bits is None else {"bits": self.bits}
        released: Release = self.mechanism.release(mechanism_input(self.mechanism, counts, bits=self.bits), **options)
        return released


class Draws(NamedTuple):
    """Outcomes in columns: a code for the discrete part, and the real numbers, padded with NaN."""

    codes: NDArray[np.int64]
    reals: NDArray[np.float64]

    def __add__(self, other: Draws) -> Draws:  # type: ignore[override]
        width = max(self.reals.shape[1], other.reals.shape[1])
        reals = np.concatenate([_pad(self.reals, width), _pad(other.reals, width)])
        return Draws(np.concatenate([self.codes, other.codes]), reals)

    @property
    def size(self) -> int:
        """How many outcomes."""
        return len(self.codes)


def _pad(reals: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    return np.pad(reals, ((0, 0), (0, width - reals.shape[1])), constant_values=np.nan)


class Recorder:
    """Codes for discrete parts, shared by all draws that are compared with each other."""

    def __init__(self) -> None:
        self.outcomes: list[Any] = []
        self._codes: dict[Hashable, int] = {}
        self._entries = Entries()
        self._first: dict[str, str] = {}
        self._varying: dict[str, None] = {}

    def record(self, outcomes: Any, *, orders: bool = True) -> Draws:
        """Arrays of numbers as they are; anything else one by one. ``orders``: the order of plain sets counts."""
        if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "fiu":
            reals = outcomes.reshape(len(outcomes), -1).astype(np.float64)
            if not np.isnan(reals).any():
                shown = (REAL,) * reals.shape[1]
                return Draws(np.full(len(reals), self._code((np.ndarray, shown), shown)), reals)
        listed = outcomes.tolist() if isinstance(outcomes, np.ndarray) else outcomes
        codes, rows = [], []
        for outcome in listed:
            code, numbers = self._split(outcome, orders=orders)
            codes.append(code)
            rows.append(numbers)
        width = max(map(len, rows), default=0)
        if width > _MAX_NUMBERS:
            raise UnusableOutcome(
                f"the sampler returned an outcome with {width} numbers. Allowed: at most {_MAX_NUMBERS}. "
                "Give outcome=..., a function that keeps what an attacker would look at."
            )
        reals = np.full((len(rows), width), np.nan)
        for place, numbers in enumerate(rows):
            reals[place, : len(numbers)] = numbers
        return Draws(np.array(codes, dtype=np.int64), reals)

    def describe(self, code: int) -> str:
        """What a report says of a discrete part."""
        return self._describe(self.outcomes[code])

    def raised(self, draws: Draws) -> int:
        """How many of the draws were errors."""
        codes = [code for code, outcome in enumerate(self.outcomes) if isinstance(outcome, Raised)]
        return int(np.isin(draws.codes, codes).sum())

    def _describe(self, shown: Any) -> str:
        if isinstance(shown, SeenRelease):
            return shown.describe(self._varying)
        if type(shown) is tuple:
            return f"({', '.join(map(self._describe, shown))}{',' * (len(shown) == 1)})"
        return repr(shown)

    def _split(self, outcome: Any, *, orders: bool) -> tuple[int, tuple[float, ...]]:
        if type(outcome) is str:
            return self._code(outcome, outcome), ()
        seen = look(outcome, self._entries, orders=orders)
        try:
            return self._code(seen.key, seen.shown), seen.numbers
        except TypeError:
            raise _unhashable(outcome) from None

    def _code(self, key: Hashable, shown: Any) -> int:
        code = self._codes.get(key)
        if code is not None:
            return code
        if len(self.outcomes) >= _MAX_OUTCOMES:
            raise UnusableOutcome(
                f"the sampler returned more than {_MAX_OUTCOMES:,} different outcomes, so none of them can be counted "
                "often enough. Allowed: outcomes that repeat, and real numbers, which are binned. "
                "Give outcome=..., a function that keeps what an attacker would look at."
            )
        self._codes[key] = len(self.outcomes)
        self.outcomes.append(shown)
        self._note(shown)
        return self._codes[key]

    def _note(self, shown: Any) -> None:
        """Which fields of releases are not always the same."""
        if type(shown) is tuple:
            for part in shown:
                self._note(part)
        if isinstance(shown, SeenRelease):
            for name, value in shown.fields.items():
                if self._first.setdefault(name, repr(value)) != repr(value):
                    self._varying[name] = None


def _unhashable(outcome: object) -> UnusableOutcome:
    return UnusableOutcome(
        f"the sampler returned a {type(outcome).__name__}, or has one inside its outcome, which cannot be counted. "
        "Allowed: text, numbers, BOTTOM, frozensets and tuples of these, and releases. "
        "Give outcome=..., for example outcome=tuple, to say how two outcomes are compared."
    )


class BlackBox:
    """A sampler that is asked for many draws, in this process or in several.

    ``errors``: an error is an outcome like any other (not with ``batch``, where it is not that of one draw).
    """

    def __init__(
        self,
        sampler: Sampler,
        *,
        batch: bool = False,
        outcome: Callable[[Any], Any] | None = None,
        workers: int = 1,
        errors: bool = False,
    ) -> None:
        if not callable(sampler):
            raise InvalidArgument(
                "sampler", type(sampler).__name__, allowed="a function, or a mechanism with release()"
            )
        self._ask = _Ask(sampler, batch, outcome, errors)
        self._workers = positive_integer(workers, "workers")
        self._pool: ProcessPoolExecutor | None = None
        if self._workers > 1:
            if not picklable(self._ask):
                raise InvalidArgument("workers", workers, allowed="1 where the sampler cannot be pickled")
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context)

    def draw(self, recorder: Recorder, data: Any, size: int, where: str) -> Draws:
        """``size`` independent draws on one input."""
        if self._pool is None:
            return _together(recorder.record(part) for part in self._ask.parts(data, size, where))
        share = -(-size // self._workers)
        sizes = [min(share, size - start) for start in range(0, size, share)]
        futures = [self._pool.submit(self._ask.draw_many, data, number, where) for number in sizes]
        # A plain set is put together anew on its way here, by the hashes of another process.
        return _together(recorder.record(part, orders=False) for future in futures for part in future.result())

    def close(self) -> None:
        """Let go of the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _together(parts: Iterable[Draws]) -> Draws:
    whole: Draws | None = None
    for part in parts:
        whole = part if whole is None else whole + part
    if whole is None:
        raise InvalidArgument("size", 0, allowed="at least one draw")
    return whole


@dataclass(frozen=True, slots=True)
class _Ask:
    sampler: Sampler
    batch: bool
    outcome: Callable[[Any], Any] | None
    errors: bool

    def draw_many(self, data: Any, size: int, where: str) -> list[Any]:
        return list(self.parts(data, size, where))

    def parts(self, data: Any, size: int, where: str) -> Iterable[Any]:
        """Chunks of outcomes, so that an unusable one is found early."""
        for start in range(0, size, _CHUNK):
            number = min(_CHUNK, size - start)
            yield (
                self._batch(data, number, start, where) if self.batch else self._one_by_one(data, number, start, where)
            )

    def _one_by_one(self, data: Any, size: int, before: int, where: str) -> list[Any]:
        found: list[Any] = []
        for _ in range(size):
            try:
                drawn = self._draw(data)
                found.append(drawn if self.outcome is None or isinstance(drawn, Raised) else self.outcome(drawn))
            except Exception as error:
                raise SamplerFailed(type(error).__name__, where, before + len(found)) from error
        return found

    def _draw(self, data: Any) -> Any:
        if not self.errors:
            return self.sampler(data)
        try:
            return self.sampler(data)
        except Exception as error:  # noqa: BLE001 - to whoever asks it is an answer
            return Raised.of(error)

    def _batch(self, data: Any, size: int, before: int, where: str) -> Any:
        try:
            drawn: Sequence[Any] = self.sampler(data, size)
            number = len(drawn)
            found = drawn if self.outcome is None else [self.outcome(one) for one in drawn]
        except Exception as error:
            raise SamplerFailed(type(error).__name__, where, before) from error
        if number != size:
            raise UnusableOutcome(
                f"the sampler returned {number} outcomes where size={size} were asked for. Allowed: exactly as many. "
                "Without batch=True a sampler is asked for one outcome at a time."
            )
        return found

"""How many rows to keep, chosen privately: the first selection of a limited domain that may pick its own k_bar."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from podium.errors import EntropyFailure
from podium.exact import ball, positive_integer
from podium.histogram import Counts, TopRows, item_order
from podium.randomness import BitSource, race, system_bits, uniform_below

__all__ = ["PrivateKBar", "choose_k_bar", "first_rows", "k_bar_distribution"]

_TRIES = 256


@dataclass(frozen=True, slots=True, init=False)
class PrivateKBar:
    """Let the mechanism choose k_bar between k and ``limit``, at the price of one more selection."""

    limit: int

    def __init__(self, limit: int) -> None:
        object.__setattr__(self, "limit", positive_integer(limit, "limit"))


def first_rows(rows: TopRows, k_bar: int) -> TopRows:
    """The top k_bar rows, and the count of the row after them, from the top of a larger limit."""
    if k_bar >= len(rows.items):
        return rows
    last, next_count = int(rows.counts[k_bar - 1]), int(rows.counts[k_bar])
    kept = list(rows.items[:k_bar])
    if last == next_count:
        # The order of equal counts inside the limit means nothing; who is inside this cut, the items decide.
        start, stop = (int(np.searchsorted(-rows.counts, -last, side=side)) for side in ("left", "right"))
        kept[start:] = sorted(rows.items[start:stop], key=item_order)[: k_bar - start]
    return TopRows(tuple(kept), rows.counts[:k_bar], next_count)


def k_bar_distribution(rows: TopRows, k: int, limit: int, rate: Fraction) -> dict[int, flint.arb]:
    """P(i) for i = k..limit, proportional to e^(-rate * h_(i+1)) / i.

    The score -(h_(i+1) + 1 + ln(i/delta)/rate) makes the weight e^(-rate * h_(i+1)) * e^-rate * delta / i, and the
    factors that do not depend on i cancel: nothing transcendental is left but the exponential of a count.
    """
    after = [first_rows(rows, i).next_count for i in range(k, limit + 1)]
    lowest = min(after)
    weights = [ball((lowest - count) * rate).exp() / i for i, count in enumerate(after, start=k)]
    total = functools.reduce(flint.arb.__add__, weights)
    return {i: weight / total for i, weight in enumerate(weights, start=k)}


def choose_k_bar(rows: TopRows, k: int, limit: int, rate: Fraction, bits: BitSource | None) -> int:
    """One draw of ``k_bar_distribution``, from as many groups as there are distinct counts and powers of two.

    All i of a block share the count h_(i+1) and the largest power of two 2^e <= i. The block wins with weight
    size * e^(-rate * count) / 2^e, one of its i is drawn uniformly, and kept with probability 2^e / i, at least
    one half: what is kept has weight e^(-rate * count) / i.
    """
    source = system_bits() if bits is None else bits
    starts, counts = _blocks(rows, k, limit)
    sizes = np.diff(np.append(starts, limit + 1))
    exponents = np.array([start.bit_length() - 1 for start in starts.tolist()])
    scale = 1 << int(exponents[-1])
    multiplicities = [size * (scale >> e) for size, e in zip(sizes.tolist(), exponents.tolist(), strict=True)]
    for _ in range(_TRIES):
        finish = race(-counts, k=1, scale=1 / rate, noise="gumbel", multiplicities=multiplicities, bits=source)
        block = finish.groups[0]
        power = 1 << int(exponents[block])
        chosen = int(starts[block]) + finish.members[0] // (scale // power)
        if uniform_below(chosen, source) < power:
            return chosen
    raise EntropyFailure(
        f"{_TRIES} draws of k_bar in a row were rejected, which sound bits do not do. "
        "Nothing was released. Check the system's entropy (os.urandom)."
    )


def _blocks(rows: TopRows, k: int, limit: int) -> tuple[Counts, Counts]:
    """Where the blocks start, and the count h_(i+1) of each."""
    listed = len(rows.items)
    changes = np.flatnonzero(np.diff(rows.counts)) + 1
    powers = np.array([1 << e for e in range(k.bit_length(), limit.bit_length())], dtype=np.int64)
    starts = np.unique(np.concatenate([[k], changes[changes > k], powers, [listed] if k < listed <= limit else []]))
    starts = starts.astype(np.int64)
    counts = np.full(len(starts), rows.next_count, dtype=np.int64)
    inside = starts < listed
    counts[inside] = rows.counts[starts[inside]]
    return starts, counts

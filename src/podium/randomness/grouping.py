"""Raw scores to groups of equal score, where that pays.

Counts repeat: a million of them often have a few thousand distinct values, and only the largest noise of
each group can matter first. Grouping by a table of the small values costs one pass; scores too large for
the table stay on their own, which is always correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from podium.randomness.bits import BitSource
from podium.randomness.candidates import Integers, chunk_length
from podium.randomness.integers import Patience, distinct_below, uniform_stream

__all__ = ["Grouping", "group_equal"]

_WORTH_IT = 1 << 10
_TABLE_RATIO = 2
_SAMPLE = 1 << 11
_RARE = 1 << 10
_MAX_BATCH = 1 << 9


class Grouping:
    """Distinct small values with their multiplicities, and the rest one by one."""

    def __init__(self, raw: NDArray[np.int64], low: int, width: int) -> None:
        self._raw = raw
        self._low = low
        distances = raw - low
        self._alone = np.flatnonzero(distances >= width)
        # What does not fit shares the last bin, which is then dropped: no second copy of the scores is made.
        np.minimum(distances, width, out=distances)
        table = np.bincount(distances, minlength=1)[:width]
        del distances
        distinct = np.flatnonzero(table)
        self._shared = len(distinct)
        self._width = len(table)
        self.values: NDArray[np.int64] = np.concatenate([distinct + low, raw[self._alone]])
        self.counts: NDArray[np.int64] = np.concatenate([table[distinct], np.ones(len(self._alone), dtype=np.int64)])

    def random_positions(self, groups: Sequence[int], bits: BitSource) -> list[int]:
        """For each group in turn the position of a uniformly random row of it that was not taken before."""
        wanted = Counter(group for group in groups if group < self._shared)
        rows = self._hits({group: count for group, count in wanted.items() if self._is_common(group, count)}, bits)
        for group in rows:
            del wanted[group]
        rows |= self._listed(wanted, bits)
        # Every order of a group's rows is equally likely, so they may be handed out from the end.
        return [
            rows[group].pop() if group < self._shared else int(self._alone[group - self._shared]) for group in groups
        ]

    def _is_common(self, group: int, count: int) -> bool:
        size = int(self.counts[group])
        return size * _RARE >= len(self._raw) and size >= 2 * count

    def _hits(self, wanted: dict[int, int], bits: BitSource) -> dict[int, list[int]]:
        """Rows of common values, found by looking at uniformly random rows until enough were hit."""
        open_values = {int(self.values[group]): (group, count) for group, count in wanted.items()}
        found: dict[int, dict[int, None]] = {group: {} for group in wanted}
        if not wanted:
            return {}
        patience = Patience()
        for batch in uniform_stream(len(self._raw), min(4 * sum(wanted.values()) + 64, _MAX_BATCH), bits):
            before = sum(map(len, found.values()))
            for position, value in zip(batch.tolist(), self._raw[batch.astype(np.intp)].tolist(), strict=True):
                if value in open_values:
                    group, count = open_values[value]
                    found[group][position] = None
                    if len(found[group]) == count:
                        del open_values[value]
            if not open_values:
                break
            patience.after(progress=sum(map(len, found.values())) > before)
        return {group: list(rows) for group, rows in found.items()}

    def _listed(self, wanted: dict[int, int], bits: BitSource) -> dict[int, list[int]]:
        """Rows of rare values, chosen from the list of all rows with one of them."""
        if not wanted:
            return {}
        groups = sorted(wanted)
        values = self.values[groups]
        rows = self._rows_with(values)
        rows = rows[np.argsort(self._raw[rows], kind="stable")]
        found = self._raw[rows]
        starts, stops = np.searchsorted(found, values), np.searchsorted(found, values, side="right")
        return {
            group: [int(rows[start + i]) for i in distinct_below(int(stop - start), wanted[group], bits)]
            for group, start, stop in zip(groups, starts, stops, strict=True)
        }

    def _rows_with(self, values: NDArray[np.int64]) -> NDArray[np.intp]:
        """All rows with one of these small values; in chunks, as all distances at once weigh what the scores do."""
        # One place more than the table, for everything beyond it.
        is_wanted = np.zeros(self._width + 1, dtype=np.bool_)
        is_wanted[values - self._low] = True
        chunk = chunk_length(len(self._raw))
        found = []
        for start in range(0, len(self._raw), chunk):
            distances = self._raw[start : start + chunk] - self._low
            np.minimum(distances, self._width, out=distances)
            found.append(np.flatnonzero(is_wanted[distances]) + start)
        return np.concatenate(found)


def group_equal(raw: Integers) -> Grouping | None:
    """The grouping of raw scores, or None where racing them one by one is as good."""
    if len(raw) < _WORTH_IT or raw.dtype != np.int64:
        return None
    raw = raw.astype(np.int64, copy=False)
    low, width = int(raw.min()), _TABLE_RATIO * len(raw)
    sample = raw[:: max(1, len(raw) // _SAMPLE)]
    repeats = len(sample) - len(np.unique(sample))
    # Grouping pays where values repeat and most of them fit into a table no larger than the scores.
    if 8 * repeats < len(sample) or 2 * int(np.count_nonzero(sample - low < width)) < len(sample):
        return None
    return Grouping(raw, low, width)

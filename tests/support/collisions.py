"""Items whose hashes collide, for tests of what the order of a set tells; and every way to list a release."""

from __future__ import annotations

import copy
import io
import itertools
import json
import pickle
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq

from podium.release import Release

__all__ = ["COLLIDING", "told"]


def _colliding(candidates: Callable[[int], Hashable]) -> tuple[Hashable, Hashable, Hashable]:
    """Two items that a plain set lists in the order in which they came, and a third; text has other ones each time."""
    one, rest = candidates(0), map(candidates, itertools.count(1))
    other = next(item for item in rest if [*frozenset((one, item))] != [*frozenset((item, one))])
    return one, other, next(rest)


COLLIDING = {
    "integers": _colliding(lambda number: number),
    "text": _colliding(lambda number: f"page {number}"),
    "tuples": _colliding(lambda number: (number, f"page {number}")),
}


def told(release: Release) -> dict[str, Any]:
    """All that a caller can list of a release, where the order might say more than the items; not when it was asked."""
    if release.asked is not None:
        release = replace(release, asked=replace(release.asked, at="2026-01-01T00:00:00+00:00"))
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own bytes
    parquet = io.BytesIO()
    pq.write_table(release.to_arrow(), parquet)
    return {
        "tuple": tuple(release.outcome),
        "list": [*release.outcome],
        "repr": repr(release),
        "plain set": tuple(frozenset(release.outcome)),
        "union": tuple(release.outcome | frozenset()) if isinstance(release.outcome, frozenset) else None,
        "dict": list(dict.fromkeys(release.outcome)),
        "items": release.items,
        "json": release.to_json(),
        "json again": repr(Release.from_json(release.to_json())),
        "json sorted by nobody": json.loads(release.to_json(), object_pairs_hook=tuple),
        "pickle": pickle.dumps(release),
        "pickle again": repr(again),
        "copies": (repr(copy.copy(release)), repr(copy.deepcopy(release))),
        "csv": release.to_csv(),
        "arrow": release.to_arrow().to_pylist(),
        "pandas": release.to_pandas().to_dict("records"),
        "polars": release.to_polars().to_dicts(),
        "parquet": parquet.getvalue(),
        "html": release._repr_html_(),
        "parameters": tuple(release.parameters.items()),
        "types": [type(part) for part in (*release.outcome, *(release.values or ()))],
    }

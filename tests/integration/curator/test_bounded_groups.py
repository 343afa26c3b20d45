"""A bound on a user's items where there is a list for each group: of all groups together, and what it costs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium


@pytest.mark.parametrize(("clip", "bounds"), [(None, (1, 4, None)), (1, (1,))])
def test_a_bound_counts_what_a_user_has_in_all_groups(
    tmp_path: Path, clip: int | None, bounds: tuple[int | None, ...]
) -> None:
    """Once for all rounds, so that whoever keeps one item is in one group, and pays for one."""
    users = range(500)
    rows = [(user, country, item) for user in users for country in ("DE", "FR", "IT") for item in "abc"]
    source = tmp_path / "views.parquet"
    pq.write_table(pa.table(dict(zip(("user_id", "country", "article"), zip(*rows, strict=True), strict=True))), source)
    measure: dict[str, Any] = {} if clip is None else {"by": "events", "clip": clip}
    parts = []
    for most in bounds:
        release = podium.top(
            source, user="user_id", item="article", per="country", groups_per_user=2, max_items_per_user=most,
            k=3, counts=True, epsilon=500, delta="1e-6", **measure,
        )  # fmt: skip
        assert release.mechanism == "GroupedRounds"
        counted = sum(float(value) for found in release.lists.values() for value in found.values or ())
        # Two groups of three items each, unless fewer are kept.
        assert abs(counted - (most or 6) * len(users)) < 50
        assert release.parameters["groups_per_user"] == str(min(2, most or 2))
        parts.append((Fraction(release.parameters["mu_squared"]), Fraction(release.parameters["delta"])))
    whole = parts[0]
    assert all(part == (whole[0] / 2, whole[1] / 2) for part in parts[1:])

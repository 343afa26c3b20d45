"""A bound on a user's items where there is a list for each group: of all groups together, and what it costs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium

ROWS = [(user, country, item) for user in range(500) for country in ("DE", "FR", "IT") for item in "abc"]


def views(folder: Path) -> Path:
    source, columns = folder / "views.parquet", ("user_id", "country", "article")
    pq.write_table(pa.table(dict(zip(columns, zip(*ROWS, strict=True), strict=True))), source)
    return source


@pytest.mark.parametrize(("clip", "bounds"), [(None, (1, 4, None)), (1, (1,))])
def test_a_bound_counts_what_a_user_has_in_all_groups(
    tmp_path: Path, clip: int | None, bounds: tuple[int | None, ...]
) -> None:
    """Once for all rounds, so that whoever keeps one item is in one group, and pays for one."""
    source = views(tmp_path)
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
        assert abs(counted - (most or 6) * 500) < 50
        assert release.parameters["groups_per_user"] == str(min(2, most or 2))
        parts.append((Fraction(release.parameters["mu_squared"]), Fraction(release.parameters["delta"])))
    whole = parts[0]
    assert all(part == (whole[0] / 2, whole[1] / 2) for part in parts[1:])


@pytest.mark.parametrize("groups", [None, ["DE", "FR", "IT"]])
@pytest.mark.parametrize("most", [1, 2])
def test_the_same_where_the_clip_is_chosen(tmp_path: Path, most: int, groups: list[str] | None) -> None:
    release = podium.top(
        views(tmp_path), user="user_id", item="article", per="country", groups=groups, groups_per_user=3,
        max_items_per_user=most, by="events", k=3, counts=True, others=True, epsilon=500, delta="1e-6",
    )  # fmt: skip
    assert release.mechanism == "GroupedRoundsAtClip"
    counted = sum(float(value) for found in release.lists.values() for value in found.values or ())
    assert abs(counted - most * 500) < 60

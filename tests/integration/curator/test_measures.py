"""By events and by amounts: answers in the units of the measure, what is paid for the clip, and asking again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.errors import InvalidArgument
from podium.ledger import open_ledger
from podium.present.intervals import margin_of
from podium.privacy.events import GaussianNoise
from podium.privacy.rounding import display

pytestmark = pytest.mark.usefixtures("replayed_choices")

LISTENERS = 400
MINUTES = {"a": 9, "b": 6, "c": 4, "d": 2}
"""What every listener plays; of 'loud' one listener plays more than all others together play of anything."""
DEAR: dict[str, Any] = {"epsilon": 200, "delta": "1e-6"}


def plays(*, loud: int = 0) -> pa.Table:
    """Each listener plays each track twice: half of its minutes at a time."""
    rows = [
        (listener, track, Fraction(minutes, 2), day)
        for listener in range(LISTENERS)
        for track, minutes in MINUTES.items()
        for day in range(2)
    ]
    rows += [(0, "loud", Fraction(1000), 0)] * loud
    return pa.table(
        {
            "listener": pa.array([row[0] for row in rows], pa.int64()),
            "track": [row[1] for row in rows],
            "minutes": pa.array([float(row[2]) for row in rows], pa.float64()),
            "tenths": pa.array([int(10 * row[2]) for row in rows], pa.int64()),
            "day": pa.array([row[3] for row in rows], pa.int64()),
        }
    )


def top(source: Any, **parts: Any) -> podium.Release:
    return podium.top(source, **{"item": "track", "user": "listener", "k": 3, **DEAR, **parts})


@pytest.mark.parametrize(
    "parts",
    [
        {"by": "sum(minutes)", "unit": "0.1"},
        {"by": "sum(tenths)"},
        {"by": "sum(tenths)", "clip": 100},
        {"by": "sum(minutes)", "unit": "0.5", "clip": 10, "mechanism": "limited-domain"},
        {"by": "sum(tenths)", "mechanism": "limited-domain"},
        {"by": "sum(tenths)", "clip": (-10, 100)},
        {"by": "sum(tenths)", "clip": 100, "k": 2},
        {"by": "sum(tenths)", "k": 2},
    ],
)
def test_lists_by_amounts(parts: dict[str, Any]) -> None:
    release = top(plays(loud=3), **parts)
    assert release.items == tuple("abc"[: release.k])
    assert release.parameters["by"] == parts["by"]
    # Rounds bound what a user adds to all items together.
    assert ("length" in release.parameters) == (
        release.k == 3 and "limited" not in str(parts) and "-10" not in str(parts)
    )
    assert int(release.parameters.get("length", release.parameters.get("clip", 0))) >= 1
    if isinstance(parts.get("clip"), int):
        unit = Fraction(parts.get("unit", 1))
        assert int(release.parameters["clip"]) * unit == parts["clip"]
    for delta in (release.guarantee.epsilon(), release.paid.delta):
        assert delta <= 200


@pytest.mark.parametrize("parts", [{}, {"mechanism": "limited-domain"}, {"k": 2}, {"clip": 2}])
def test_lists_by_events_with_counts(parts: dict[str, Any]) -> None:
    release = top(plays(), by="events", counts=True, **parts)
    assert release.values is not None
    assert release.value_kind == "counts"
    assert set(release.items) <= set("abcd")
    assert len(release.items) == release.k
    assert all(abs(value - 2 * LISTENERS) < 60 for value in release.values)
    frame = release.to_pandas()
    assert (frame["count_low"] <= frame["count"]).all()
    assert (frame["count"] <= frame["count_high"]).all()
    assert "events" in str(release)
    assert "per `listener` and track" in str(release)


def test_values_are_in_the_units_of_the_column() -> None:
    release = top(plays(), by="sum(minutes)", unit="0.1", counts=True)
    assert release.items == ("a", "b", "c")
    assert release.values is not None
    for value, track in zip(release.values, "abc", strict=True):
        assert abs(value - LISTENERS * MINUTES[track]) < 120
    frame = release.to_pandas()
    assert list(frame.columns) == ["rank", "track", "sum", "sum_low", "sum_high"]
    again = podium.Release.from_json(release.to_json())
    assert again == release
    assert "minutes" in str(release)


def test_the_picture_speaks_in_the_units_of_the_column() -> None:
    release = top(plays(), by="sum(minutes)", unit="0.1", counts=True, clip=10)
    margin = margin_of(release)
    assert margin is not None
    # Noise is drawn in tenths of a minute.
    sigma = Fraction(release.parameters["count_sigma"]) / 10
    assert margin.law.startswith(f"Gaussian, sigma {display(sigma)} for each count")
    assert margin.sentence.startswith("Each interval holds its true clipped sum with 95% confidence")
    drawn = " ".join(release.plot().alt.split())
    assert "The ranking counts at most 10 minutes per `listener` and track, and as much per `listener` for all" in drawn
    assert "the values count at most 10 per `listener` and track." in drawn


def test_what_is_paid_for_the_clip_is_in_the_receipt() -> None:
    chosen = top(plays(), by="sum(tenths)", epsilon=1)
    stated = top(plays(), by="sum(tenths)", epsilon=1, clip=100)
    for release, histograms in ((chosen, 1), (stated, 0)):
        paid = [
            event
            for event in release.paid.events
            if isinstance(event, GaussianNoise) and event.sensitivity_squared == 2
        ]
        assert len(paid) == histograms
    plan = podium.plan(plays(), item="track", user="listener", k=3, by="sum(tenths)", epsilon=1, delta="1e-6")
    assert "clip" in plan.why
    assert plan.guarantee.epsilon() <= 1


def test_one_loud_listener_changes_nothing() -> None:
    release = top(plays(loud=5), by="sum(tenths)", clip=100)
    assert "loud" not in release.items


def test_a_ledger_repeats_measures_free_of_charge(tmp_path: Path) -> None:
    table = tmp_path / "plays.parquet"
    pq.write_table(plays(), table)
    budget = podium.Budget(epsilon=60, delta="1e-4", items=40, questions=10)
    with podium.Curator(
        table, dataset="plays", user="listener", ledger=tmp_path / "ledger.db", budget=budget
    ) as curator:
        first = curator.top("track", k=3, by="sum(tenths)", clip=100)
        assert first.paid.rho > 0
        sql = "SELECT track FROM plays GROUP BY track ORDER BY SUM(tenths) DESC LIMIT 3"
        for again in (
            curator.top("track", k=3, by="SUM(tenths)", clip="100.0", unit=1),
            curator.top("track", k=2, by="sum(tenths)", clip=100),
            curator.sql(sql, clip=100),
        ):
            assert again.paid.events == ()
            assert again.items == first.items[: again.k]
        others: list[dict[str, Any]] = [{"by": "sum(tenths)"}, {"by": "events"}, {"by": "sum(tenths)", "clip": 90}, {}]
        for other in others:
            assert curator.plan("track", k=3, **other).at_most.rho >= curator.top("track", k=3, **other).paid.rho > 0
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ledger.verify()


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"by": "sum(minutes)"}, "unit=None is not valid"),
        ({"by": "sum(track)"}, "numeric column"),
        ({"by": "events", "ordered": False}, "ordered=False is not valid"),
        ({"by": "sum(tenths)", "clip": (-10, 100), "mechanism": "adaptive"}, "signed"),
        ({"by": "sum(tenths)", "clip": 2**41}, "units"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anything_is_read(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        top(plays(), **parts)
    assert told in str(caught.value)


def test_the_plan_shows_the_query_of_the_top_rows() -> None:
    """Not that of all sums, whether the clip is stated or chosen; rounds have no top rows."""
    asked: dict[str, Any] = {"by": "sum(tenths)", "mechanism": "limited-domain", "k_bar": 20}
    for clip in (100, None):
        shown = podium.plan(plays(), item="track", user="listener", k=3, clip=clip, **asked, **DEAR)
        assert [("LIMIT 21" in query) for query in shown.queries] == [False] * (len(shown.queries) - 1) + [True]
    rounds = podium.plan(plays(), item="track", user="listener", k=30, clip=100, by="sum(tenths)", **DEAR)
    assert not any("LIMIT" in query for query in rounds.queries)

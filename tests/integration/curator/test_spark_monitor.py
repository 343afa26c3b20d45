"""The same lists over time from a Spark session as from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.curator import monitoring
from tests.support.curator.monitoring import FIRST, monitor
from tests.support.spark import SparkCluster, spark_threads

from podium.sources import open_source


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_threads() as cluster:
        yield cluster


def test_every_period_has_its_list_on_spark_too(spark: SparkCluster, tmp_path: Path) -> None:
    table = monitoring.events(tmp_path / "events.parquet", days=3)
    spark.session.read.parquet(str(table)).createOrReplaceTempView("events_over_time")
    source = open_source(spark.session, table="events_over_time")
    with monitor(source, ledger=tmp_path / "ledger.db", periods=2) as watching:
        assert [release.items for release in watching.run()] == [FIRST] * 2
        assert all(release.paid.events == () for release in watching.run())

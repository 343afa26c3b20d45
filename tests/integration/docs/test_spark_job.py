"""The example of a Spark job, on a driver and two executors."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.support.spark import SparkCluster, spark_threads

from podium import Release

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_threads() as cluster:
        yield cluster


@pytest.mark.usefixtures("spark")
def test_the_job_writes_a_release(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_orders.py"))["main"](str(tmp_path / "orders.csv"))
    orders = tmp_path / "orders.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "orders.csv"), orders)
    output = tmp_path / "top.json"
    # As spark-submit does: a session is there already when the job asks for one.
    job = runpy.run_path(str(EXAMPLES / "spark_job.py"))["main"]
    release = job([str(orders), "--item", "product", "--user", "customer", "-k", "2", "--output", str(output)])
    assert release.items == ("rye", "croissant")
    assert Release.from_json(output.read_text(encoding="utf-8")).items == release.items

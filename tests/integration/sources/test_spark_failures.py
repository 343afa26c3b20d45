"""What a Spark source says when something fails: nothing that Spark said, and nothing of a row."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from tests.support.overheard import Overheard, assert_nothing_was_said, failure, overheard
from tests.support.sources.failing import QUERY, groups, top
from tests.support.spark import SMALL, SparkCluster, spark_cluster

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.errors.installing import install_library
from podium.sources import DomainItems, DomainTable, Source, open_source

SECRET = "secret-4711"  # noqa: S105 - a value of a row, not a password
CASTS = "CAST(CAST(IF(item = 'a', '1', item) AS BIGINT) AS STRING)"
RAISING = "IF(item = 'a', item, raise_error(concat('quoting ', item)))"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def path(spark: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("spark") / "events")
    events = spark.session.sql(f"SELECT * FROM VALUES (1L, 'a'), (2L, 'a'), (2L, '{SECRET}') AS t (user_id, item)")
    events.coalesce(1).write.parquet(path)
    for view, item in (("events", "item"), ("raising", RAISING), ("casts", CASTS)):
        spark.session.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT user_id, {item} AS item FROM parquet.`{path}`")
    return path


@pytest.fixture
def said(
    spark: SparkCluster, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[Overheard]:
    """All that anybody could read: the error with what led to it, logs at DEBUG, both streams, the driver's output."""
    heard = overheard(caplog, capfd, "py4j", "pyspark")
    before = len(spark.output)
    # This one keeps the stderr that it found first, and hands nothing on.
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    own = PySparkLogger.getLogger("SQLQueryContextLogger")
    own.addHandler(handler)

    def said(error: BaseException | None = None) -> str:
        # The driver's log is written by other threads.
        time.sleep(1)
        return heard(error) + stream.getvalue() + spark.output[before:]

    yield said
    own.removeHandler(handler)


def test_spark_itself_quotes_the_row(spark: SparkCluster, path: str, said: Overheard) -> None:
    """Without a source in between: in the exception, in a log of its own in Python, and in the driver's log."""
    spark.session.sparkContext.setLogLevel("WARN")
    with pytest.raises(PySparkException, match=SECRET):
        spark.session.sql("SELECT * FROM raising").collect()
    with pytest.raises(PySparkException, match=SECRET):
        spark.session.sql("SELECT * FROM casts").collect()
    quoting = [line for line in said().splitlines() if SECRET in line]
    assert any("SQLQueryContextLogger" in line for line in quoting)
    assert any("py4j" in line for line in quoting)
    assert any("WARN TaskSetManager" in line or "SparkRuntimeException" in line for line in quoting)


@pytest.mark.parametrize("view", ["raising", "casts"])
@pytest.mark.parametrize("read", [top, groups])
def test_an_error_that_quotes_a_row_is_not_passed_on(
    spark: SparkCluster, path: str, view: str, read: Callable[[Source], object], said: Overheard
) -> None:
    source = open_source(spark.session, table=view)
    error = failure(lambda: read(source))
    assert_nothing_was_said(error, said, SECRET, "SparkRuntimeException")


def test_rows_are_not_logged(spark: SparkCluster, path: str, said: Overheard) -> None:
    source = open_source(spark.session, table="events")
    with source.snapshot(QUERY) as snapshot:
        assert snapshot.top_rows(10).top(10).items == ("a", SECRET)
    with source.snapshot(QUERY, domain=DomainItems(("a", "public-item"))) as snapshot:
        assert snapshot.counts_of_counts() == ((2, 0), (1, 1))
    text = said()
    assert SECRET not in text
    assert "public-item" not in text


def test_what_changed_since_opening_is_found_before_the_read(spark: SparkCluster, path: str) -> None:
    spark.session.sql(f"CREATE OR REPLACE TEMP VIEW passing AS SELECT user_id, item FROM parquet.`{path}`")
    source = open_source(spark.session, table="passing")
    source.check(QUERY)
    spark.session.sql(f"CREATE OR REPLACE TEMP VIEW passing AS SELECT user_id FROM parquet.`{path}`")
    assert "item='item' is not a column" in str(failure(lambda: source.check(QUERY)))
    spark.session.catalog.dropTempView("passing")
    assert isinstance(failure(lambda: source.check(QUERY)), SourceUnavailable)


def test_files_that_go_bad(spark: SparkCluster, path: str, tmp_path: Path, said: Overheard) -> None:
    (tmp_path / "gone").mkdir()
    for file in Path(path).glob("*.parquet"):
        (tmp_path / "gone" / file.name).write_bytes(file.read_bytes())
    source = open_source(spark.session, table=str(tmp_path / "gone"))
    with source.snapshot(QUERY) as snapshot:
        for file in (tmp_path / "gone").glob("*.parquet"):
            file.write_bytes(b"PAR1" + SECRET.encode() + b"PAR1")
        error = failure(lambda: snapshot.top_rows(10))
    assert isinstance(error, SourceFailure)
    assert SECRET not in said(error)
    error = failure(lambda: source.check(QUERY))
    assert isinstance(error, SourceUnavailable)
    assert SECRET not in said(error)


def test_damage_is_an_error_whatever_the_session_tolerates(spark: SparkCluster, tmp_path: Path) -> None:
    """Else one damaged file would silently leave its users out."""
    folder = str(tmp_path / "damaged")
    spark.session.range(10).selectExpr("id AS user_id", "'a' AS item").repartition(2).write.parquet(folder)
    first, *_ = sorted(Path(folder).glob("*.parquet"))
    whole = first.read_bytes()
    first.write_bytes(whole[:4] + bytes(30) + whole[34:])
    for checksum in Path(folder).glob(".*.crc"):
        checksum.unlink()
    reader = spark.session.read.schema("user_id BIGINT, item STRING")
    reader.parquet(folder).createOrReplaceTempView("damaged")
    reader.option("ignoreCorruptFiles", "true").parquet(folder).createOrReplaceTempView("tolerant")
    spark.session.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        for table in (folder, "damaged"):
            source = open_source(spark.session, table=table)
            assert isinstance(failure(lambda source=source: top(source)), SourceFailure)  # type: ignore[misc]
        assert "is read with ignoreCorruptFiles" in str(failure(lambda: open_source(spark.session, table="tolerant")))
    finally:
        spark.session.conf.unset("spark.sql.files.ignoreCorruptFiles")


@pytest.mark.parametrize("table", ["missing", "no.such.catalog.events", "", "events; DROP", "/no/such/folder", "a`b/c"])
def test_a_table_that_is_not_there(spark: SparkCluster, path: str, table: str) -> None:
    error = failure(lambda: open_source(spark.session, table=table))
    assert isinstance(error, SourceUnavailable)
    assert str(error).startswith(f"table={table!r} cannot be read on source='a Spark session'.")
    source = open_source(spark.session, table="events")
    assert isinstance(failure(lambda: source.check(QUERY, domain=DomainTable(table))), SourceUnavailable)


@pytest.mark.parametrize("url", ["spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "spark://127.0.0.1:99999"])
def test_a_master_that_is_not_there(url: str) -> None:
    error = failure(lambda: open_source(url, table="events"))
    assert isinstance(error, SourceUnavailable)
    assert str(error).startswith(f"source={url!r} cannot be reached.")


def test_a_second_application_in_one_process(spark: SparkCluster) -> None:
    error = failure(lambda: open_source(spark.url, table="events"))
    assert isinstance(error, SourceUnavailable)
    assert "give that session as the source" in str(error)


def test_spark_connect_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a machine without the packages, whether or not this is one.
    monkeypatch.setitem(sys.modules, "grpc", None)
    error = failure(lambda: open_source("sc://127.0.0.1:1/;token=hidden", table="events"))
    assert isinstance(error, SourceUnavailable)
    assert str(error) == (
        "source='sc://127.0.0.1:1/' is Spark Connect, which needs packages that are not installed. "
        f"Run: {install_library('pyspark[connect]')}"
    )


def test_locations_that_make_no_sense(spark: SparkCluster) -> None:
    with pytest.raises(InvalidArgument, match="table=None"):
        open_source(spark.session)
    with pytest.raises(InvalidArgument, match="createOrReplaceTempView"):
        open_source(spark.session.range(3), table="events")


FROM_OUTSIDE = """
import json, logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
from podium.errors import SourceFailure
from podium.sources import CountQuery, open_source
url, path, raising = sys.argv[1:]
source, other = open_source(url, table=path), open_source(url, table=path)
other.close()
with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
    rows = snapshot.top_rows(1).top(1)
with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
    groups = snapshot.counts_of_counts()
source._session.sql(f"CREATE TEMP VIEW raising AS SELECT user_id, {raising} AS item FROM parquet.`{path}`")
failing = open_source(source._session, table="raising")
application = source._session.sparkContext.applicationId
try:
    with failing.snapshot(CountQuery(("item",), "user_id")) as snapshot:
        snapshot.top_rows(5)
except SourceFailure as error:
    failed = str(error)
source.close()
print(json.dumps([application, rows.items, rows.counts.tolist(), groups, failed]))
"""


def test_a_master_by_its_url(spark: SparkCluster, path: str) -> None:
    """Another process joins the cluster of the tests; all that it and its executors write is looked through.

    Its executor starts when the level of the log is set already: Spark alone would undo the level there.
    """
    command = [sys.executable, "-c", FROM_OUTSIDE, spark.url, path, RAISING]
    options = "".join(f"--conf '{name}={value}' " for name, value in (SMALL | {"spark.cores.max": 1}).items())
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1"}
    ran = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    application, items, counts, groups, failed = json.loads(ran.stdout)
    assert (items, counts, groups) == (["a"], [2], [[2, 1], [1, 1]])
    assert failed == str(SourceFailure())
    logs = [log.read_text() for log in (spark.folder / "home" / "work" / application).rglob("std*")]
    assert logs
    assert not any(SECRET in text for text in (ran.stderr, *logs))

"""Executors that die while Spark counts, and keys of which a few have nearly all rows: a right answer, or none.

Executors are processes; they are killed here, and the cluster starts new ones.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.spark import SparkCluster, spark_cluster

from podium import Budget, Curator
from podium.errors import QuestionForfeited
from podium.ledger import Kind, open_ledger
from podium.sources import CountQuery, DomainSize, Source, open_source
from podium.sources.spark.connection import SparkQuestion

QUERY = CountQuery(("item",), "user_id")
ROWS, PARTS = 2_000, 8
FAST = f"""CREATE OR REPLACE TEMP VIEW fast AS SELECT id AS user_id, CAST(sqrt(id) AS BIGINT) AS item
           FROM range(0, {ROWS}, 1, {PARTS})"""
# Every row takes a while, so that there is a middle of the query.
SLOW = """CREATE OR REPLACE TEMP VIEW slow AS SELECT * FROM fast
          WHERE java_method('java.lang.Thread', 'sleep', 5L) = 'null'"""
COUNTS = {item: (item + 1) ** 2 - item**2 for item in range(44)} | {44: ROWS - 44**2}
PATIENCE = 120.0


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_cluster() as cluster:
        yield cluster


@pytest.fixture
def fast(spark: SparkCluster) -> Iterator[Source]:
    spark.session.sql(FAST)
    wait_for(lambda: len(executors(spark)) == registered(spark) == 2)
    yield open_source(spark.session, table="fast")
    # Whoever comes next finds the cluster as it was.
    wait_for(lambda: len(executors(spark)) == registered(spark) == 2)


@pytest.fixture
def slow(spark: SparkCluster, fast: Source) -> Source:
    spark.session.sql(SLOW)
    return open_source(spark.session, table="slow")


def executors(spark: SparkCluster) -> list[int]:
    """The processes of this application's executors."""
    application = spark.session.sparkContext.applicationId
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (OSError, ValueError):
            continue
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and application in words:
            found.append(int(process.name))
    return found


def registered(spark: SparkCluster) -> int:
    """How many executors the driver counts on, itself left out."""
    return int(spark.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def kill(spark: SparkCluster, number: int) -> None:
    """Some executors die at once."""
    running = executors(spark)
    assert len(running) == 2
    for process in running[:number]:
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: not set(running[:number]) & set(executors(spark)))


@contextmanager
def killed_while_running(spark: SparkCluster, number: int) -> Iterator[list[int]]:
    """Executors die when a task of the query inside has ended, and not all; how many had is noted."""
    tracker = spark.session.sparkContext.statusTracker()
    before, done = set(tracker.getJobIdsForGroup(None)), []

    def progress() -> int:
        jobs = (tracker.getJobInfo(job) for job in set(tracker.getJobIdsForGroup(None)) - before)
        stages = (tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds)
        return sum(stage.numCompletedTasks for stage in stages if stage)

    def wait_and_kill() -> None:
        wait_for(lambda: progress() >= 1)
        done.append(progress())
        kill(spark, number)

    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(wait_and_kill)
        yield done
    killing.result()


def test_skewed_keys(spark: SparkCluster) -> None:
    """Nine rows of ten have the same item, and half of all rows the same user."""
    spark.session.sql(
        "CREATE OR REPLACE TEMP VIEW skewed AS SELECT IF(id % 2 = 0, -1, id) AS user_id, "
        "IF(id % 10 = 0, id % 1000, -7) AS item FROM range(0, 100000, 1, 8)"
    )
    source = open_source(spark.session, table="skewed")
    with source.snapshot(QUERY) as snapshot:
        top = snapshot.top_rows(3).top(3)
    assert list(zip(top.items, top.counts.tolist(), strict=True)) == [(-7, 50_001), (0, 1), (10, 1)]
    assert top.next_count == 1


def test_an_executor_dies_in_the_middle_of_a_query(spark: SparkCluster, slow: Source) -> None:
    with killed_while_running(spark, 1) as done, slow.snapshot(QUERY) as snapshot:
        top = snapshot.top_rows(100).top(100)
    assert 1 <= done[0] < PARTS
    assert dict(zip(top.items, top.counts.tolist(), strict=True)) == COUNTS


def test_all_executors_die_while_counts_are_kept(spark: SparkCluster, slow: Source) -> None:
    """They are computed again from the rows, which is the same question still; what was kept answers the rest."""
    with slow.snapshot(QUERY, domain=DomainSize(50)) as snapshot:
        with killed_while_running(spark, 2) as done:
            groups = dict(zip(*snapshot.counts_of_counts(), strict=True))
        assert 1 <= done[0] < PARTS
        assert groups == {0: 5, **Counter(COUNTS.values())}
        assert snapshot.names([(87, 0), (0, 4)]) == (43, 49)


def test_kept_counts_that_are_lost_are_a_failure_and_stay_paid(
    spark: SparkCluster, fast: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading again might see other rows, so the question fails; its reservation is forfeited, the next one works."""
    keep = SparkQuestion.keep

    def keep_and_lose(question: SparkQuestion, *arguments: Any) -> None:
        keep(question, *arguments)
        kill(spark, 2)

    budget = Budget(epsilon=3, delta="1e-6", items=20, questions=20)
    with (
        open_ledger(tmp_path / "ledger.db") as ledger,
        Curator(fast, dataset="fast", user="user_id", ledger=ledger, budget=budget) as curator,
    ):
        monkeypatch.setattr(SparkQuestion, "keep", keep_and_lose)
        with pytest.raises(QuestionForfeited) as caught:
            curator.top("item", k=3, domain_size=50)
        monkeypatch.undo()
        assert caught.value.__context__ is None
        assert [entry.kind for entry in ledger.history("fast")][-2:] == [Kind.RESERVED, Kind.FORFEITED]
        assert ledger.status("fast").spent.rho > 0
        assert len(curator.top("item", k=3, domain_size=50).items) == 3
        assert ledger.history("fast")[-1].kind is Kind.SETTLED

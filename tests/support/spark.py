"""A real Spark for the tests, started once and stopped with the tests: two executors, each a process, or two threads.

    with spark_cluster() as cluster: cluster.session.sql(...)
    with spark_threads() as cluster: ...

Queries of all kinds are asked of the threads, which take less time; what happens between processes, of the cluster. A
test process has one Spark at a time: whoever asks for the other one ends the first, whose tests must be over.

What the driver writes to stdout and stderr is kept in a file, because pytest's own capture begins after it started.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

__all__ = ["SMALL", "SparkCluster", "spark_cluster", "spark_threads"]

# Compiling queries and machine code pays off on large tables only. Spark's own classes are not verified again in each
# machine: that is a sixth of the time that one takes to start.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
SMALL: dict[str, bool | float | int | str | None] = {
    "spark.default.parallelism": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
}
"""For an application on a machine that has other things to do."""

# Tables are tiny: 4 MiB for each broadcast, pages for large aggregates, and what protects and compresses files of a
# shuffle take longer than their rows.
_SETTINGS = SMALL | {
    "spark.app.name": "podium's tests",
    "spark.broadcast.blockSize": "64k",
    "spark.broadcast.compress": "false",
    "spark.buffer.pageSize": "1m",
    "spark.cores.max": "2",
    "spark.shuffle.checksum.enabled": "false",
    "spark.shuffle.compress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "America/St_Johns",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Two workers, each with room for an executor of these tests and one of another application.
_CLUSTER = "local-cluster[2,2,1024]"
_THREADS = "local[2]"

_running: list[SparkCluster] = []
_users: list[SparkCluster] = []


@dataclass(frozen=True)
class SparkCluster:
    session: SparkSession
    folder: Path
    master: str

    @property
    def output(self) -> str:
        """All that the driver wrote so far."""
        return (self.folder / "output").read_text(encoding="utf-8", errors="replace")

    @property
    def url(self) -> str:
        """Where other applications reach the master."""
        backend = self.session.sparkContext._jsc.sc().schedulerBackend()
        masters = backend.getClass().getDeclaredField("masters")
        masters.setAccessible(True)
        return str(masters.get(backend)[0])


def spark_cluster() -> AbstractContextManager[SparkCluster]:
    """A driver and two executors, each a process."""
    return _spark(_CLUSTER)


def spark_threads() -> AbstractContextManager[SparkCluster]:
    """A driver that does all the work in two threads."""
    return _spark(_THREADS)


@contextmanager
def _spark(master: str) -> Iterator[SparkCluster]:
    if not _running or _running[0].master != master:
        _stop()
        _running.append(_start(master))
    mine = _running[0]
    _users.append(mine)
    try:
        yield mine
    finally:
        _users.remove(mine)
        if _running == [mine] and mine not in _users:
            _stop()


def _stop() -> None:
    while _running:
        cluster = _running.pop()
        cluster.session.stop()
        # The machine below it too: it knows the folder that Spark was started in.
        gateway: Any = SparkContext._gateway
        SparkContext._gateway = SparkContext._jvm = None
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        shutil.rmtree(cluster.folder)


def _start(master: str) -> SparkCluster:
    folder = Path(tempfile.mkdtemp(prefix="podium-spark-"))
    # Workers write below Spark's home, which is the installed package.
    home = folder / "home"
    home.mkdir()
    for part in ("bin", "jars"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    builder = SparkSession.builder.master(master).config(map=_SETTINGS)
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    with pytest.MonkeyPatch.context() as patch, _output_to(folder / "output"):
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # Executors of a real cluster need not have a Python with pyspark: nothing of ours may start one.
        patch.setenv("PYSPARK_PYTHON", "no-python-here")
        session = builder.getOrCreate()
    return SparkCluster(session, folder, master)


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """What child processes that start now write, for as long as they live."""
    before = [os.dup(stream) for stream in (1, 2)]
    with path.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    try:
        yield
    finally:
        for stream, saved in zip((1, 2), before, strict=True):
            os.dup2(saved, stream)
            os.close(saved)

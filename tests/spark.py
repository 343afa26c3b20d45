"""A real Spark for the tests: a driver and two executors, each a process, started once and stopped with the tests.

    with spark_cluster() as cluster: cluster.session.sql(...)

What the driver writes to stdout and stderr is kept in a file, because pytest's own capture begins after it started.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

__all__ = ["SMALL", "SparkCluster", "spark_cluster"]

# Compiling queries and machine code pays off on large tables only.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
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

_SETTINGS = SMALL | {
    "spark.app.name": "podium's tests",
    "spark.cores.max": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "America/St_Johns",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Two workers, each with room for an executor of these tests and one of another application.
_MASTER = "local-cluster[2,2,1024]"

_running: list[SparkCluster] = []
_users = 0


@dataclass(frozen=True)
class SparkCluster:
    session: SparkSession
    folder: Path

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


@contextmanager
def spark_cluster() -> Iterator[SparkCluster]:
    global _users  # noqa: PLW0603
    _users += 1
    try:
        if not _running:
            _running.append(_start())
        yield _running[0]
    finally:
        _users -= 1
        if _users == 0 and _running:
            cluster = _running.pop()
            cluster.session.stop()
            shutil.rmtree(cluster.folder)


def _start() -> SparkCluster:
    folder = Path(tempfile.mkdtemp(prefix="podium-spark-"))
    # Workers write below Spark's home, which is the installed package.
    home = folder / "home"
    home.mkdir()
    for part in ("bin", "jars"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    builder = SparkSession.builder.master(_MASTER).config(map=_SETTINGS)
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    with pytest.MonkeyPatch.context() as patch, _output_to(folder / "output"):
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # Executors of a real cluster need not have a Python with pyspark: nothing of ours may start one.
        patch.setenv("PYSPARK_PYTHON", "no-python-here")
        session = builder.getOrCreate()
    return SparkCluster(session, folder)


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

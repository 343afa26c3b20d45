"""The same question on servers: PostgreSQL with the indices that a user would have, and Spark with skewed keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import podium
from bench.engines.servers import spark_session
from bench.measure import Contestant, interleaved
from bench.postgresql import postgresql
from bench.scale.child import DELTA, EPSILON
from bench.scale.data import Table
from bench.scale.questions import K
from podium.sources import Source, open_source

__all__ = ["SERVERS", "server_cells"]

Setting: TypeAlias = tuple[str, Callable[[], object], Source]
"""What is asked, the plain query, and the same table as a source."""

_PLAIN = "SELECT item, COUNT(DISTINCT user_id) AS n FROM events GROUP BY item ORDER BY n DESC LIMIT 10"
_INDICES = ("(user_id)", "(item)", "(item, user_id)")


@contextmanager
def _postgresql(table: Table, _: Path) -> Iterator[Iterator[Setting]]:
    import psycopg  # noqa: PLC0415 - not everybody has it

    with postgresql() as server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE events (user_id BIGINT NOT NULL, item BIGINT NOT NULL)")
        connection.execute(
            f"""INSERT INTO events SELECT (hashint8extended(i, 1) & 4294967295) % {table.users},
            CAST(exp(ln({table.items}) * (hashint8extended(i, 2) & 4294967295) / 4294967296.0) AS BIGINT) - 1
            FROM generate_series(1, {table.rows}) AS r (i)""".encode()  # noqa: S608
        )

        def settings() -> Iterator[Setting]:
            for indexed in (False, True):
                for columns in _INDICES if indexed else ():
                    connection.execute(f"CREATE INDEX ON events {columns}".encode())
                connection.execute("VACUUM ANALYZE events")
                with closing(open_source(server.url, table="events")) as source:
                    what = f"indices on {', '.join(_INDICES)}" if indexed else "no index"
                    yield what, lambda: connection.execute(_PLAIN).fetchall(), source

        yield settings()


@contextmanager
def _spark(table: Table, where: Path) -> Iterator[Iterator[Setting]]:
    with spark_session() as session:
        frame = session.read.parquet(str(table.folder(where)))

        def settings() -> Iterator[Setting]:
            skewed = ["IF(user_id % 2 = 0, -1, user_id) AS user_id", "IF(user_id % 10 < 9, 0, item) AS item"]
            for what, columns in (("Zipf", ["user_id", "item"]), ("9 rows of 10 have one item", skewed)):
                frame.selectExpr(*columns).createOrReplaceTempView("events")
                with closing(open_source(session, table="events")) as source:
                    yield what, lambda: session.sql(_PLAIN).collect(), source

        yield settings()


SERVERS = {"PostgreSQL": _postgresql, "Spark": _spark}


def server_cells(engine: str, table: Table, where: Path, repetitions: int) -> list[dict[str, Any]]:
    """Podium and the plain query in turns, for each way in which the engine holds the table."""
    cells = []
    with SERVERS[engine](table, where) as settings:
        for what, plain, source in settings:

            def ours(source: Source = source) -> object:
                return podium.top(source, item="item", user="user_id", k=K, epsilon=EPSILON, delta=DELTA)

            # The first question to a server connects and compiles, whoever asks it.
            plain(), ours()
            timings = interleaved([Contestant("plain", plain, repetitions), Contestant("podium", ours, repetitions)])
            cells.append(
                {
                    "engine": engine,
                    "setting": what,
                    "rows": table.rows,
                    "seconds": {who: timing.seconds for who, timing in timings.items()},
                    "ratio": timings["podium"].median / timings["plain"].median,
                }
            )
    return cells

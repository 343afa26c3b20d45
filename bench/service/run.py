"""The service against the same web framework answering without privacy: requests per second, and p99.

    python -m bench service [--quick]

Both run with two workers on this machine, asked by the same callers in turns. A fresh question is one that nobody asked
before; a plan reads no rows; a repeated question and a permalink are answered from the ledger.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import machine
from bench.service.baseline import TABLE_VARIABLE
from bench.service.serving import Running, free_port, new_token, running, stopped, views, wait_for

BUDGET = "epsilon = 100\ndelta = 1e-3\nitems = 100000\nquestions = 20000"
CALLERS = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    users: int
    rounds: int
    seconds: float


FULL = Plan(users=200_000, rounds=5, seconds=3.0)
QUICK = Plan(users=3_000, rounds=2, seconds=1.0)


@dataclass(slots=True)
class Measured:
    """The latencies of one kind of request, and how long its rounds took together."""

    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.seconds) / self.elapsed

    @property
    def p99(self) -> float:
        """The latency that one request in a hundred exceeds."""
        return statistics.quantiles(self.seconds, n=100)[98] if len(self.seconds) > 1 else self.seconds[0]


Request = Callable[[http.client.HTTPConnection], int]


def main() -> None:
    """Measure, print, check."""
    parser = argparse.ArgumentParser(prog="python -m bench service", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small table and seconds instead of minutes")
    plan = QUICK if parser.parse_args().quick else FULL
    print(report(measure(plan), plan))


def measure(plan: Plan) -> dict[str, Measured]:
    """Every kind of request, in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        views(folder / "views.parquet", users=plan.users)
        with running(folder, budget=BUDGET) as server, _baseline(folder) as baseline:
            host = server.url.removeprefix("http://")
            kinds = _kinds(server, host)
            measured = {kind: Measured() for kind in (*kinds, "without privacy")}
            for _ in range(plan.rounds):
                for kind, request in kinds.items():
                    _load(host, request, plan.seconds, measured[kind])
                _load(baseline, _post("/top", {}, _fresh), plan.seconds, measured["without privacy"])
            return measured


def _kinds(server: Running, host: str) -> dict[str, Request]:
    headers = {"Authorization": f"Bearer {new_token(server, 'bench')}"}
    place = "/v1/datasets/views"
    repeated = {"item": "article", "k": 10}
    first = _post(f"{place}/releases", headers, lambda: repeated)
    connection = http.client.HTTPConnection(host)
    if first(connection) != 200:
        raise RuntimeError("the service does not answer")
    connection.request("GET", f"{place}/releases", headers=headers)
    entry = json.loads(connection.getresponse().read())["releases"][0]["entry"]
    connection.close()
    return {
        "plan": _post(f"{place}/plan", headers, _fresh),
        "permalink": _get(f"{place}/releases/{entry}", headers),
        "repeated question": first,
        "fresh question": _post(f"{place}/releases", headers, _fresh),
    }


_numbers = itertools.count()


def _fresh() -> dict[str, Any]:
    """A question that nobody asked before, of the same cost to the engine."""
    return {"item": "article", "k": 10, "where": f"user_id <> 'nobody-{next(_numbers)}'"}


def _post(path: str, headers: dict[str, str], body: Callable[[], dict[str, Any]]) -> Request:
    sent = {**headers, "Content-Type": "application/json"}
    return lambda connection: _status(connection, "POST", path, json.dumps(body()), sent)


def _get(path: str, headers: dict[str, str]) -> Request:
    return lambda connection: _status(connection, "GET", path, None, headers)


def _status(
    connection: http.client.HTTPConnection, method: str, path: str, body: str | None, headers: dict[str, str]
) -> int:
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _load(host: str, request: Request, seconds: float, into: Measured) -> None:
    """Some callers, each with a connection of its own, for a while."""
    start = time.perf_counter()
    lock = threading.Lock()

    def call() -> None:
        connection = http.client.HTTPConnection(host, timeout=60)
        while time.perf_counter() - start < seconds:
            before = time.perf_counter()
            status = request(connection)
            took = time.perf_counter() - before
            with lock:
                into.seconds.append(took)
            if status != 200:
                raise RuntimeError(f"status {status}")
        connection.close()

    callers = [threading.Thread(target=call) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    into.elapsed += time.perf_counter() - start


@contextmanager
def _baseline(folder: Path) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.service.baseline", str(port)],
        env={**os.environ, TABLE_VARIABLE: str(folder / "views.parquet")}, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    try:
        wait_for(f"http://127.0.0.1:{port}/openapi.json", process)
        yield f"127.0.0.1:{port}"
    finally:
        stopped(process)


def report(measured: dict[str, Measured], plan: Plan) -> str:
    """A table, with every kind as a ratio to the answer without privacy."""
    plain = measured["without privacy"]
    lines = [
        f"{machine()}",
        f"{plan.users:,} users, {CALLERS} callers, two workers each, {plan.rounds} rounds of {plan.seconds:g} s",
        "",
        f"{'request':<20}{'per second':>12}{'median ms':>12}{'p99 ms':>10}{'rate ratio':>12}{'median ratio':>14}",
    ]
    for kind, found in measured.items():
        median, base = statistics.median(found.seconds), statistics.median(plain.seconds)
        lines.append(
            f"{kind:<20}{found.rate:>12.1f}{1000 * median:>12.1f}{1000 * found.p99:>10.1f}"
            f"{found.rate / plain.rate:>12.2f}{median / base:>14.2f}"
        )
    return "\n".join([*lines, "", "ratios are to the same framework's non-private query, in the same run"])


if __name__ == "__main__":
    main()

"""Many analysts at once on real workers, while workers are killed and the ledger's database is stopped and started.

    python -m bench.load [--quick]

Three storms of mixed questions: on an undisturbed service; on SQLite while workers are killed with -9; on PostgreSQL,
to an account with a Gaussian filter, while workers are killed and the database is stopped and started. After each the
books are checked: nothing overspent, every answer paid for exactly once, nothing shown that was not settled, the chain
verifies.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bench.measure import machine
from bench.postgresql import Server, postgresql
from bench.service.serving import Running, running
from bench.service.storm import Books, Seen, audit_books, storm, unlock
from podium.errors import PodiumError

__all__ = ["disturbed", "kill_a_worker", "main", "undisturbed"]

BUDGET = "epsilon = 3\ndelta = 1e-6\nitems = 80\nquestions = 25"
"""Too little for all that is asked: some must be refused."""
GAUSSIAN = f'{BUDGET}\nfilter = "gaussian"'
ANALYSTS = 64
CALM = frozenset({200, 409})
"""An answer, or not enough budget."""
KILLED = CALM | {423}
"""And locked after three forfeited questions, until the owner unlocks it."""
OUTAGE = KILLED | {503}


def main() -> None:
    """Three storms, and their tallies."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="seconds instead of a minute")
    seconds, analysts = (6.0, 16) if parser.parse_args().quick else (60.0, ANALYSTS)
    print(machine())
    print(f"{analysts} analysts for {seconds:g} s each, two workers, every question sent twice")
    with tempfile.TemporaryDirectory() as name:
        print(_line("undisturbed, SQLite", *undisturbed(Path(name), analysts, seconds)))
    with tempfile.TemporaryDirectory() as name:
        print(_line("kill -9 of workers, SQLite", *disturbed(Path(name), "ledger.db", None, analysts, seconds)))
    with tempfile.TemporaryDirectory() as name, postgresql() as server:
        seen, books = disturbed(Path(name), server.url, server, analysts, seconds)
        print(_line("kill -9 of workers, PostgreSQL stopped and started", seen, books))


def _line(what: str, seen: Seen, books: Books) -> str:
    forfeited = ", ".join(f"{number} {reason}" for reason, number in sorted(books.forfeited.items())) or "none"
    return (
        f"{what}: {seen.tally()}; {books.settled} answers settled, forfeited: {forfeited}, paid twice: "
        f"{len(books.paid_twice)}, overspent: {'yes' if books.overspent else 'no'}, ledger "
        f"{'verifies' if books.sound else 'does not verify'}"
    )


def undisturbed(folder: Path, analysts: int, seconds: float) -> tuple[Seen, Books]:
    """Not one failure is allowed, and not one lost connection."""
    with running(folder, budget=BUDGET) as server:
        seen = storm(server, analysts, seconds)
    return _judged(seen, audit_books(str(folder / "ledger.db"), seen), CALM, lost=False)


def disturbed(folder: Path, ledger: str, database: Server | None, analysts: int, seconds: float) -> tuple[Seen, Books]:
    """Connections to workers that were killed are lost; while the database is away there are clear refusals."""
    address = ledger if "://" in ledger else str(folder / ledger)
    with running(folder, ledger=ledger, budget=BUDGET if database is None else GAUSSIAN) as server:

        def trouble() -> None:
            for _ in range(2):
                time.sleep(seconds / 8)
                kill_a_worker(server)
                _until(lambda: unlock(address), seconds / 8)
                if database is not None:
                    database.stop()
                    _expect_not_ready(server)
                    time.sleep(seconds / 8)
                    database.start()

        seen = storm(server, analysts, seconds, trouble)
    allowed = KILLED if database is None else OUTAGE
    return _judged(seen, audit_books(address, seen), allowed, lost=True)


def kill_a_worker(server: Running) -> None:
    """As a power cut would; another one is started in its place."""
    for worker in server.workers()[:1]:
        os.kill(worker, signal.SIGKILL)


def _expect_not_ready(server: Running) -> None:
    try:
        with urllib.request.urlopen(f"{server.url}/ready", timeout=300) as answer:  # noqa: S310 - our own address
            raise AssertionError(f"ready={answer.status} while the ledger's database is away")
    except urllib.error.HTTPError as refused:
        if refused.code != 503:
            raise
    except OSError:
        # The worker that took it was the one that was killed.
        return


def _judged(seen: Seen, books: Books, allowed: frozenset[int], *, lost: bool) -> tuple[Seen, Books]:
    """Raise unless all is as it must be."""
    wrong = sorted(set(seen.statuses) - allowed)
    reasons = set(books.forfeited) - {"crashed"}
    if wrong or seen.unclear or reasons or not books.in_order or (seen.lost and not lost):
        raise AssertionError(f"statuses {wrong}, forfeited {reasons}, {seen.tally()}, {books}, {seen.unclear[:3]}")
    return seen, books


def _until(work: Callable[[], None], seconds: float) -> None:
    """Do it now and then, for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(PodiumError):
            work()
        time.sleep(0.2)


if __name__ == "__main__":
    main()

"""Ledgers that an older podium wrote."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger import workers
from tests.support.ledger.restored import restored
from tests.support.processes import together

from podium.errors import LedgerUnavailable
from podium.ledger import Reason, open_ledger
from podium.ledger.tables.migrations import LATEST
from podium.privacy import Cost

VERSION_1 = Path(__file__).with_name("version_1.sql")
"""A ledger of version 1 as SQL text, frozen: no sums per analyst, no index of questions."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return restored(tmp_path / "old.db", VERSION_1)


def versions(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    found = [version for (version,) in connection.execute("SELECT version FROM migrations ORDER BY version")]
    connection.close()
    return found


def test_a_ledger_of_version_1_is_all_there(old: Path) -> None:
    assert versions(old) == [1]
    with open_ledger(old) as ledger:
        assert versions(old) == list(range(1, LATEST + 1))
        assert ledger.verify().problem is None
        assert ledger.datasets() == ("clicks", "pure")
        status = ledger.status("clicks")
        # Ann: two of three items settled, and three forfeited; Bob: three reserved.
        single = Fraction(1, 20)
        assert {name: held.epsilon for name, held in status.analysts.items()} == {"ann": 5 * single, "bob": 3 * single}
        assert (status.open_reservations, status.failures) == (1, 1)
        found = ledger.find_release("clicks", "top 3 of article")
        assert found is not None
        assert found.release == '{"outcome": ["a"]}'


def test_work_goes_on_after_the_migration(old: Path) -> None:
    with open_ledger(old) as ledger:
        (entry,) = ledger.recover(force=True)
        assert entry.facts == {"reason": Reason.ABANDONED.value}
        cost = Cost(epsilon="0.2", rho="0.02")
        ledger.settle(ledger.reserve("pure", cost, "q2", analyst="ann"), "{}", cost)
        assert ledger.status("pure").remaining.epsilon == 0
        assert ledger.verify().problem is None


def test_several_processes_migrate_once(old: Path) -> None:
    together(4, workers.register, str(old))
    assert versions(old) == list(range(1, LATEST + 1))
    with open_ledger(old) as ledger:
        assert ledger.verify().problem is None


def test_a_ledger_of_the_future_is_refused(old: Path) -> None:
    open_ledger(old).close()
    connection = sqlite3.connect(old)
    connection.execute("INSERT INTO migrations VALUES (99, 'some day')")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerUnavailable, match=f"version=99.*up to {LATEST}.*Install a newer podium"):
        open_ledger(old)


def test_a_migration_that_fails_leaves_the_old_version(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE analysts (in_the_way TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerUnavailable):
        open_ledger(old)
    assert versions(old) == [1]

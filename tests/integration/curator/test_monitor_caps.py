"""The cap of a period holds also against whoever asks between two looks at the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.curator.monitoring import events, monitor

from podium.curator.monitor import turn
from podium.curator.monitor.windows import schedule_question
from podium.errors import InvalidArgument
from podium.ledger import Kind, open_ledger
from podium.privacy import Cost

ACCOUNT = "daily@2026-01-01"


def test_a_question_charged_after_the_record_was_read_is_not_overlooked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = events(tmp_path / "events.parquet")

    def meanwhile(*args: object) -> str:
        """Somebody else is charged after this period's share was worked out, and before it is reserved."""
        with open_ledger(table.with_name("ledger.db")) as other:
            (registered,) = (entry for entry in other.history(ACCOUNT) if entry.kind is Kind.REGISTERED)
            schedule = registered.facts["schedule"]
            other.reserve(ACCOUNT, Cost(epsilon=None, rho="1e-6"), "from elsewhere", schedule=schedule)
        return schedule_question(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(turn, "schedule_question", meanwhile)
    with (
        monitor(table, unit="user-period", window="3 days", periods=3) as watching,
        pytest.raises(InvalidArgument, match=r"^after=.* Allowed: the hash of the last entry of 'daily@2026-01-01'\."),
    ):
        next(watching.run())
    with open_ledger(table.with_name("ledger.db")) as ledger:
        reserved = [entry.question for entry in ledger.history(ACCOUNT) if entry.kind is Kind.RESERVED]
    assert reserved == ["from elsewhere"]

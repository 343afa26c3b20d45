"""What a schedule reads off its ledger: every attempt of a period counts, and one that failed counts in full."""

from __future__ import annotations

from typing import Any

from podium.curator.monitor.periods import Record, Role, question_identity
from podium.histogram import Histogram
from podium.ledger.entries import Entry, Kind
from podium.mechanisms import ExponentialTopK
from podium.privacy import Cost
from podium.query import QuestionRecord

WORST, LESS = Cost(epsilon="1/2", rho="1/8", delta="1e-6"), Cost(epsilon="1/4", rho="1/32", delta="1e-6")
RELEASE = ExponentialTopK(1, "1/4").release(Histogram({"a": 900})).to_json()


def entry(sequence: int, kind: Kind, **fields: Any) -> Entry:
    return Entry("daily", sequence, kind, "2026-01-01T00:00:00+00:00", "", "", hash=f"hash {sequence}", **fields)


def asked(sequence: int, period: str = "2026-01-01", schedule: str = "ours") -> Entry:
    question = QuestionRecord(
        items=("i",), where=None, user="u", k=1, k_bar=None, ordered=True, domain=None, max_items_per_user=None,
        mechanism="auto", budget={}, counts=False, schedule=question_identity(schedule, period, Role.LIST),
    ).to_text()  # fmt: skip
    return entry(sequence, Kind.RESERVED, cost=WORST, question=question)


def test_what_failed_or_is_open_is_charged_in_full_and_what_was_settled_for_what_it_cost() -> None:
    history = [
        asked(1), entry(2, Kind.FORFEITED, reservation=1),
        asked(3), entry(4, Kind.SETTLED, reservation=3, cost=LESS, release=RELEASE),
        asked(5),
        asked(6, "2026-01-02"),
        asked(7, schedule="another"),
    ]  # fmt: skip
    record = Record.of(history, "ours")
    assert (record.foreign, record.head) == (1, "hash 7")
    first = record.of_period("2026-01-01")
    assert [attempt.cost for attempt in first.attempts] == [WORST, LESS, WORST]
    assert first.cost == WORST + LESS + WORST
    assert first.open
    told = first.release(Role.LIST)
    assert told is not None
    assert (told.items, told.paid.events, told.paid.entry) == (("a",), (), "hash 4")

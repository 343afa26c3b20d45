"""Entries, sums and rows: exact, canonical, strict."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from fractions import Fraction

import pytest

from podium.errors import (
    DatasetExists,
    DatasetLocked,
    InvalidArgument,
    LedgerError,
    LedgerLocked,
    LedgerTampered,
    LedgerUnavailable,
    ReservationClosed,
    UnknownDataset,
)
from podium.ledger.account import Contradiction
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.tables.rows import entry_from_row, entry_to_row
from podium.privacy import Cost, GaussianNoise, PureMechanism
from podium.storage.labels import label, long_text, private_text

FULL = Entry(
    "clicks", 7, Kind.SETTLED, "2026-01-01T00:00:00+00:00", "before", "salt",
    cost=Cost(epsilon="1/3", rho="1/18", delta="1e-9"), reservation=6, analyst="ann", question="q é",
    question_key="k", data_version="1", idempotency_key="i", owner="o", details='{"a":1}', release="{}",
)  # fmt: skip


def test_the_hash_is_frozen() -> None:
    # SHA-256 of the canonical text, computed apart; a change of it would break every existing ledger.
    assert FULL.computed_hash() == "c2c8f151f9c81f41dd1c4e0a9414a9d45d18ab6f85d744af4227599bde07c955"


def test_every_field_is_in_the_hash() -> None:
    changes: dict[str, object] = {
        item.name: {
            "kind": Kind.SEEN,
            "sequence": 8,
            "reservation": 5,
            "cost": Cost(epsilon="1/3", rho="1/18", delta="2e-9"),
        }.get(item.name, "different")
        for item in fields(Entry)
        if item.name != "hash"
    }
    hashes = {replace(FULL, **{name: value}).computed_hash() for name, value in changes.items()}  # type: ignore[arg-type]
    assert len(hashes | {FULL.computed_hash()}) == len(changes) + 1
    for cost in (None, Cost(epsilon=None, rho="1/18", delta="1e-9"), Cost(epsilon="1/3", rho="1/17", delta="1e-9")):
        assert replace(FULL, cost=cost).computed_hash() not in hashes


def test_canonical_json_is_one_text() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"\\u00e9","b":1}'


def test_rows_round_trip() -> None:
    entry = replace(FULL, hash=FULL.computed_hash())
    assert entry_from_row("clicks", entry_to_row(entry)) == entry
    bare = Entry("clicks", 1, Kind.UNLOCKED, "t", "p", "s", hash="h")
    assert entry_from_row("clicks", entry_to_row(bare)) == bare


@pytest.mark.parametrize(
    ("column", "value"),
    [(0, "7"), (1, "gift"), (2, None), (4, "2/36"), (4, "-1/18"), (4, "0.05"), (4, None), (5, 0.1), (6, "6"), (7, 3)],
)
def test_rows_that_podium_would_not_write(column: int, value: object) -> None:
    row = list(entry_to_row(FULL))
    row[column] = value  # type: ignore[call-overload]
    with pytest.raises(Contradiction):
        entry_from_row("clicks", tuple(row))


def test_neither_salt_nor_release_nor_owner_is_shown() -> None:
    entry = replace(FULL, salt="hidden-1", release="hidden-2", owner="hidden-3")
    assert "hidden" not in repr(entry)
    assert "hidden" not in str(entry.to_dict())


def test_sums_can_be_taken_apart() -> None:
    gaussian, pure = Cost(epsilon=None, rho="0.5"), Cost(epsilon="0.1", rho="0.005", delta="1e-9")
    both = Sum.of(gaussian) + Sum.of(pure)
    assert both.cost == gaussian + pure
    assert (both - Sum.of(gaussian)).cost == pure
    many = Sum.of(Cost(epsilon=0, rho=0, delta="0.6"))
    assert (many + many).cost.delta == 1
    assert (many + many - many) == many


def test_rho_is_rounded_up_once() -> None:
    events = (GaussianNoise(3),) * 3
    cost, kept = Charged.of(events, reserve=True)
    assert kept == events
    assert 0 <= cost.rho - Fraction(3, 18) < Fraction(1, 2**64)
    assert (cost.rho * 2**64).denominator == 1


def test_outcome_dependent_costs_are_reserved_in_full_and_settled_as_they_came() -> None:
    event = PureMechanism("0.25", reserved=1)
    assert Charged.of((event,), reserve=True)[0].epsilon == 1
    assert Charged.of((event,), reserve=False)[0].epsilon == Fraction(1, 4)


@pytest.mark.parametrize("text", ["", "a" * 201, "a\n", "\x00", "\ud800", "\u202e"])
def test_labels_are_short_and_printable(text: str) -> None:
    with pytest.raises(InvalidArgument, match="printable text of 1 to 200"):
        label(text, "analyst")


def test_texts() -> None:
    assert label("Zoë's clicks (2026)", "dataset") == "Zoë's clicks (2026)"
    assert long_text("a\nb", "question") == "a\nb"
    with pytest.raises(InvalidArgument, match="question"):
        long_text("a\0b", "question")
    with pytest.raises(InvalidArgument) as caught:
        private_text("row 4711\0", "release_json")
    assert "4711" not in str(caught.value)
    assert "4711" not in repr(caught.value.value)


@pytest.mark.parametrize(
    "error",
    [
        DatasetExists("a", "a"),
        DatasetExists("a", "b"),
        DatasetLocked("a", 3),
        LedgerLocked("ledger.db", 0.5),
        LedgerTampered("a", "it was changed"),
        LedgerUnavailable("no"),
        ReservationClosed("a", 3, "settled"),
        UnknownDataset("a", "b"),
        UnknownDataset("a", None),
    ],
)
def test_errors_survive_a_trip_between_processes(error: LedgerError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__

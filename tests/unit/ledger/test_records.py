"""Entries, sums and rows: exact, canonical, strict."""

from __future__ import annotations

import hashlib
import json
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
from podium.ledger import Budget
from podium.ledger.account import Account, Contradiction, describe_events
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.budget import Totals
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.recorded import facts_of, recorded_events
from podium.ledger.state import State
from podium.ledger.tables.rows import ACCOUNT_COLUMNS, account_to_row, entry_from_row, entry_to_row
from podium.privacy import Cost, GaussianNoise, PureMechanism, Selection
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


def test_the_hash_is_that_of_canonical_json() -> None:
    bare = Entry("clicks", 1, Kind.REGISTERED, "2026-01-01T00:00:00+00:00", "before", "salt")
    hostile = replace(FULL, question='"\\ \x00 \x7f é \u2028 \U0001f600', release='{"a":"\\n"}')
    for entry in (FULL, bare, hostile, replace(FULL, cost=Cost(epsilon=None, rho="1/18"))):
        document = {item.name: getattr(entry, item.name) for item in fields(Entry) if item.name not in ("hash", "cost")}
        if entry.cost is not None:
            document |= {"epsilon": entry.cost.epsilon, "rho": entry.cost.rho, "delta": entry.cost.delta}
        document |= {"chain": 1, "kind": entry.kind.value}
        texts = {
            name: str(value) if isinstance(value, Fraction) else value
            for name, value in document.items()
            if value is not None
        }
        text = json.dumps(texts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        assert entry.computed_hash() == hashlib.sha256(text.encode("ascii")).hexdigest()


def test_what_an_entry_commits_to_is_canonical_json() -> None:
    details = {"source": "s", "totals": Totals.of(Budget(epsilon=1, delta="1e-6")).to_dict(), "failures_allowed": 3}
    first = Entry("clicks", 1, Kind.REGISTERED, "", "", "", data_version="", details=canonical_json(details))
    account = Account.from_registration(first)
    for state in (State(account), State(account, {"é": ("1/3", 0, "0", "0")}, {12: "me", 3: ""})):
        named = zip(ACCOUNT_COLUMNS.split(", "), account_to_row(state.account), strict=True)
        document = {
            "account": {name: value for name, value in named if name != "head" and value not in (0, None)},
            "analysts": state.analysts,
            "opened": sorted(state.opened.items()),
        }
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        assert state.digest() == hashlib.sha256(text.encode("ascii")).hexdigest()


def test_details_that_are_kept_parsed_are_those_of_their_text() -> None:
    tenth, half = describe_events((Selection("0.1"),) * 3), describe_events((Selection("0.5"),))
    first = replace(FULL, details=canonical_json({"events": tenth}))
    assert recorded_events(first) is recorded_events(replace(first, sequence=9))
    # The same events beside other facts, other events, and more different texts than are kept.
    assert recorded_events(replace(FULL, details=canonical_json({"events": tenth, "session": True}))) is not None
    second = recorded_events(replace(FULL, details=canonical_json({"events": half})))
    assert second is not None
    assert second.events == (Selection("0.5"),)
    for number in range(600):
        assert facts_of(replace(FULL, details=f'{{"number":{number}}}'))["number"] == number
    known = recorded_events(first)
    assert known is not None
    assert known.costs(Charged.of(known.events, reserve=True).cost, reserve=True)
    assert not known.costs(Cost(epsilon="0.3", rho="1/10"), reserve=True)
    assert recorded_events(FULL) is None
    with pytest.raises(TypeError):
        facts_of(FULL)["a"] = 2  # type: ignore[index]

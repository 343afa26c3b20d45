"""A receipt is genuine if the ledger settled what it says, in every part, or what it was derived from."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import podium
from tests.support.curator import monitoring
from tests.support.curator.monitoring import monitor

from podium.curator import Curator
from podium.errors import InvalidArgument
from podium.ledger import Budget, Ledger, open_ledger
from podium.ledger.receipts import Claim
from podium.release import Receipt, Release

BUDGET = Budget(epsilon=50, delta="1e-6", items=100, questions=20)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.db") as opened:
        yield opened


@pytest.fixture
def curator(ledger: Ledger, tmp_path: Path) -> Iterator[Curator]:
    rows = "".join(f"{user},{item}\n" for item, many in (("a", 900), ("b", 600), ("c", 300)) for user in range(many))
    (tmp_path / "orders.csv").write_text(f"customer,item\n{rows}", encoding="utf-8")
    with Curator(tmp_path / "orders.csv", dataset="orders", user="customer", ledger=ledger, budget=BUDGET) as made:
        yield made


def document(release: Release) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(release.to_json())
    return found


def judged(ledger: Ledger, told: dict[str, Any]) -> str:
    report = ledger.verify("orders", receipts=[Claim(told["entry"], document=told)])
    return "; ".join(one.compared for one in report.receipts) if report.sound else f"refused: {report.problem}"


def test_what_was_told_is_genuine_and_says_what_was_compared(ledger: Ledger, curator: Curator) -> None:
    first = curator.top("item", k=3, counts=True)
    again, shorter = curator.top("item", k=3, counts=True), curator.top("item", k=2, counts=True)
    report = ledger.verify(receipts=[first, again, shorter, str(first.paid.entry)])
    assert report.problem is None
    assert [one.compared for one in report.receipts] == [
        "the whole release, but for how it was asked",
        "the whole release, told again free of charge, but for how it was asked",
        "its first 2 of 3 places, told again free of charge, but for how it was asked",
        "its hash",
    ]
    assert {(one.dataset, one.sequence, one.kind) for one in report.receipts} == {("orders", 3, "settled")}


def test_no_part_of_a_release_can_be_forged(ledger: Ledger, curator: Curator) -> None:
    for genuine in (curator.top("item", k=3, counts=True), curator.top("item", k=2, counts=True)):
        told = document(genuine)
        assert not judged(ledger, told).startswith("refused")
        others: dict[str, list[Any]] = {
            "mechanism": ["LimitedDomain"],
            "parameters": [{}, {**told["parameters"], "sigma": "1"}],
            "k": [1, 10, True],
            "ordered": [False],
            "outcome": [["c", *told["outcome"][1:]], told["outcome"][::-1], told["outcome"][:1], [1], [True]],
            "complete": [not told["complete"], 1],
            "values": [["1", *told["values"][1:]], told["values"][:1], None],
            "value_kind": ["gaps", None],
            "paid": [told["paid"][:1], [*told["paid"], *told["paid"]], [told["paid"][0]] if told["paid"] else [{}]],
            "guarantee": [{**told["guarantee"], "epsilon": "1/1000"}],
            "theorem": ["none"],
            "user": ["item", None],
            "columns": [["customer"], ["item", "customer"], None],
            "period": ["2026-01-01"],
            "note": ["audited"],
            "decimals": [{}, {**told["decimals"], "values": [1.0, 2.0]}, None],
        }
        assert set(told) <= {*others, "format", "entry", "asked"}
        for name, values in others.items():
            for value in values:
                if value != told.get(name) or isinstance(value, bool) != isinstance(told.get(name), bool):
                    forged = {**copy.deepcopy(told), name: value}
                    assert judged(ledger, forged).startswith("refused: 'orders', entry "), (name, value)


def test_a_number_is_not_a_truth_value(ledger: Ledger, curator: Curator, tmp_path: Path) -> None:
    rows = "".join(f"{user},1\n" for user in range(900))
    (tmp_path / "flags.csv").write_text(f"customer,flag\n{rows}", encoding="utf-8")
    types = {"customer": "integer", "flag": "integer"}
    with Curator(
        tmp_path / "flags.csv", dataset="flags", user="customer", ledger=ledger, budget=BUDGET, types=types
    ) as flags:
        told = document(flags.top("flag", k=1))
    assert told["outcome"] == [1]
    assert ledger.verify(receipts=[Claim(told["entry"], document=told)]).sound
    assert not ledger.verify(receipts=[Claim(told["entry"], document={**told, "outcome": [True]})]).sound


def test_only_an_entry_that_settled_a_release_of_this_data_set_will_do(ledger: Ledger, curator: Curator) -> None:
    release = curator.top("item", k=3)
    ledger.register("others", BUDGET, source="elsewhere")
    for entry in ledger.history("orders")[:2] + ledger.history("others"):
        forged = replace(release, paid=Receipt(release.paid.events, entry=entry.hash))
        problem = ledger.verify(receipts=[forged]).problem
        assert problem is not None
        assert problem.what == f"the entry of a receipt did not settle a release, it is {entry.kind.value!r}"
    assert "no entry has the hash" in str(ledger.verify("others", receipts=[release]).problem)
    claim = Claim(str(release.paid.entry), dataset="others")
    assert "is of another data set, 'orders'" in str(ledger.verify(receipts=[claim]).problem)
    with pytest.raises(InvalidArgument, match="a release that a ledger settled"):
        ledger.verify(receipts=[replace(release, paid=Receipt(()))])


def test_a_set_has_no_first_places(ledger: Ledger, curator: Curator) -> None:
    release = curator.top("item", k=3)
    chosen = replace(release, outcome=frozenset("ab"), k=2, paid=Receipt(release.paid.events))
    cost = release.paid.cost
    entry = ledger.settle(ledger.reserve("orders", cost, "a set"), chosen.to_json(), cost)
    told = document(replace(chosen, paid=Receipt(release.paid.events, entry=entry.hash)))
    assert judged(ledger, told) == "the whole release, but for how it was asked"
    for fewer in (["a"], ["b"]):
        for ordered in (False, True):
            forged = {**told, "k": 1, "ordered": ordered, "outcome": fewer}
            assert judged(ledger, forged).startswith("refused"), ordered


def test_the_command_compares_files(curator: Curator, tmp_path: Path) -> None:
    told = document(curator.top("item", k=3))
    file, verify = tmp_path / "answer.json", ("budget", "verify", "orders", "--ledger", str(tmp_path / "ledger.db"))
    file.write_text(json.dumps(told, indent=1), encoding="utf-8")
    good = podium(*verify, "--receipt", str(file))
    assert good.exit_code == 0
    assert "entry 3 of orders, settled; compared: the whole release" in good.stdout
    file.write_text(json.dumps({**told, "outcome": ["c", "b", "a"]}), encoding="utf-8")
    forged = podium(*verify, "--receipt", str(file))
    assert forged.exit_code == 7
    assert "a release differs from the one that was settled, in outcome" in forged.stdout
    registration = json.loads(podium(*verify[:1], "history", *verify[2:], "--format", "json").stdout)["entries"][0]
    file.write_text(json.dumps({**told, "entry": registration["hash"]}), encoding="utf-8")
    assert "it is 'registered'" in podium(*verify, "--receipt", str(file)).stdout
    # Heads are of the data set that they are named after.
    file.write_text(json.dumps({"heads": {"others": told["entry"]}}), encoding="utf-8")
    everything = ("budget", "verify", "--ledger", str(tmp_path / "ledger.db"), "--receipt", str(file))
    assert "is of another data set, 'orders'" in podium(*everything).stdout


@pytest.mark.parametrize("unit", ["user", "user-period"])
def test_lists_of_a_schedule(tmp_path: Path, unit: str) -> None:
    table = monitoring.events(tmp_path / "events.parquet")
    with monitor(table, unit=unit, periods=3) as watching, open_ledger(tmp_path / "ledger.db") as ledger:
        lists = list(watching.run())
        assert ledger.verify(receipts=[*lists, *watching.run(), *watching.releases.values()]).problem is None
        told = document(lists[1])
        parameters = told["parameters"]
        shown = {**told, "period": parameters["period"]}
        for forged in (
            {**told, "outcome": told["outcome"][::-1]},
            {**told, "parameters": {**parameters, "period": "2026-01-03"}},
            {**told, "parameters": {**parameters, "opens": "2026-01-03T00:00:00"}},
            {**told, "parameters": {**parameters, "closes": "2027-01-03T00:00:00"}},
            {**shown, "period": "2026-01-03"},
        ):
            assert not ledger.verify(receipts=[Claim(told["entry"], document=forged)]).sound
        assert ledger.verify(receipts=[Claim(told["entry"], document=shown)]).sound


def test_a_schedule_that_found_nothing(tmp_path: Path) -> None:
    table = monitoring.events(tmp_path / "events.parquet")
    with (
        monitor(table, start="2020-01-01", periods=2) as watching,
        open_ledger(tmp_path / "ledger.db") as ledger,
    ):
        report = ledger.verify(receipts=[*watching.run(), *watching.run()])
        assert report.problem is None
        assert all(one.compared.startswith("that nothing was found") for one in report.receipts)

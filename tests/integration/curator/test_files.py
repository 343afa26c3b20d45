"""Files under a budget: those that were checked are read, others only once the owner declares a version."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.curator.tables import BUDGET

from podium import Curator
from podium.errors import SourceUnavailable
from podium.ledger import Kind, open_ledger


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    return write(tmp_path / "orders.csv", "a")


def write(path: Path, item: str, *lines: str) -> Path:
    path.write_text("\n".join(["u,i", *lines, *(f"{user},{item}" for user in range(4_000))]), encoding="utf-8")
    return path


def curator(orders: Path) -> Curator:
    return Curator(orders, dataset="orders", user="u", ledger=orders.with_name("ledger.db"), budget=BUDGET)


def test_a_file_that_changed_is_read_when_its_owner_declares_a_version(orders: Path) -> None:
    with curator(orders) as asked:
        assert asked.top("i", k=1).items == ("a",)
        write(orders, "bb")
        for _ in range(2):
            with pytest.raises(SourceUnavailable, match=r"'orders\.csv' changed or went away after"):
                asked.top("i", k=1, where="i <> 'x'")
        with open_ledger(orders.with_name("ledger.db")) as ledger:
            assert Kind.FORFEITED not in {entry.kind for entry in ledger.history("orders")}
            ledger.set_data_version("orders", "2")
        assert asked.top("i", k=1, where="i <> 'x'").items == ("bb",)
        write(orders, "ccc")
        with pytest.raises(SourceUnavailable, match="changed"):
            asked.top("i", k=1)


def test_a_new_version_that_is_broken_is_refused_without_its_line(orders: Path) -> None:
    with curator(orders) as asked:
        write(orders, "a", '9999,"5" pipe"')
        with open_ledger(orders.with_name("ledger.db")) as ledger:
            ledger.set_data_version("orders", "2")
        with pytest.raises(SourceUnavailable, match="new version of the data could not be opened") as caught:
            asked.top("i", k=1)
        assert "line" not in str(caught.value)
        write(orders, "dddd")
        assert asked.top("i", k=1).items == ("dddd",)

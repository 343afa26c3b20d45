"""Ledgers that were written before: the kind of an account stays, and prices are what they were.

``gaussian.sql`` has one account with a Gaussian filter and a cap per analyst, one entry of every kind but a new label
and an unlocking, steps of every kind, and an open reservation of a process far away.
"""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from podium.ledger import Budget, Kind, Reason, open_ledger
from podium.ledger.account import terms_of
from podium.privacy import GaussianNoise, Selection

FOLDER = Path(__file__).parent
HELD = Fraction(6232315675851582557, 2**64)
OWN = {"ann": Fraction(2755795309013091247, 2**63), "bob": Fraction(2303239124628858647, 2**64)}
CHAIN = [["bounded_range", "1/50", 2, 256, "30243142061159772023/302231454903657293676544"]]


def restored(name: str, folder: Path) -> Path:
    path = folder / "kept.db"
    connection = sqlite3.connect(path)
    connection.executescript((FOLDER / name).read_text(encoding="utf-8"))
    connection.close()
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("version", [1, 2, 3])
def test_accounts_of_before_add_up_rho(version: int, tmp_path: Path) -> None:
    with open_ledger(restored(f"version_{version}.sql", tmp_path)) as ledger:
        for name in ledger.datasets():
            totals, before = ledger.status(name).totals, len(ledger.history(name))
            assert (totals.budget.filter, totals.books.filter) == ("zcdp", "zcdp")
            assert totals.rules < 3
            larger = totals.budget.to_dict() | {"epsilon": 2 * totals.budget.epsilon}
            ledger.raise_total(name, Budget.from_dict(larger | {"filter": "auto"}))
            assert ledger.status(name).totals.budget.filter == "zcdp"
            noise = GaussianNoise(3, discrete=True) if totals.budget.delta else Selection("0.3")
            ledger.reserve(name, [noise], "new", analyst="ann", schedule=ledger.history(name)[0].facts.get("schedule"))
            assert all(not terms_of(entry) for entry in ledger.history(name)[before:])
        assert ledger.verify().sound


def test_what_a_gaussian_filter_charged_is_what_it_charges(tmp_path: Path) -> None:
    """Verification computes every chain again: a price that changed would be found here."""
    with open_ledger(restored("gaussian.sql", tmp_path)) as ledger:
        assert ledger.verify().sound
        status, kinds = ledger.status("clicks"), {entry.kind for entry in ledger.history("clicks")}
        assert status.totals.budget.filter == "gaussian"
        assert kinds == set(Kind) - {Kind.RELABELLED, Kind.UNLOCKED}
        assert status.held.mu_squared == HELD
        assert {name: held.mu_squared for name, held in status.sums.items()} == OWN
        asked = ledger.reserve("clicks", [Selection("0.02")] * 2, "new", analyst="ann")
        assert terms_of(ledger.history("clicks")[-1])["chain"]["parts"] == CHAIN
        ledger.forfeit(asked, Reason.CANCELLED)
        assert ledger.status("clicks").held.mu_squared > HELD
        (lost,) = ledger.recover(force=True)
        assert json.loads(lost.details or "") == {"reason": "abandoned"}
        assert ledger.verify().sound

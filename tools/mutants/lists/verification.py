"""Mutations of how a ledger is verified: in parts, and with what equal details say kept."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "ledger/verification.py",
        "return entry.computed_hash() == remembered.hex()",
        "return entry.computed_hash() == entry.hash",
        "what is read once more is what was read before",
        ("integration/ledger/test_streamed.py::test_a_settlement_that_is_exchanged_after_it_was_read_is_noticed",),
    ),
    Mutant(
        "ledger/tables/copying.py",
        '"sequence <= ? AND sequence > ?", (rows[-1][0],)',
        '"sequence <= ? AND sequence >= ?", (rows[-1][0] + 2,)',
        "no entry is passed over between two readings",
        ("integration/ledger/test_streamed.py::test_nothing_is_missed_between_two_readings[sqlite]",),
    ),
    Mutant(
        "ledger/bookkeeping/zcdp_books.py",
        "if fits and plus(held.delta, cost.delta) <= limits.delta:",
        "if fits:",
        "a question that fits by rho needs its delta too",
        ("unit/ledger/test_account.py::test_delta_is_limited_where_rho_fits",),
    ),
)

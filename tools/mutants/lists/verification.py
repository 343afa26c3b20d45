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
    Mutant(
        "ledger/bookkeeping/priced.py",
        "if last is not None and last.found.holds_at(free):",
        "if last is not None:",
        "a chain is kept for what is free where it would be found again",
        ("unit/ledger/test_priced.py::test_terms_are_those_of_a_search",),
    ),
    Mutant(
        "ledger/bookkeeping/priced.py",
        "last = self._last.get(session)",
        "last = next(iter(self._last.values()), None)",
        "a session has a chain of its own",
        ("unit/ledger/test_priced.py::test_terms_are_those_of_a_search",),
    ),
)

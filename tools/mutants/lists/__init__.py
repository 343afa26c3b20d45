"""All mutations, by area. To add one, add an entry to the list of its area."""

from __future__ import annotations

from tools.mutants.lists import estimates, ledger, mechanisms, planning, privacy
from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *mechanisms.MUTANTS,
    *estimates.MUTANTS,
    *privacy.MUTANTS,
    *ledger.MUTANTS,
    *planning.MUTANTS,
)

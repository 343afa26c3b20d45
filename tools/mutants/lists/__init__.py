"""All mutations, by area. To add one, add an entry to the list of its area."""

from __future__ import annotations

from tools.mutants.lists import curator, estimates, ledger, mechanisms, planning, privacy, service, sources
from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *mechanisms.MUTANTS,
    *estimates.MUTANTS,
    *privacy.MUTANTS,
    *ledger.MUTANTS,
    *planning.MUTANTS,
    *curator.MUTANTS,
    *sources.MUTANTS,
    *service.MUTANTS,
)

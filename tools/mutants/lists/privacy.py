"""Costs, conversions, filters, and the direction in which each is rounded."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "privacy/events.py",
        "return self.reserved**2 / 2",
        "return self.epsilon**2 / 2",
        "rho never depends on the outcome",
        ("unit/privacy/test_events.py::test_outcome_cost_is_pure_only",),
    ),
)

"""All mutations, by area. To add one, add an entry to the list of its area."""

from __future__ import annotations

from tools.mutants.lists import (
    bounded_groups,
    by_sizes,
    curator,
    cut_off,
    estimates,
    fences,
    files,
    gaussian_filter,
    groups,
    joins,
    known_domains,
    ledger,
    lengths,
    mariadb,
    measures,
    planning,
    privacy,
    questions,
    randomness,
    releases,
    service,
    sources,
    unknown_domains,
    verification,
)
from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *known_domains.MUTANTS,
    *unknown_domains.MUTANTS,
    *groups.MUTANTS,
    *bounded_groups.MUTANTS,
    *cut_off.MUTANTS,
    *by_sizes.MUTANTS,
    *measures.MUTANTS,
    *lengths.MUTANTS,
    *estimates.MUTANTS,
    *privacy.MUTANTS,
    *gaussian_filter.MUTANTS,
    *randomness.MUTANTS,
    *ledger.MUTANTS,
    *verification.MUTANTS,
    *questions.MUTANTS,
    *planning.MUTANTS,
    *curator.MUTANTS,
    *sources.MUTANTS,
    *joins.MUTANTS,
    *fences.MUTANTS,
    *mariadb.MUTANTS,
    *files.MUTANTS,
    *releases.MUTANTS,
    *service.MUTANTS,
)

"""A list for each group: what of a user counts in all of them together."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_BOUND = "integration/curator/test_bounded_groups.py"

MUTANTS = (
    Mutant(
        "sources/sql/pairs.py",
        "return pairs if most is None else cut_pairs(self, pairs, most)",
        "return pairs",
        "a bound counts what a user has in all groups, where it is paid for in as few groups",
        (f"{_BOUND}::test_a_bound_counts_what_a_user_has_in_all_groups[None-bounds0]",),
    ),
    Mutant(
        "curator/prepare.py",
        "cut = replace(cut, pairs_per_user=self.strategy.facts.max_items_per_user)",
        "cut = replace(cut, within_group=False)",
        "the bound over all groups is part of what all rounds share",
        (f"{_BOUND}::test_a_bound_counts_what_a_user_has_in_all_groups[1-bounds1]",),
    ),
    Mutant(
        "sources/sql/groups/named_pairs.py",
        "there.bounds and query.salt != kept.salt",
        "there.per_user is not None and query.salt != kept.salt",
        "kept pairs that a hash chose are read with its salt",
        ("unit/sources/test_group_cut.py::test_kept_pairs_are_read_with_the_salt_that_cut_them",),
    ),
)

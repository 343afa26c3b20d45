"""A list for each group: what of a user counts in all of them together, and in every period of a schedule."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_BOUND = "integration/curator/test_bounded_groups.py"
_WATCH = "integration/curator/test_grouped_schedules.py"
_READ = "unit/mechanisms/test_grouped_rounds.py::test_a_group_pays_for_every_discovery_that_read_it"
_SHARES = "unit/planning/test_group_plan.py"

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
        "curator/prepare.py",
        "_CUT_BEFORE_ROUNDS = (Reads.GROUPS_IN_ROUNDS, Reads.GROUPS_IN_ROUNDS_AT_CLIP)",
        "_CUT_BEFORE_ROUNDS = (Reads.GROUPS_IN_ROUNDS,)",
        "the bound over all groups is applied where a clip is chosen too",
        (f"{_BOUND}::test_the_same_where_the_clip_is_chosen[1-None]",),
    ),
    Mutant(
        "sources/sql/groups/named_pairs.py",
        "there.bounds and query.salt != kept.salt",
        "there.per_user is not None and query.salt != kept.salt",
        "kept pairs that a hash chose are read with its salt",
        ("unit/sources/test_group_cut.py::test_kept_pairs_are_read_with_the_salt_that_cut_them",),
    ),
    Mutant(
        "planning/schedule/group_plan.py",
        "if alone and schedule.span != 1:",
        "if alone and schedule.span is None:",
        "rows of one period move a user between groups in windows that overlap",
        (f"{_WATCH}::test_what_cannot_be_kept_is_refused_before_anything_is_registered[changes0-unit]",),
    ),
    Mutant(
        "planning/schedule/shares.py",
        "self._for_list(index) / self._sum(later, self._for_list)",
        "Fraction(1, 2)",
        "every period pays for its lists by itself",
        (f"{_SHARES}::test_the_lists_of_all_periods_share_the_total[growing]",),
    ),
    Mutant(
        "planning/schedule/group_plan.py",
        "rho = number * (self.limits.rho or Fraction(0))",
        "rho = self.limits.rho or Fraction(0)",
        "who appears in several periods loses in each of them",
        (f"{_SHARES}::test_who_appears_in_several_periods_loses_in_each",),
    ),
    Mutant(
        "curator/monitor/windows.py",
        '"groups_per_user": found.per_user or ALL_GROUPS,\n        }',
        "}",
        "schedules of users in more groups are others",
        (f"{_WATCH}::test_other_groups_are_another_schedule",),
    ),
    Mutant(
        "mechanisms/groups/lockstep.py",
        "        for stage in self._stages:\n            run.tell(_nothing(stage))\n",
        "",
        "a group that is found late has been read by the discoveries before",
        (f"{_READ}[found late: what found nothing has read it]",),
    ),
    Mutant(
        "mechanisms/groups/lockstep.py",
        "return stages.get(group) if group in self.own else rest",
        "return stages.get(group, rest)",
        "a group that has its list is not read by what goes on for others",
        (f"{_READ}[settled: what goes on for others does not read it]",),
    ),
)

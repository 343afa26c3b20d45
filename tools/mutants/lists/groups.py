"""A list for each group: what is shown, what it costs, and the margins that share one delta."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_UNIT = "unit/mechanisms/test_groups.py"
_WORLDS = "exhaustive/mechanisms/test_groups.py"
_CURATOR = "integration/curator/test_groups.py"
_DRAWS = "statistical/mechanisms/test_groups.py"
_ROUNDS = "unit/mechanisms/test_grouped_rounds.py"
_AMOUNTS = "unit/mechanisms/test_grouped_amounts.py"
_DOORS = "integration/curator/test_groups_doors.py"
_AT_CLIP = "integration/curator/test_groups_at_clip.py"

MUTANTS = (
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "self.own_events(self.inner.worst_case) * self.most",
        "self.own_events(self.inner.worst_case)",
        "a user in two groups counts twice",
        (f"{_UNIT}::test_two_groups_cost_the_selections_of_two_lists_and_delta_once",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "if self.most == 1 else (HiddenItems(self.delta),)",
        "if self.most else (HiddenItems(self.delta),)",
        "two groups fail more often than one call",
        (f"{_UNIT}::test_two_groups_cost_the_selections_of_two_lists_and_delta_once",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "Fraction(_changing(k_bar, max_items_per_user, 1), _changing(k_bar, max_items_per_user, groups))",
        "1",
        "the margins of all groups share delta",
        (f"{_UNIT}::test_the_margin_hides_all_that_a_user_has_in_all_groups[None-5-50]",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "    most = groups * k_bar\n",
        "    most = k_bar\n",
        "a user may make or break k_bar items in each group",
        (f"{_UNIT}::test_the_margin_hides_all_that_a_user_has_in_all_groups[None-5-50]",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "if screen is not None and screen.hides(histogram):",
        "if False:",
        "an empty group is not shown where groups are unknown",
        (f"{_DRAWS}::test_draws_follow_the_distribution_and_no_other_scale[None]",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "return () if self.known is None and tuple(outcome) == (BOTTOM,) else ((group, outcome),)",
        "return ((group, outcome),)",
        "the stated distribution hides what is not shown",
        (f"{_WORLDS}::test_a_group_is_hidden_as_often_as_the_vector_says",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        'if inner.noise != "gumbel" or inner.strict or not isinstance(inner.k_bar, int):',
        'if inner.noise != "gumbel" or not isinstance(inner.k_bar, int):',
        "the strict domain needs a margin for all of k_bar in every group",
        (f"{_WORLDS}::test_a_strict_domain_needs_more_than_the_pairs_of_a_user",),
    ),
    Mutant(
        "mechanisms/groups/grouped_topk.py",
        "costliest(events, self.most, hidden=self._hidden)",
        "costliest(events, self.most)",
        "hidden groups are charged too",
        (f"{_UNIT}::test_nothing_at_all_costs_a_selection_for_each_group_of_a_user",),
    ),
    Mutant(
        "mechanisms/groups/costliest.py",
        "ranked.sort(key=lambda group: _price(groups[group]), reverse=True)",
        "ranked.sort(key=lambda group: _price(groups[group]))",
        "the costliest groups are charged, not the cheapest",
        (f"{_UNIT}::test_the_costliest_groups_are_charged_and_hidden_ones_count_one[1-3]",),
    ),
    Mutant(
        "mechanisms/groups/costliest.py",
        "ranked = [group for group in ranked if _price(groups[group]) >= _price(hidden)]",
        "ranked = list(ranked)",
        "hidden groups may be the costliest",
        (f"{_UNIT}::test_hidden_groups_may_cost_more_than_shown_ones",),
    ),
    Mutant(
        "mechanisms/groups/screening.py",
        "weight * rows)",
        "weight)",
        "any of the rows may come out",
        (f"{_DRAWS}::test_a_screened_group_has_the_distribution_of_the_whole_mechanism[1-counts5]",),
    ),
    Mutant(
        "mechanisms/groups/screening.py",
        "if not largest:",
        "if not len(histogram):",
        "an item that nobody has does not come out",
        (f"{_UNIT}::test_a_row_that_nobody_has_never_comes_out",),
    ),
    Mutant(
        "mechanisms/groups/screening.py",
        "lead = self._bottom(rows.next_count) - rows.next_count",
        "lead = (self._bottom(rows.next_count) - rows.next_count) / 2",
        "after the first item the threshold is what it was",
        (f"{_DRAWS}::test_a_screened_group_has_the_distribution_of_the_whole_mechanism[2-counts0]",),
    ),
    Mutant(
        "randomness/coins.py",
        "if ball(Fraction(known + 1, 1 << digits)) <= probability:",
        "if ball(Fraction(known, 1 << digits)) <= probability:",
        "digits that are not drawn yet may still decide",
        ("unit/randomness/test_coins.py::test_digits_that_are_not_drawn_yet_may_decide",),
    ),
    Mutant(
        "curator/group_lists.py",
        "        counted = _all_listed(groups.listed, counted, _nobody(planned, rows))\n",
        "        pass\n",
        "listed groups without rows are shown like others",
        (f"{_CURATOR}::test_an_empty_table_is_an_ordinary_paid_release",),
    ),
    Mutant(
        "curator/group_lists.py",
        "paid = Receipt((*release.paid.events, *measured.paid.events))",
        "paid = release.paid",
        "counts are part of what a group costs",
        (f"{_CURATOR}::test_the_counts_of_a_group_are_paid_for",),
    ),
    Mutant(
        "curator/reuse.py",
        " or not self.groups <= set(map(json.dumps, other.groups))):",
        "):",
        "lists of some groups say nothing about others",
        (f"{_CURATOR}::test_known_groups_answer_for_fewer_of_them_and_for_no_others",),
    ),
    Mutant(
        "planning/grouped.py",
        "delta if groups.most == 1 else delta / (1 + delta),",
        "delta,",
        "a call for several groups may fail as often as a call for one",
        (f"{_CURATOR}::test_two_groups_cost_as_much_delta_as_one",),
    ),
    Mutant(
        "planning/strategy.py",
        "return (*counts * (groups - 1), *self",
        "return (*counts[:0], *self",
        "the counts of all groups of a user are reserved",
        (f"{_CURATOR}::test_the_counts_of_a_group_are_paid_for",),
    ),
    Mutant(
        "planning/facts.py",
        "        return self.k if self.groups is None else self.k * self.groups.most\n",
        "        return self.k\n",
        "an epsilon of a whole question pays for the lists of all groups of a user",
        (f"{_CURATOR}::test_an_epsilon_is_divided_among_the_groups_of_a_user",),
    ),
    Mutant(
        "mechanisms/groups/grouped_rounds.py",
        "AdaptiveTopK(k, whole / most, hidden / most,",
        "AdaptiveTopK(k, whole, hidden / most,",
        "the groups of a user share mu^2",
        (f"{_ROUNDS}::test_every_group_of_a_user_has_an_equal_part",),
    ),
    Mutant(
        "mechanisms/groups/grouped_rounds.py",
        "AdaptiveTopK(k, whole / most, hidden / most,",
        "AdaptiveTopK(k, whole / most, hidden,",
        "the groups of a user share delta",
        (f"{_ROUNDS}::test_every_group_of_a_user_has_an_equal_part",),
    ),
    Mutant(
        "mechanisms/groups/grouped_rounds.py",
        "GaussianNoise(1, sensitivity_squared=self.most * self.inner.mu_squared)",
        "GaussianNoise(1, sensitivity_squared=self.inner.mu_squared)",
        "all groups of a user are reserved",
        (f"{_ROUNDS}::test_every_group_of_a_user_has_an_equal_part",),
    ),
    Mutant(
        "mechanisms/groups/grouped_rounds.py",
        "others = self.most if self.known is None else",
        "others = 0 if self.known is None else",
        "hidden groups are charged too",
        (f"{_ROUNDS}::test_hidden_groups_do_not_show_in_the_charge",),
    ),
    Mutant(
        "mechanisms/groups/grouped_rounds.py",
        "min(self.most, self.known - len(shown))",
        "0",
        "listed groups of which nothing came out are charged",
        (f"{_ROUNDS}::test_listed_groups_are_all_shown_and_those_without_items_are_paid_for",),
    ),
    Mutant(
        "mechanisms/groups/costliest.py",
        "lists.sort(key=_price, reverse=True)",
        "lists.sort(key=_price)",
        "the costliest groups are charged, not the cheapest",
        (f"{_ROUNDS}::test_known_groups_are_charged_as_often_as_they_are",),
    ),
    Mutant(
        "mechanisms/groups/costliest.py",
        "sum(sorted(deltas, reverse=True)[:number], start=Fraction(0))",
        "sum(deltas[:number], start=Fraction(0))",
        "the largest sums of delta are charged, whichever groups have the most noise",
        (f"{_ROUNDS}::test_known_groups_are_charged_as_often_as_they_are",),
    ),
    Mutant(
        "curator/prepare.py",
        "question, cut = self.question, None if self.groups is None else self.groups.cut",
        "question, cut = self.question, None if self.groups is None else replace(self.groups.cut, per_user=None)",
        "users are cut to their groups when pairs are kept",
        (f"{_CURATOR}::test_a_user_in_two_countries_counts_in_one_unless_two_are_paid_for",),
    ),
    Mutant(
        "curator/answer.py",
        "for group, found in lists if listed or found.items)",
        "for group, found in lists)",
        "an unknown group is shown if an item of it is",
        (f"{_CURATOR}::test_a_minimum_holds_in_each_group",),
    ),
    Mutant(
        "mechanisms/groups/finding.py",
        "((count, member - ends[count][at] + size), value)",
        "((count, member), value)",
        "a place is that of an item of its group",
        ("statistical/mechanisms/test_shared_race.py::test_groups_beyond_a_race_begin_another",),
    ),
    Mutant(
        "curator/prepare.py",
        "if query.groups is not None and query.groups.per_user is not None:",
        "if query.groups is not None:",
        "users in all their groups have weights by the pairs of all of them",
        (f"{_CURATOR}::test_the_weights_of_a_user_count_the_pairs_of_all_groups",),
    ),
    Mutant(
        "mechanisms/groups/composite_pairs.py",
        "sensitivity_squared=weights.sensitivity_squared",
        "sensitivity_squared=weights.sensitivity_squared / 2",
        "the noise is that of a user's whole length",
        (f"{_ROUNDS}::test_all_groups_together_cost_what_was_given",),
    ),
    Mutant(
        "mechanisms/groups/composite_pairs.py",
        "return self.inner.worst_case",
        "return self.inner.worst_case[:1]",
        "the threshold of pairs costs delta",
        (f"{_ROUNDS}::test_all_groups_together_cost_what_was_given",),
    ),
    Mutant(
        "mechanisms/groups/chosen_clip.py",
        "return (self.choice.event, *self.inner.worst_case)",
        "return self.inner.worst_case",
        "the choice of a clip is reserved",
        (f"{_AMOUNTS}::test_the_clip_is_added_once_to_what_the_lists_cost",),
    ),
    Mutant(
        "mechanisms/groups/chosen_clip.py",
        "paid=Receipt((self.choice.event, *release.paid.events))",
        "paid=Receipt(release.paid.events)",
        "the choice of a clip is charged whatever comes out",
        (f"{_AMOUNTS}::test_the_clip_is_charged_whatever_comes_out",),
    ),
    Mutant(
        "mechanisms/groups/chosen_clip.py",
        "            clip=clip,\n",
        "            clip=1,\n",
        "the margin of lists is in units of the clip",
        (f"{_AMOUNTS}::test_lists_at_a_clip_are_those_in_units_of_it",),
    ),
    Mutant(
        "curator/group_lists.py",
        "measure = replace(measure, clip=clips[1])",
        "measure = replace(measure, clip=clips[0])",
        "the noise of values is in units of the clip at which they are summed",
        (f"{_AT_CLIP}::test_a_clip_is_chosen_once_for_all_groups",),
    ),
    Mutant(
        "planning/grouped.py",
        "most = None if chosen else facts.max_items_per_user",
        "most = facts.max_items_per_user",
        "pairs of which values are sums were not cut to the bound of the lists",
        (f"{_AT_CLIP}::test_values_have_the_noise_for_users_who_are_in_all_of_them",),
    ),
    Mutant(
        "planning/measured_budget.py",
        "part = (total - share) / (facts.selections * parts)",
        "part = (total - share) / (facts.k * parts)",
        "the lists of all groups of a user share what the clip leaves",
        (f"{_AT_CLIP}::test_a_plan_keeps_its_promise",),
    ),
    Mutant(
        "wire/request.py",
        "return DeclaredTable(value)",
        "return value",
        "a text in a body is no path on the server",
        (f"{_DOORS}::test_over_http_groups_are_a_list_or_a_declared_name_and_never_a_path",),
    ),
)

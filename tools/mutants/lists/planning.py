"""What a question may use of a promise."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_NAMED = "integration/curator/test_by_name.py::test_the_whole_of_it_is_as_private_as_it_was_asked"

MUTANTS = (
    Mutant(
        "planning/by_name.py",
        "selections_budget(facts.k if strict else facts.k + 1, guarantee)",
        "selections_budget(facts.k, guarantee)",
        "the choice of k_bar is paid too",
        ("integration/curator/test_by_name.py::test_each_name_is_its_mechanism",),
    ),
    Mutant(
        "planning/by_name.py",
        "single = guarantee.epsilon() / facts.k",
        "single = guarantee.epsilon()",
        "decisions share the epsilon",
        (f"{_NAMED}[fixed-threshold]",),
    ),
    Mutant(
        "planning/by_name.py",
        "single = guarantee.epsilon() / most",
        "single = guarantee.epsilon()",
        "the items of a user share the epsilon",
        ("integration/curator/test_by_name.py::test_each_name_is_its_mechanism",),
    ),
    Mutant(
        "planning/question_budget.py",
        "half, delta = guarantee.epsilon() / (2 * k), guarantee.cost.delta",
        "half, delta = guarantee.epsilon() / k, guarantee.cost.delta",
        "counts come out of the same epsilon",
        ("unit/planning/test_plan.py::test_a_plan_keeps_its_promise",),
    ),
    Mutant(
        "planning/strategy.py",
        "return (*counts * (groups - 1), *self.mechanism.worst_case, *counts, *beside * groups)",
        "return self.mechanism.worst_case",
        "counts are reserved too",
        ("unit/planning/test_plan.py::test_a_plan_keeps_its_promise",),
    ),
    Mutant(
        "planning/question_budget.py",
        "if guarantee.cost.delta == 0 and facts.hides:",
        "if False:",
        "an unknown domain needs a delta",
        ("unit/planning/test_plan.py::test_budgets_that_cannot_be",),
    ),
    Mutant(
        "planning/strategy.py",
        "max_items_per_user=facts.max_items_per_user,\n        at_least=facts.at_least,",
        "max_items_per_user=facts.max_items_per_user or 1,\n        at_least=facts.at_least,",
        "without a bound all rows may change with one user",
        ("unit/planning/test_plan.py::test_a_plan_says_what_and_why",),
    ),
    Mutant(
        "planning/known_domain.py",
        'noisy = NoisyTopK(facts.k, facts.k * budget.epsilon_per_item, noise="exponential")',
        'noisy = NoisyTopK(facts.k, 2 * facts.k * budget.epsilon_per_item, noise="exponential")',
        "k places share the epsilon of the question",
        ("unit/planning/test_plan.py::test_a_plan_keeps_its_promise",),
    ),
    Mutant(
        "planning/known_domain.py",
        "tested = TestedTopK(k, guarantee.epsilon(), delta=guarantee.cost.delta)",
        "tested = TestedTopK(k, 2 * guarantee.epsilon(), delta=guarantee.cost.delta)",
        "a set has the epsilon of the promise",
        ("unit/planning/test_known.py::test_a_question_with_a_budget_of_its_own_is_tested",),
    ),
    Mutant(
        "planning/known_domain.py",
        "rising = RisingTopK.within(facts.k, epsilon=whole.epsilon(), delta=whole.cost.delta)",
        "rising = RisingTopK.within(facts.k, epsilon=2 * whole.epsilon(), delta=whole.cost.delta)",
        "a ranking has the epsilon of the promise",
        ("unit/planning/test_plan.py::test_a_plan_keeps_its_promise",),
    ),
    Mutant(
        "planning/ranking.py",
        'return ExponentialTopK(k, single, monotone=False), "Exponential',
        'return ExponentialTopK(k, single), "Exponential',
        "scores of comparisons move both ways",
        ("unit/planning/test_ranking.py::test_mechanisms_are_the_general_ones",),
    ),
    Mutant(
        "planning/ranking.py",
        "return MeasureScores.within(method, facts.k, epsilon=facts.k * single)",
        "return MeasureScores.within(method, facts.k, epsilon=2 * facts.k * single)",
        "scores come out of the same epsilon",
        ("unit/planning/test_ranking.py::test_list_and_scores_together_keep_the_promise",),
    ),
    Mutant(
        "planning/ranking.py",
        "worst = (*mechanism.worst_case, *(() if measure is None else measure.worst_case(facts.k)))",
        "worst = mechanism.worst_case",
        "a ledger's plan promises what list and scores cost together",
        ("integration/curator/test_ranking.py::test_scores_are_planned_paid_and_told_again",),
    ),
    Mutant(
        "ranking/measured_scores.py",
        "return (LaplaceNoise(self.in_all / self.scale),)",
        "return (LaplaceNoise(self.each / self.scale),)",
        "the noise is charged for all scores, not for one",
        ("unit/planning/test_ranking.py::test_list_and_scores_together_keep_the_promise",),
    ),
    Mutant(
        "ranking/measured_scores.py",
        "sensitivity_squared=self.each * self.in_all),)",
        "sensitivity_squared=self.each**2),)",
        "the squares of all moves are added up",
        ("exhaustive/ranking/test_ranking.py::test_the_sum_of_squares_is_what_gaussian_noise_is_charged_for",),
    ),
    Mutant(
        "ranking/measured_scores.py",
        'return cls("laplace", in_all / positive_fraction(epsilon, "epsilon"), count, each, in_all)',
        'return cls("laplace", each / positive_fraction(epsilon, "epsilon"), count, each, in_all)',
        "the scale follows from the move of all scores",
        ("exhaustive/ranking/test_ranking.py::test_items_and_their_scores_keep_the_sum_of_both_prices[borda]",),
    ),
    Mutant(
        "ranking/measured_scores.py",
        "scores_of(scores, items), scale=self.scale,",
        "scores_of(scores, items), scale=self.scale / 2,",
        "the noise that is drawn is the noise that is paid for",
        ("statistical/curator/test_ranking_scores.py::test_scores_have_gaussian_noise_where_rho_is_added_up",),
    ),
    Mutant(
        "ranking/counting.py",
        "return Fraction(self.max_per_user, self.graph.smallest_degree * self.comparisons_per_pair)",
        "return Fraction(self.max_per_user, 2 * self.graph.smallest_degree * self.comparisons_per_pair)",
        "a comparison moves winner and loser",
        ("exhaustive/ranking/test_ranking.py::test_one_user_moves_all_scores_together_no_further[Borda-1]",),
    ),
    Mutant(
        "ranking/spectral.py",
        "return 2 * self.rises_by + Fraction(items, 1 << self.grid_bits)",
        "return self.rises_by + Fraction(items, 1 << self.grid_bits)",
        "what one score gains others lose",
        ("exhaustive/ranking/test_ranking.py::test_noise_for_one_spectral_score_is_too_little_for_two",),
    ),
)

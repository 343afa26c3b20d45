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
)

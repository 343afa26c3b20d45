"""Noise and price of counts that are measured."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "estimates/measure.py",
        "sensitivity_squared=self.sensitivity**2, discrete=True),) * items",
        "sensitivity_squared=self.sensitivity**2, discrete=True),)",
        "every count is paid",
        ("unit/estimates/test_measure.py::test_costs",),
    ),
    Mutant(
        "estimates/measure.py",
        "variance=self.scale**2, size=size",
        "variance=self.scale, size=size",
        "sigma is a scale, not a variance",
        ("unit/mechanisms/test_metered.py::test_counts_are_paid_one_by_one",),
    ),
    Mutant(
        "estimates/measure.py",
        "Fraction(root if root * root >= square else root + 1, 1 << _SIGMA_BITS)",
        "Fraction(root, 1 << _SIGMA_BITS)",
        "sigma is rounded up",
        ("unit/estimates/test_measure.py::test_within_a_total",),
    ),
    Mutant(
        "estimates/measure.py",
        "            return (LaplaceNoise(self.sensitivity / self.scale, discrete=True),) * items",
        "            return (LaplaceNoise(self.sensitivity / self.scale),) * items",
        "discrete Laplace noise costs more rho than continuous",
        ("unit/estimates/test_measure.py::test_costs",),
    ),
    Mutant(
        "estimates/measure.py",
        'cls(epsilon_per_item=positive_fraction(epsilon, "epsilon") / count)',
        'cls(epsilon_per_item=positive_fraction(epsilon, "epsilon"))',
        "all counts share one epsilon",
        ("unit/estimates/test_measure.py::test_within_a_total",),
    ),
    Mutant(
        "privacy/theorems/correlated.py",
        "tilt = shared_variance / (variance + items * shared_variance)",
        "tilt = shared_variance / (variance + shared_variance)",
        "all the items share the noise, and a user may have any of them",
        ("exhaustive/mechanisms/test_correlated_counts.py::test_nobody_moves_the_counts_farther_than_is_charged",),
    ),
    Mutant(
        "privacy/theorems/correlated.py",
        "return max((t - tilt * t**2) / variance for t in {top, min(top + 1, max_items)})",
        "return (max_items - tilt * max_items**2) / variance",
        "a user with some of the items may move the counts farther than one with all",
        ("exhaustive/mechanisms/test_correlated_counts.py::test_nobody_moves_the_counts_farther_than_is_charged",),
    ),
    Mutant(
        "mechanisms/gaussian/correlated_counts.py",
        "sensitivity_squared=move / ratio",
        "sensitivity_squared=move / ratio / 4",
        "the shared noise hides that all counts rise together",
        ("exhaustive/mechanisms/test_correlated_counts.py::test_nobody_moves_the_counts_farther_than_is_charged",),
    ),
    Mutant(
        "mechanisms/gaussian/correlated_counts.py",
        "most, unit = min(number, bound), ",
        "most, unit = 1, ",
        "a user may have several of the items",
        ("exhaustive/mechanisms/test_correlated_counts.py::test_nobody_moves_the_counts_farther_than_is_charged",),
    ),
    Mutant(
        "mechanisms/gaussian/correlated_counts.py",
        "return number * self.sigma**2 + number**2 * self.shared_sigma**2",
        "return number * (self.sigma**2 + self.shared_sigma**2)",
        "in a total the shared noise adds up",
        (
            "exhaustive/mechanisms/test_correlated_counts.py::test_noise_that_is_taken_for_independent_gives_totals_that_miss",
        ),
    ),
    Mutant(
        "randomness/correlated_gaussian.py",
        "(number + own * Fraction(float(end[i])) + shared * Fraction(float(end[last]))) * grid // 1",
        "(number + own * Fraction(float(end[i]))) * grid // 1",
        "all values share a part of their noise",
        ("statistical/randomness/test_correlated.py::test_the_covariance_is_the_stated_one",),
    ),
    Mutant(
        "estimates/together.py",
        "return (self.items or items) / self.sigma**2",
        "return (self.items or 2 * items) / self.sigma**2",
        "counts cost what independent ones would",
        ("unit/estimates/test_together.py::test_whatever_comes_back_is_within_what_was_reserved",),
    ),
    Mutant(
        "planning/question_budget.py",
        "if budget.sigma is None or facts.k > _MAX_BASIC:",
        "if budget.sigma is None or facts.k > 0:",
        "very short lists add up epsilons where that is better",
        ("unit/planning/test_plan.py::test_a_ledger_that_adds_up_rho_does_not_add_up_epsilons",),
    ),
)

"""Noise and price of counts that are measured."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "estimates/measure.py",
        "return (GaussianNoise(self.scale, discrete=True),) * items",
        "return (GaussianNoise(self.scale, discrete=True),)",
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
        "            return (LaplaceNoise(1 / self.scale, discrete=True),) * items",
        "            return (LaplaceNoise(1 / self.scale),) * items",
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
)

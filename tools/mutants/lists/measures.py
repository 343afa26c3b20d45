"""Sums of clipped contributions: margins, noise and values in units of the clip, and what choosing a clip costs."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_UNIT = "unit/mechanisms/test_measured.py::"

MUTANTS = (
    Mutant(
        "mechanisms/limited_domain/limited_domain.py",
        "return self.clip * _margin(changing, self.delta, self.epsilon_per_item)",
        "return _margin(changing, self.delta, self.epsilon_per_item)",
        "bottom lies above what one user can bring, which is a whole clip",
        ("exhaustive/mechanisms/test_sums.py::test_all_of_its_delta_is_needed",),
    ),
    Mutant(
        "mechanisms/limited_domain/limited_domain.py",
        "return self.epsilon_per_item / self.clip",
        "return self.epsilon_per_item",
        "a user moves sums by a clip, not by 1",
        ("unit/mechanisms/test_limited_domain.py::test_the_example_of_sums",),
    ),
    Mutant(
        "mechanisms/limited_domain/limited_domain.py",
        "scale=1 / self.rate,",
        "scale=1 / self.epsilon_per_item,",
        "what is drawn is the law that was proved",
        (
            (
                "statistical/mechanisms/test_limited_domain.py::"
                "test_draws_of_sums_follow_the_distribution_and_no_other_scale"
            ),
        ),
    ),
    Mutant(
        "mechanisms/measures/clip_choice.py",
        "return 2",
        "return 1",
        "a user is in two histograms",
        ("unit/mechanisms/test_clip_choice.py::test_one_user_moves_the_histograms_by_less_than_the_claim",),
    ),
    Mutant(
        "mechanisms/measures/amount_histograms.py",
        "exact, scale=self.sigma,",
        "exact, scale=self.sigma / 2,",
        "the noise is that of the event",
        (
            "statistical/mechanisms/test_clip_choice.py::test_the_noise_is_gaussian_of_this_scale_and_no_other",
            "unit/mechanisms/test_normed_topk.py::test_the_histograms_get_the_noise_that_is_paid",
        ),
    ),
    Mutant(
        "mechanisms/measures/measured_topk.py",
        "paid.append(choice.event)",
        "pass",
        "a clip that was chosen from the data is paid for",
        (f"{_UNIT}test_a_clip_that_is_chosen_is_paid_for_and_said",),
    ),
    Mutant(
        "mechanisms/measures/measured_topk.py",
        "clip=clip - self.floor,",
        "clip=max(clip, -self.floor),",
        "sums that also fall have the span for a clip",
        (f"{_UNIT}test_signed_amounts_have_the_span_and_independent_noise",),
    ),
    Mutant(
        "mechanisms/measures/measured_topk.py",
        "sensitivity_squared=items), max(clip, -self.floor)",
        "sensitivity_squared=items), clip",
        "a user may lower a value by more than raise it",
        (f"{_UNIT}test_signed_amounts_have_the_span_and_independent_noise",),
    ),
    Mutant(
        "mechanisms/measures/measured_topk.py",
        "CorrelatedCounts.within(items, mu_squared, clip=clip)",
        "CorrelatedCounts.within(items, mu_squared)",
        "values have the noise of a whole clip",
        (f"{_UNIT}test_a_stated_clip_costs_nothing_and_serves_for_both_steps",),
    ),
    Mutant(
        "estimates/measure.py",
        '"scale", self.sensitivity * scale)',
        '"scale", scale)',
        "discrete noise is in units of what one user adds",
        ("unit/estimates/test_measure.py::test_the_example_of_a_sum",),
    ),
    Mutant(
        "estimates/measure.py",
        "return max(self.clip, self.falls_by)",
        "return self.clip",
        "a user may lower a sum by more than raise it",
        ("unit/estimates/test_measure.py::test_a_sum_that_also_falls_has_the_larger_sensitivity_and_may_be_negative",),
    ),
    Mutant(
        "mechanisms/gaussian/correlated_counts.py",
        "sigma=unit * calibrate_sigma(budget / 2, sensitivity_squared=move),",
        "sigma=calibrate_sigma(budget / 2, sensitivity_squared=move),",
        "correlated noise is in units of what one user adds",
        ("unit/estimates/test_together.py::test_sums_have_the_noise_of_counts_in_units_of_the_clip",),
    ),
    Mutant(
        "mechanisms/gaussian/sparse_histogram.py",
        "return self.clip * Fraction(self.weights.unit, self.weights.weight(1))",
        "return Fraction(self.weights.unit, self.weights.weight(1))",
        "discoveries have the noise and the threshold of a whole clip",
        ("exhaustive/mechanisms/test_sums_in_rounds.py::test_contributions_of_the_whole_clip_are_counts",),
    ),
    Mutant(
        "mechanisms/gaussian/border.py",
        "per_count = clip * Fraction(weights.unit, weights.weight(1))",
        "per_count = Fraction(weights.unit, weights.weight(1))",
        "differences at the border have the noise of a whole clip",
        (
            (
                "exhaustive/mechanisms/test_sums_in_rounds.py::"
                "test_the_noise_at_the_border_is_that_of_the_largest_contribution"
            ),
        ),
    ),
    Mutant(
        "mechanisms/groups/rounds_at_clip.py",
        "noise = self.noise_of_values(clip).of_fewer(",
        "noise = self.noise_of_values(max(1, clip // 2)).of_fewer(",
        "the noise of values of groups is in units of their clip",
        (
            (
                "unit/mechanisms/test_rounds_at_clip.py::"
                "test_the_noise_of_values_is_that_of_k_of_them_in_units_of_their_clip"
            ),
        ),
    ),
    Mutant(
        "sources/sql/arithmetic.py",
        'return exp.not_(exp.or_(finite, exp.Anonymous(this="ISINF", expressions=[value.copy()])))',
        "return super().is_nan(value)",
        "what other rows hold does not decide whether NaN counts",
        (
            (
                "integration/sources/test_duckdb_files.py::"
                "test_what_is_not_a_number_counts_nothing_whatever_other_rows_are[kind0-others0]"
            ),
        ),
        raises="SourceFailure",
    ),
)

"""Amounts in engines, and vectors of one length: how users are scaled, where noise is cut off, what is paid for it."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_NORMED = "exhaustive/mechanisms/test_normed.py::"
_CUTOFF = "exhaustive/mechanisms/test_norm_cutoff.py::"
_DRAWS = "statistical/mechanisms/test_normed.py::"
_ROUNDS = "unit/mechanisms/test_normed_topk.py::"
_CONTRACT = "contract/sources/test_duckdb.py::TestParquet::"
_ENGINE = "integration/sources/test_lengths.py::"

MUTANTS = (
    Mutant(
        "mechanisms/measures/norm_weights.py",
        "math.isqrt(_UNIT**2 * first // end)",
        "math.isqrt(_UNIT**2 * first // end) + 1",
        "the root is rounded down, so that nobody is longer than one",
        (f"{_NORMED}test_no_long_vector_is_longer_either",),
    ),
    Mutant(
        "mechanisms/measures/norm_weights.py",
        "self.items * squares - sum(parts) ** 2,",
        "self.items * squares - 2 * sum(parts) ** 2,",
        "differences move by the sum of squares less what all items have in common",
        (f"{_NORMED}test_no_vector_is_longer_than_one",),
    ),
    Mutant(
        "mechanisms/measures/norm_weights.py",
        "return self.steps[bisect.bisect_left(self.steps, (square, 0))][1]",
        "return self.steps[bisect.bisect_left(self.steps, (square, 0)) - 1][1]",
        "the upper end of a step decides",
        (f"{_NORMED}test_no_vector_is_longer_than_one",),
    ),
    Mutant(
        "mechanisms/measures/norm_cutoff.py",
        "chance(high) - ball(slope * low**2) <= limit",
        "chance(high) - ball(slope * high**2) <= limit",
        "a cell is bounded by both of its ends",
        (f"{_CUTOFF}test_a_peak_within_a_cell_is_found",),
    ),
    Mutant(
        "mechanisms/measures/norm_cutoff.py",
        "chance(high) - ball(slope * low**2) <= limit",
        "chance(low) - ball(slope * low**2) <= limit",
        "the chance rises within a cell",
        (f"{_CUTOFF}test_a_peak_within_a_cell_is_found",),
    ),
    Mutant(
        "mechanisms/measures/norm_cutoff.py",
        "limit = (ball(most) - ball(slope)) / items",
        "limit = ball(most) / items",
        "the slope is part of the bound",
        (f"{_CUTOFF}test_equal_parts_are_not_the_worst",),
    ),
    Mutant(
        "mechanisms/measures/norm_cutoff.py",
        "return slope + items * best, slope",
        "return slope, slope",
        "every item of a user may pass",
        (f"{_CUTOFF}test_no_vector_escapes_the_cutoff",),
    ),
    Mutant(
        "mechanisms/measures/normed_histogram.py",
        "return norm_cutoff(self.weights.items, self.sigma, self.delta)",
        "return norm_cutoff(1, self.sigma, self.delta)",
        "a user's length may be shared out among many items",
        (f"{_ROUNDS}test_a_round_costs_its_share", f"{_NORMED}test_a_discovery_keeps_its_promise"),
    ),
    Mutant(
        "mechanisms/measures/normed_histogram.py",
        "return Fraction(self.clip)\n",
        "return Fraction(1)\n",
        "noise and threshold are those of a length",
        (f"{_ROUNDS}test_a_round_costs_its_share",),
    ),
    Mutant(
        "mechanisms/measures/normed_histogram.py",
        "return Fraction(self.clip, self.weights.one)",
        "return Fraction(2 * self.clip, self.weights.one)",
        "noise is that of a length, in whatever parts sums are counted",
        (f"{_DRAWS}test_short_lists_follow_their_exact_distribution",),
    ),
    Mutant(
        "mechanisms/measures/normed_topk.py",
        "delta=self.delta * OF_DELTA[discovery - 1],",
        "delta=self.delta,",
        "three rounds may find items, and share delta",
        (f"{_ROUNDS}test_a_round_costs_its_share",),
    ),
    Mutant(
        "mechanisms/measures/normed_topk.py",
        "(GaussianNoise(sigma), GaussianNoise(noise))",
        "(GaussianNoise(noise),)",
        "numbers of users by length are released with noise, and noise is paid",
        (f"{_ROUNDS}test_what_is_drawn_at_the_border_is_what_is_paid",),
    ),
    Mutant(
        "mechanisms/measures/normed_topk.py",
        "(GaussianNoise(sigma), GaussianNoise(noise))",
        "(GaussianNoise(sigma), GaussianNoise(2 * noise))",
        "sums are paid by the noise that was drawn",
        (f"{_ROUNDS}test_the_noise_of_differences_is_that_of_the_length",),
    ),
    Mutant(
        "mechanisms/measures/normed_topk.py",
        "scale = [Fraction(clip * total, weights.one) for total in sums], noise * clip",
        "scale = [Fraction(clip * total, weights.one) for total in sums], noise",
        "the noise of sums is that of a whole length",
        (f"{_ROUNDS}test_the_noise_of_differences_is_that_of_the_length",),
    ),
    Mutant(
        "mechanisms/measures/normed_topk.py",
        'noisy_values(users, scale=sigma, noise="gaussian", grid_bits=grid_bits_for(sigma), bits=self.bits)',
        "[Fraction(n) for n in users]",
        "numbers of users are private",
        (f"{_ROUNDS}test_what_is_drawn_at_the_border_is_what_is_paid",),
    ),
    Mutant(
        "mechanisms/measures/length_choice.py",
        "return 3 if self.values else 2",
        "return 2",
        "a user is in every histogram",
        (f"{_ROUNDS}test_one_user_moves_the_histograms_by_no_more_than_is_paid",),
    ),
    Mutant(
        "sources/sql/pair_norms.py",
        "squared.where(column(_PLACE, _RANKED) <= self.max_items)",
        "squared",
        "a user has at most as many items as the cut-off is for",
        (f"{_ENGINE}test_scaled_pairs_are_those_of_plain_python",),
    ),
    Mutant(
        "sources/sql/pair_norms.py",
        "few.join(_USERS, on=self._same_user()).where(column(SIZE, _USERS) <= self.max_items)",
        "few.join(_USERS, on=self._same_user())",
        "users with too many items are cut",
        (f"{_ENGINE}test_scaled_pairs_are_those_of_plain_python",),
    ),
    Mutant(
        "sources/sql/pair_norms.py",
        "exp.GTE(this=exp.paren(spread), expression=exp.paren(largest))",
        "exp.LTE(this=exp.paren(spread), expression=exp.paren(largest))",
        "the larger of both bounds what differences move by",
        (f"{_ENGINE}test_scaled_pairs_of_named_items_are_too",),
    ),
    Mutant(
        "sources/sql/pair_norms.py",
        "share = Fraction(2**norm.bits, norm.clip)",
        "share = Fraction(2**norm.bits + 1, norm.clip)",
        "parts are those of the clip",
        (f"{_ENGINE}test_scaled_pairs_are_those_of_plain_python",),
    ),
    Mutant(
        "sources/sql/pair_values.py",
        "ifs = [_when(exp.GTE(this=summed, expression=_number(value.clip)), _number(value.clip))]",
        "ifs = [_when(exp.GTE(this=summed, expression=_number(3 * value.clip)), _number(3 * value.clip))]",
        "the sum of a pair is clipped, and not only its rows",
        (f"{_CONTRACT}test_sums_of_integers",),
    ),
    Mutant(
        "sources/sql/pair_values.py",
        "ifs = [] if nan is None else [_when(nan, exp.null())]",
        "ifs = []",
        "what is no number counts nothing",
        (f"{_CONTRACT}test_sums_of_floats",),
    ),
    Mutant(
        "sources/sql/pair_values.py",
        "quotient = arithmetic.floor(exp.Div(this=number.copy(), expression=least.copy(), typed=True))",
        "quotient = exp.Div(this=number.copy(), expression=least.copy(), typed=True)",
        "rows are rounded down one by one",
        (f"{_CONTRACT}test_sums_of_floats",),
    ),
    Mutant(
        "sources/sql/pairs.py",
        "expression=exp.Literal.number(0)) if value.floor else total > 0",
        "expression=exp.Literal.number(0)) if value.floor else total >= 0",
        "a pair that adds nothing does not exist",
        (f"{_CONTRACT}test_sums_of_integers", f"{_CONTRACT}test_histograms_of_values"),
    ),
)

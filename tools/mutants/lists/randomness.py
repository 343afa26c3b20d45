"""The distributions of noise, and what decides when it is certain."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "randomness/noisy_values.py",
        'offsets = [exact_fraction(value, "value") / factor for value in values]',
        'offsets = [exact_fraction(value, "value") * 2 / factor for value in values]',
        "the scale of noise on values",
        ("unit/randomness/test_borders.py::test_noisy_values",),
    ),
    Mutant(
        "randomness/noisy_values.py",
        "return whole // (offset.denominator * size * unit.denominator)",
        "return -(-whole // (offset.denominator * size * unit.denominator))",
        "a value is rounded down at both ends of its noise, or the ends may agree on the wrong step",
        ("unit/randomness/test_borders.py::test_values_that_floats_decide_are_those_of_their_digits",),
    ),
    Mutant(
        "randomness/discrete.py",
        "center = variance / scale",
        "center = 2 * variance / scale",
        "the discrete Gaussian is kept by the right coin",
        ("unit/randomness/test_borders.py::test_acceptance_of_the_discrete_gaussian",),
    ),
    Mutant(
        "randomness/discrete.py",
        "return self.geometric(scale, count) - self.geometric(scale, count)",
        "return self.geometric(scale, count) - self.geometric(scale / 2, count)",
        "discrete Laplace noise is the difference of two equal draws",
        ("statistical/randomness/test_distributions.py::test_integer_noises",),
    ),
    Mutant(
        "randomness/noise.py",
        "return -rate - np.log(-np.expm1(-rate))",
        "return -rate / 2 - np.log(-np.expm1(-rate))",
        "the float stage has the distribution of the noise",
        ("unit/randomness/test_noise.py::test_quantile_is_the_textbook_one",),
    ),
    Mutant(
        "randomness/noise.py",
        "_LOG2 - rate)",
        "_LOG2 - rate / 2)",
        "the lower tail of Laplace noise",
        ("unit/randomness/test_noise.py::test_quantile_is_the_textbook_one",),
    ),
    Mutant(
        "randomness/noise.py",
        "return low * (1.0 - RELATIVE_ERROR), high * (1.0 + RELATIVE_ERROR)",
        "return low * (1.0 + RELATIVE_ERROR), high * (1.0 - RELATIVE_ERROR)",
        "float bounds are rounded outwards",
        ("property/randomness/test_enclosures.py::test_minus_log_v",),
    ),
    Mutant(
        "randomness/race.py",
        "heat = Heat(lineup, family, FreshStreams(source), places=places, floor=level / width)",
        "heat = Heat(lineup, family, FreshStreams(source), places=places, floor=level / width / 2)",
        "the level of a race against a threshold",
        ("property/randomness/test_race_above.py::test_nobody_everybody_and_units",),
    ),
    Mutant(
        "randomness/race.py",
        '/ width,\n            positive_fraction(scales.get(group, width), "scales") / width,',
        '/ width / 2,\n            positive_fraction(scales.get(group, width), "scales") / width,',
        "the handicap of BOTTOM",
        ("unit/randomness/test_borders.py::test_own_scales_and_handicaps_are_in_score_units",),
    ),
    Mutant(
        "randomness/partial_sample.py",
        "left = self._multiplicity - place",
        "left = self._multiplicity",
        "the second of a group is drawn from one member fewer",
        ("unit/randomness/test_borders.py::test_the_second_of_a_group_against_another",),
    ),
    Mutant(
        "randomness/streams.py",
        "self._digits = self._digits << 64 |",
        "self._digits = self._digits << 63 |",
        "digits are appended, never drawn anew",
        ("unit/randomness/test_borders.py::test_digits_are_appended_and_never_drawn_anew",),
    ),
    Mutant(
        "randomness/centred_gaussian.py",
        "below = [(low - highest) * grid // 1 for low, _ in ends]",
        "below = [(low - lowest) * grid // 1 for low, _ in ends]",
        "a difference is rounded only once it is certain",
        ("unit/randomness/test_centred.py::test_a_difference_is_rounded_only_once_every_continuation_rounds_alike",),
    ),
    Mutant(
        "randomness/centred_gaussian.py",
        "factor * Fraction(least), number + factor * Fraction(most))",
        "Fraction(least), number + Fraction(most))",
        "the scale of noise on differences",
        ("unit/randomness/test_centred.py::test_floors_are_those_of_the_ideal_differences",),
    ),
    Mutant(
        "randomness/integers.py",
        "if value < limit:",
        "if value <= limit:",
        "a uniform number is below its limit",
        ("statistical/randomness/test_distributions.py::test_uniform_integers",),
    ),
    Mutant(
        "randomness/choice.py",
        'factor = unit * positive_fraction(rate, "rate")',
        'factor = 2 * unit * positive_fraction(rate, "rate")',
        "weights of a choice",
        ("unit/randomness/test_borders.py::test_choice",),
    ),
    Mutant(
        "randomness/choice.py",
        "self._remaining[group] -= 1",
        "self._remaining[group] -= 0",
        "who was taken is not taken again",
        ("unit/randomness/test_choice.py::test_who_was_chosen_is_not_chosen_again",),
    ),
    Mutant(
        "randomness/bits.py",
        "        with self._lock:\n            self._left = 0",
        "        with self._lock:\n            self._left = _REKEY_BYTES",
        "a new key is taken when it is asked for",
        ("unit/randomness/test_bits.py::test_every_draw_begins_with_a_new_key[noisy_value]",),
    ),
    Mutant(
        "randomness/bits.py",
        "        source.renew()\n",
        "        pass\n",
        "two copies of a machine draw different noise",
        ("unit/randomness/test_bits.py::test_a_snapshot_restored_twice_does_not_repeat_the_noise",),
    ),
    Mutant(
        "randomness/bits.py",
        " or self._owner != os.getpid():",
        ":",
        "two processes share no stream, however they were forked",
        ("unit/randomness/test_bits.py::test_a_changed_process_id_alone_forces_a_new_key",),
    ),
)

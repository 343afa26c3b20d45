"""Noise that is cut off at the threshold: where it ends, how it is drawn, and what it costs."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_SMALLEST = "unit/mechanisms/test_truncated.py::test_the_gaussian_cutoff_is_the_smallest_that_hides_everybody"
_METERED = "unit/mechanisms/test_metered.py::test_what_is_paid_is_what_was_drawn"
_ENCLOSED = "unit/randomness/test_truncated.py::test_float_bounds_enclose_the_ball_and_are_tight"

MUTANTS = (
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "return (normal_below((ball(weight) - end) / scale) - outer) / inside",
        "return normal_below((ball(weight) - end) / scale) - outer",
        "the chance is that of noise given its size",
        (_SMALLEST,),
    ),
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "allowed = -(ball(-delta).log1p() / items).expm1()",
        "allowed = ball(delta)",
        "one of t items escapes t times as likely",
        (_SMALLEST,),
    ),
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "    return False\n\n\ndef escape_chance",
        "    return True\n\n\ndef escape_chance",
        "what balls cannot decide is not hidden",
        ("unit/mechanisms/test_truncated.py::test_what_balls_cannot_decide_is_rounded_up",),
    ),
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "cutoff = above(Fraction(weights.weight(1), weights.unit))",
        "cutoff = above(Fraction(weights.weight(1), 2 * weights.unit))",
        "the proof needs a cutoff of at least one weight",
        ("unit/mechanisms/test_truncated.py::test_cutoffs_are_at_least_the_weight_of_one_item",),
    ),
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "certified_bound(cutoff, above))",
        "certified_bound(cutoff, above) - _STEP)",
        "the cutoff is rounded up",
        ("unit/mechanisms/test_truncated.py::test_the_laplace_cutoff_rounds_up",),
    ),
    Mutant(
        "mechanisms/truncated/cutoffs.py",
        "(ball(epsilon).expm1() / (2 * ball(delta)))",
        "(ball(epsilon).expm1() / (3 * ball(delta)))",
        "both tails of Laplace noise are cut, and each new item shows in one of them",
        ("unit/mechanisms/test_truncated.py::test_the_laplace_cutoff_rounds_up", _METERED),
    ),
    Mutant(
        "mechanisms/truncated/gaussian_histogram.py",
        "        return self.count_threshold\n",
        "        return 2 * self.count_threshold\n",
        "noise must not reach beyond the threshold",
        (_METERED,),
    ),
    Mutant(
        "mechanisms/noisy_histogram.py",
        "noise_bound=self.noise_bound,",
        "noise_bound=None,",
        "noise beyond the cutoff lifts items of one user over it",
        (_METERED,),
    ),
    Mutant(
        "mechanisms/truncated/laplace_histogram.py",
        '"""A: noise is cut off exactly at the threshold."""\n        return self.threshold',
        '"""A: noise is cut off exactly at the threshold."""\n        return 2 * self.threshold',
        "noise must not reach beyond the threshold",
        (_METERED,),
    ),
    Mutant(
        "mechanisms/truncated/laplace_histogram.py",
        "LaplaceNoise(self.epsilon * self.weights.total_sensitivity), HiddenItems(self.delta)",
        "(LaplaceNoise(self.epsilon * self.weights.total_sensitivity),)",
        "what the cutoff hides is charged",
        ("unit/mechanisms/test_truncated.py::test_parameters_and_cost", _METERED),
    ),
    Mutant(
        "mechanisms/weights.py",
        "steps = [(end, scale // end) for end in _ends(1, last)]",
        "steps = [(end, scale // end + (end > 1)) for end in _ends(1, last)]",
        "shares are rounded down, so that nobody adds more than 1 in all",
        ("unit/mechanisms/test_weights.py::test_nobody_adds_more_than_1_in_all",),
    ),
    Mutant(
        "randomness/truncated.py",
        "v = inside * (2 * share - 1)",
        "v = 2 * share - 1",
        "the exact stage draws noise given its size",
        (_ENCLOSED,),
    ),
    Mutant(
        "randomness/truncated.py",
        "v = inside * (2.0 * share - 1.0)",
        "v = 2.0 * share - 1.0",
        "the float stage draws noise given its size",
        (_ENCLOSED,),
    ),
    Mutant(
        "randomness/race.py",
        "        width *= part\n",
        "",
        "noise is in the unit in which it is drawn",
        ("unit/randomness/test_truncated.py::test_noise_wide_of_its_bound_is_uniform",),
    ),
)

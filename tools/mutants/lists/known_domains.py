"""Mechanisms that choose from known items: scales, losses, receipts."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "mechanisms/exponential.py",
        "paid = (*self.worst_case[: len(outcome)], BottomEvent(self.epsilon_per_item))",
        "paid = self.worst_case[: len(outcome)]",
        "the symbol that ends a list is a selection, and paid",
        ("unit/mechanisms/test_exponential.py::test_a_list_that_ends_pays_for_its_end",),
    ),
    Mutant(
        "mechanisms/exponential.py",
        "handicaps=None if self.at_least is None else {bottom: self.at_least},",
        "handicaps=None if self.at_least is None else {bottom: 2 * self.at_least},",
        "the minimum takes part with its own score",
        ("statistical/mechanisms/test_exponential.py::test_top_k_with_a_minimum_three_ways",),
    ),
    Mutant(
        "mechanisms/exponential.py",
        "scale=histogram.span(monotone=self.monotone) / self.epsilon_per_item",
        "scale=1 / self.epsilon_per_item",
        "scores that move both ways need twice the noise",
        ("unit/mechanisms/test_metered.py::test_what_is_paid_is_what_was_drawn[1-ExponentialTopK2]",),
    ),
    Mutant(
        "mechanisms/exponential.py",
        "return (Selection(self.epsilon_per_item),) * self.k",
        "return (Selection(self.epsilon_per_item),)",
        "every choice is paid",
        ("unit/mechanisms/test_exponential.py::test_receipts_top_k",),
    ),
    Mutant(
        "mechanisms/one_item.py",
        "        return (PureMechanism(self.epsilon),)",
        "        from podium.privacy.events import Selection\n        return (Selection(self.epsilon),)",
        "with its gap a selection is no longer of bounded range",
        ("unit/mechanisms/test_exponential.py::test_receipts_with_gap",),
    ),
    Mutant(
        "mechanisms/noisy.py",
        "return self.epsilon / (self.k * histogram.span(monotone=self.monotone))",
        "return self.epsilon / histogram.span(monotone=self.monotone)",
        "one epsilon is shared by k places",
        ("unit/mechanisms/test_noisy.py::test_gumbel_is_peeling_at_epsilon_over_k",),
    ),
    Mutant(
        "mechanisms/noisy.py",
        'if self.noise == "gumbel":\n            return (Selection(self.epsilon / self.k),) * self.k',
        'if self.noise != "laplace":\n            return (Selection(self.epsilon / self.k),) * self.k',
        "only Gumbel noise is of bounded range",
        ("unit/mechanisms/test_noisy.py::test_receipts",),
    ),
    Mutant(
        "mechanisms/oneshot.py",
        "return self.k * histogram.span(monotone=self.monotone) / self.epsilon",
        "return histogram.span(monotone=self.monotone) / self.epsilon",
        "k places need k times the noise",
        ("unit/mechanisms/test_oneshot.py::test_the_set_is_that_of_noisy_top_k",),
    ),
    Mutant(
        "mechanisms/oneshot.py",
        "factor = 8 * (self.k",
        "factor = 4 * (self.k",
        "the constant of the theorem for a set",
        ("unit/mechanisms/test_oneshot.py::test_approximate_scale",),
    ),
    Mutant(
        "mechanisms/oneshot.py",
        "return (LaplaceNoise(_sensitivity(histogram) / self.scale(histogram)),) * self.k",
        "return (LaplaceNoise(_sensitivity(histogram) / self.scale(histogram)),)",
        "every value is paid",
        ("unit/mechanisms/test_oneshot.py::test_measuring_is_a_step_that_costs",),
    ),
    Mutant(
        "mechanisms/joint/joint_topk.py",
        "return self.epsilon / (2 * histogram",
        "return self.epsilon / (1 * histogram",
        "the true place and the chosen one can move apart",
        ("exhaustive/mechanisms/test_joint.py::test_four_items_are_bounded_range",),
    ),
    Mutant(
        "mechanisms/canonical/canonical_topk.py",
        'return (SetSelection(self.epsilon) if self.noise == "gumbel" else PureMechanism(self.epsilon),)',
        "return (SetSelection(self.epsilon),)",
        "only Gumbel noise is of bounded range",
        ("unit/mechanisms/test_canonical.py::test_what_it_costs",),
    ),
    Mutant(
        "mechanisms/canonical/canonical_topk.py",
        "return Loss((1 - self.gamma) * rate, self.gamma * rate, step)",
        "return Loss((1 - self.gamma) * rate, rate, step)",
        "the two parts of a loss share one epsilon",
        ("unit/mechanisms/test_metered.py::test_what_is_paid_is_what_was_drawn[1-CanonicalTopK0]",),
    ),
    Mutant(
        "mechanisms/sparse_vector/hybrid.py",
        "return self.epsilon * len(outcome) / self.k",
        "return self.epsilon * (len(outcome) - 1) / self.k",
        "BOTTOM is paid like an item",
        ("unit/mechanisms/test_hybrid.py::test_costs",),
    ),
    Mutant(
        "mechanisms/sparse_vector/hybrid.py",
        "query = movement.span * self.k / ((1 - self.theta) * self.epsilon)",
        "query = movement.span / ((1 - self.theta) * self.epsilon)",
        "k places share what the threshold leaves",
        ("unit/mechanisms/test_hybrid.py::test_scales",),
    ),
    Mutant(
        "mechanisms/sparse_vector/technique.py",
        "self._spent += self._plan.branch(answer.branch).price",
        "self._spent += self._plan.branches[0].price",
        "an answer costs what its branch costs",
        ("unit/mechanisms/test_metered.py::test_a_sparse_vector_pays_for_its_threshold_and_for_what_it_finds",),
    ),
    Mutant(
        "mechanisms/sparse_vector/technique.py",
        "return self.remaining >= self._plan.price",
        "return self.remaining > 0",
        "no query is asked that cannot be paid",
        ("unit/mechanisms/test_sparse_vector.py::test_far_queries_cost_half_and_more_of_them_are_found",),
    ),
    Mutant(
        "mechanisms/sparse_vector/technique.py",
        "self._spent = plan.threshold_price",
        "self._spent = Fraction(0)",
        "the threshold is paid",
        ("unit/mechanisms/test_sparse_vector.py::test_items_are_asked_in_their_own_order",),
    ),
    Mutant(
        "mechanisms/sparse_vector/scales.py",
        "threshold_scale = movement.reach / threshold_price",
        "threshold_scale = movement.reach / (2 * threshold_price)",
        "the noise of the threshold",
        ("unit/mechanisms/test_sparse_vector.py::test_theta_minimises_the_variance_of_a_gap",),
    ),
    Mutant(
        "mechanisms/tested.py",
        "return 2 * self.epsilon_test / self.epsilon_set * (nats - _EVEN_ODDS)",
        "return 3 * self.epsilon_test / self.epsilon_set * (nats - _EVEN_ODDS)",
        "the odds of the test move by its epsilon",
        ("unit/mechanisms/test_tested.py::test_the_log_odds_by_hand",),
    ),
    Mutant(
        "mechanisms/tested.py",
        "return self.epsilon - self.epsilon_test",
        "return self.epsilon",
        "the test and the set share one epsilon",
        ("unit/mechanisms/test_tested.py::test_what_it_costs_and_how_it_is_split",),
    ),
    Mutant(
        "mechanisms/rising.py",
        "calibrate_schedule(rising_schedule(k), epsilon=epsilon, delta=delta, test=test)",
        "calibrate_schedule(rising_schedule(k), epsilon=epsilon, delta=delta)",
        "the test before comes out of the same epsilon",
        ("unit/mechanisms/test_metered.py::test_a_test_and_what_follows_keep_the_whole",),
    ),
)

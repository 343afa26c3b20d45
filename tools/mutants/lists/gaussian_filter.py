"""The Gaussian filter: its steps, prices, certificates, chains and limits."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_TESTS = "unit/privacy/gaussian"
_LIST = f"{_TESTS}/test_certificates.py::test_the_list_is_what_is_proved"
_REMAINDERS = f"{_TESTS}/test_chains.py::test_every_price_finds_its_remainder"
_AMOUNTS = f"{_TESTS}/test_chains.py::test_a_chain_is_found_for_exactly_these_amounts"
_BETWEEN = f"{_TESTS}/test_prices.py::test_between_listed_epsilons_the_next_larger_is_priced"
_WHOLE = f"{_TESTS}/test_chains.py::test_steps_that_were_not_reserved_have_a_price_only_where_a_whole_mechanism_was"
_ORDER = f"{_TESTS}/test_chains.py::test_another_order_has_no_price"

MUTANTS = (
    Mutant(
        "privacy/gaussian/steps.py",
        'return Step("pure", event.reserved)',
        'return Step("pure", event.epsilon)',
        "a price never depends on the outcome",
        (f"{_TESTS}/test_steps.py::test_each_event_is_one_step_or_only_a_delta",),
    ),
    Mutant(
        "privacy/gaussian/steps.py",
        "if event.discrete:",
        "if event.discrete and event.sigma < 1:",
        "discrete Gaussian noise has no proved price",
        (f"{_TESTS}/test_steps.py::test_discrete_gaussian_noise_is_refused",),
    ),
    Mutant(
        "privacy/gaussian/steps.py",
        'return self.size / 2 if self.kind == "bounded_range" else self.size',
        "return self.size / 2",
        "half the price of a bounded range is not that of a bounded loss",
        (f"{_TESTS}/test_prices.py::test_a_price_is_the_least_with_64_bits_that_covers_the_bayes_error",),
    ),
    Mutant(
        "privacy/gaussian/prices.py",
        "return node * _priced_as(step, node).half_width ** 2",
        "return node * step.half_width ** 2",
        "the remainder is that of the epsilon that is priced",
        (_BETWEEN,),
    ),
    Mutant(
        "privacy/gaussian/prices.py",
        "return certified_bound(difference, significant_above)",
        "return certified_bound(difference, significant_above) * (1 - Fraction(1, 1 << 62))",
        "prices round up",
        (f"{_TESTS}/test_prices.py::test_a_price_is_the_least_with_64_bits_that_covers_the_bayes_error",),
    ),
    Mutant(
        "privacy/gaussian/prices.py",
        "significant_above(found * (1 + SLACK))",
        "significant_above(found)",
        "what has a certificate is what is charged",
        (f"{_TESTS}/test_prices.py::test_prices_over_the_square_are_those_of_the_table",),
    ),
    Mutant(
        "privacy/gaussian/certified.py",
        "return listed[place] if place < len(listed) else None",
        "return listed[max(0, place - 1)] if place < len(listed) else None",
        "epsilons round up to the list",
        (_BETWEEN,),
    ),
    Mutant(
        "privacy/gaussian/certified.py",
        "return () if listed is None else NODES[: len(_table()[listed])]",
        "return () if listed is None else NODES",
        "only what was proved is a price",
        (f"{_TESTS}/test_certificates.py::test_every_epsilon_is_listed_for_every_node_that_a_budget_may_have",),
    ),
    Mutant(
        "privacy/gaussian/certificate.py",
        "if left.slack > bound and right.slack > bound:",
        "if left.slack > 0 and right.slack > 0:",
        "between nodes the chord is not the curve",
        (_LIST,),
    ),
    Mutant(
        "privacy/gaussian/certificate.py",
        "return height / (self.mu * node.x)",
        "return height / (2 * self.mu * node.x)",
        "the curvature of the profile",
        (_LIST,),
    ),
    Mutant(
        "privacy/gaussian/certificate.py",
        "while not left.g > end:",
        "while not left.g > end / 2:",
        "cells go on until the tail is dominated",
        (_LIST,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "            free -= part.total\n",
        "",
        "each step sees what those before it left",
        (_REMAINDERS,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "most = free - remainder\n",
        "most = free\n",
        "a price holds for what remains after the step",
        (_REMAINDERS,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "if one_shot else (0,)",
        "if one_shot or step.count else (0,)",
        "a session pays the price of no remainder",
        (f"{_TESTS}/test_chains.py::test_a_session_is_priced_at_node_zero",),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "max(lowest, enough + spent)",
        "min(lowest, enough + spent)",
        "a chain is kept only while all of its prices find their remainders",
        (_AMOUNTS,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "remainder + count * cost, end",
        "remainder, end",
        "a part fits with all of its steps",
        (_AMOUNTS,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "            spent = at_first - free\n",
        "            spent = Fraction(0)\n",
        "what a part needs is free after the parts before it",
        (_AMOUNTS,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "return self.total if found is None else found",
        "return found or Fraction(0)",
        "the way of a whole mechanism costs all that was reserved",
        (_WHOLE,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "if self.any_order else _charge_in_order(self.parts, steps)",
        "if self.parts else _charge_in_order(self.parts, steps)",
        "the order of a chain is the order of execution",
        (_ORDER,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "return whole and _charge_any_order(self.parts, steps) is None",
        "return _charge_any_order(self.parts, steps) is None",
        "steps that were not reserved are withheld, unless one step stands for a whole mechanism",
        (_WHOLE,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "return whole and _charge_any_order(self.parts, steps) is None",
        "return whole",
        "the reserved steps in another order are no way of a whole mechanism",
        (_WHOLE,),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "return all(part.node == 0 for part in self.parts)",
        "return any(part.node == 0 for part in self.parts)",
        "one price that needs a remainder is enough to forbid a refund",
        (f"{_TESTS}/test_chains.py::test_a_chain_with_one_higher_price_has_an_order",),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "wanted = _noise_first(steps)",
        "wanted = list(steps)",
        "noise never runs before the place at which it is reserved",
        (f"{_TESTS}/test_chains.py::test_lists_for_groups_cost_as_many_selections_as_ran_whichever_list_they_are_of",),
    ),
    Mutant(
        "privacy/gaussian/chains.py",
        "one_shot = one_shot and not _comes_back(wanted)",
        "one_shot = bool(one_shot)",
        "lists of unequal steps for several groups need prices that hold in any order",
        (f"{_TESTS}/test_chains.py::test_lists_of_unequal_steps_for_groups_are_priced_at_node_zero",),
    ),
    Mutant(
        "privacy/gaussian/gaussian_limits.py",
        "calibrate_gaussian(loss, split_delta(whole, used))",
        "calibrate_gaussian(loss, whole)",
        "what calls fail with is taken out of delta",
        (f"{_TESTS}/test_gaussian_limits.py::test_the_promise_holds_at_every_epsilon",),
    ),
)

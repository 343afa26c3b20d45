"""Admission, settlement, caps and what verification refuses."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "ledger/reservations.py",
        "if not cost <= recorded_cost(opened):",
        "if False:",
        "a release never costs more than was reserved",
        ("contract/ledger/test_ledger_contract.py::test_more_than_was_reserved_is_not_settled[sqlite]",),
        raises="LedgerTampered",
    ),
    Mutant(
        "ledger/reservations.py",
        "_require_room(account.totals.limits, account.held.cost, request.charge, cost, account.dataset)",
        "_require_room(account.totals.limits, Cost.nothing(), request.charge, cost, account.dataset)",
        "what is charged already counts",
        ("contract/ledger/test_ledger_contract.py::test_the_whole_plan_fits_exactly_and_nothing_more[sqlite]",),
        raises="LedgerTampered",
    ),
    Mutant(
        "ledger/reservations.py",
        "cost, events = charge_of(request.charge, reserve=True)\n    require_analyst",
        "cost, events = charge_of(request.charge, reserve=False)\n    require_analyst",
        "what is reserved is the worst case",
        ("contract/ledger/test_worst_cases.py::test_an_outcome_that_may_cost_less_is_reserved_in_full[sqlite]",),
        raises="LedgerTampered",
    ),
    Mutant(
        "ledger/reservations.py",
        "if account.locked:\n        raise",
        "if False:\n        raise",
        "too many failures lock a data set",
        ("contract/ledger/test_ledger_contract.py::test_failures_lock_a_data_set_until_its_owner_acts[sqlite]",),
    ),
    Mutant(
        "ledger/reservations.py",
        "if request.after not in (None, account.head):",
        "if False:",
        "a question sized by a history is charged only to that history",
        (
            "contract/ledger/test_ledger_contract.py::test_a_question_sized_by_the_history_is_refused_if_somebody_wrote_meanwhile[sqlite]",
        ),
    ),
    Mutant(
        "ledger/reservations.py",
        "account.totals.limits.check_kind(cost)\n",
        "",
        "a pure total carries no delta",
        ("contract/ledger/test_ledger_contract.py::test_a_pure_total_refuses_other_kinds_of_loss[sqlite]",),
        raises="LedgerTampered",
    ),
    Mutant(
        "ledger/reservations.py",
        "if account.totals.per_analyst is not None and request.analyst is not None:",
        "if False:",
        "an analyst has a cap",
        ("contract/ledger/test_analysts.py::test_caps_per_analyst[sqlite]",),
    ),
    Mutant(
        "ledger/reservations.py",
        "_charge_reader(store, located, *unseen, analyst, cap)\n",
        "",
        "who sees a release for the first time is charged",
        (
            "contract/ledger/test_analysts.py::test_a_stored_release_is_charged_to_each_analyst_who_first_sees_it[sqlite]",
        ),
    ),
    Mutant(
        "ledger/reservations.py",
        "worst = recorded_cost(reservation)\n    held",
        "worst = recorded_cost(closing)\n    held",
        "whether a release is shown must not depend on what it cost",
        (
            "contract/ledger/test_analysts.py::test_a_stored_release_is_charged_to_each_analyst_who_first_sees_it[sqlite]",
        ),
    ),
    Mutant(
        "ledger/reservations.py",
        "!= (request.question, request.analyst, cost):",
        "!= (request.question, request.analyst, before.cost):",
        "a key belongs to one question at one price",
        ("contract/ledger/test_worst_cases.py::test_a_key_belongs_to_a_question_at_its_price[sqlite]",),
    ),
    Mutant(
        "ledger/account.py",
        "self.failures >= self.failures_allowed",
        "self.failures > self.failures_allowed",
        "the allowed failures are the last",
        ("unit/ledger/test_account.py::test_what_failed_stays_charged_and_counts",),
    ),
    Mutant(
        "ledger/account.py",
        "return replace(account, failures=account.failures + 1)",
        "return replace(account, failures=account.failures + 1, held=Sum())",
        "what failed stays charged",
        ("unit/ledger/test_account.py::test_what_failed_stays_charged_and_counts",),
    ),
    Mutant(
        "ledger/account.py",
        "held=account.held + Sum.of(cost), questions",
        "held=account.held, questions",
        "open reservations count",
        ("unit/ledger/test_account.py::test_a_reservation_is_charged_until_it_is_settled_for_less",),
    ),
    Mutant(
        "ledger/account.py",
        "epsilon=None if self.unbounded else self.epsilon",
        "epsilon=self.epsilon",
        "an unbounded loss has no epsilon",
        ("unit/ledger/test_account.py::test_an_unbounded_loss_is_counted_and_can_be_taken_off_again",),
    ),
    Mutant(
        "ledger/account.py",
        "if reservation is None or not cost <= recorded_cost(reservation):",
        "if reservation is None:",
        "verification finds a settlement above its reservation",
        ("unit/ledger/test_account.py::test_what_no_ledger_may_write",),
    ),
    Mutant(
        "ledger/account.py",
        "reserve=reserve)[0] != cost:",
        "reserve=reserve)[0].delta != cost.delta:",
        "verification finds a cost that is not that of its events",
        ("unit/ledger/test_account.py::test_a_cost_is_that_of_its_events",),
    ),
    Mutant(
        "ledger/account.py",
        "if account.totals.limits.excess(cost, account.held.cost) is not None:",
        "if False:",
        "verification finds a reservation above the total",
        ("unit/ledger/test_account.py::test_what_no_ledger_may_write",),
    ),
    Mutant(
        "ledger/budget.py",
        "if cap > total or (cap == 0) != (total == 0):",
        "if (cap == 0) != (total == 0):",
        "a cap is within the total",
        ("unit/ledger/test_budget.py::test_bad_caps",),
    ),
    Mutant(
        "ledger/budget.py",
        "calls=self.questions, fixed_in_advance=False",
        "calls=self.questions, fixed_in_advance=True",
        "the plan of a ledger is one that sums keep",
        ("unit/ledger/test_budget.py::test_the_plan_fits_its_own_limits",),
    ),
    Mutant(
        "ledger/budget.py",
        "return large.delta >= small.delta and all(",
        "return all(",
        "raising a total lowers nothing",
        ("unit/ledger/test_budget.py::test_what_covers_what",),
    ),
    Mutant(
        "ledger/waiting.py",
        "return None if holder.hash in in_hand else Reason.ABANDONED",
        "return Reason.ABANDONED",
        "nobody forfeits what a thread is answering",
        ("contract/ledger/test_waiting.py::test_recovery_closes_what_this_process_gave_up_and_nothing_else[sqlite]",),
    ),
    Mutant(
        "ledger/waiting.py",
        "for entry in store.open_for(located, request.question_key, account.data_version):",
        "for entry in ():",
        "equal questions wait for each other",
        ("contract/ledger/test_waiting.py::test_who_waits_reads_the_release_for_free[sqlite]",),
    ),
    Mutant(
        "ledger/status.py",
        "rho = None if limits.rho is None else limits.rho - held.rho",
        "rho = limits.rho",
        "what is left is what was not charged",
        ("contract/ledger/test_ledger_contract.py::test_reserve_then_settle_gives_back_what_did_not_come_out[sqlite]",),
    ),
    Mutant(
        "ledger/account.py",
        "return Cost(epsilon=cost.epsilon, rho=above(cost.rho), delta=cost.delta), events",
        "return Cost(epsilon=cost.epsilon, rho=cost.rho, delta=cost.delta), events",
        "rho is kept on a public grid, rounded up",
        ("unit/ledger/test_account.py::test_rho_is_rounded_up_to_the_grid_that_the_ledger_keeps",),
    ),
)

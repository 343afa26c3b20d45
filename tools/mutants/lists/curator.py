"""Salts, error texts, keys, receipts and times of the whole path."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "curator/answer.py",
        "Receipt((*release.paid.events, *measured.paid.events))",
        "Receipt(release.paid.events)",
        "counts are paid",
        (
            "integration/curator/test_metered.py::test_one_question_pays_what_it_drew[1/2-options8-ExponentialTopK-reads8]",
        ),
    ),
    Mutant(
        "curator/answer.py",
        "        failure = SourceFailure()",
        "        raise",
        "an error after the read may quote a row",
        ("integration/curator/test_secrets.py::test_anything_that_fails_after_the_read",),
        raises="RuntimeError",
    ),
    Mutant(
        "curator/answer.py",
        "error.__cause__ = error.__context__ = None",
        "error.__cause__ = None",
        "what an error came from quotes rows",
        ("unit/curator/test_prepare.py::test_a_bare_error_carries_nothing_along",),
    ),
    Mutant(
        "curator/answer.py",
        "return error.with_traceback(None)",
        "return error",
        "the frames of a traceback hold rows",
        ("unit/curator/test_prepare.py::test_a_bare_error_carries_nothing_along",),
    ),
    Mutant(
        "curator/prepare.py",
        "return system_bits().read(_SALT_BYTES).hex()",
        "return PLACEHOLDER_SALT",
        "which items a user keeps is decided by a fresh salt",
        ("unit/curator/test_prepare.py::test_the_salt_is_drawn_for_each_reading",),
    ),
    Mutant(
        "curator/prepare.py",
        "None if cap is None else salt)",
        "None if cap is None else PLACEHOLDER_SALT)",
        "the salt of a question is its own",
        ("unit/curator/test_prepare.py::test_the_salt_is_drawn_for_each_reading",),
    ),
    Mutant(
        "curator/rounds.py",
        "self.planned.weighted_query(stage.weights, without, self.salt)",
        "self.planned.weighted_query(stage.weights, without, '1' * 32)",
        "a user keeps the same items in all rounds",
        ("integration/curator/test_rounds.py::test_all_rounds_cut_users_by_one_salt",),
    ),
    Mutant(
        "curator/payment.py",
        "planned.strategy.worst_case,\n            record.to_text(),",
        "planned.strategy.mechanism.worst_case,\n            record.to_text(),",
        "counts are reserved too",
        ("integration/curator/test_metered.py::test_a_ledger_charges_what_was_drawn[options2-reads2]",),
        raises="QuestionForfeited",
    ),
    Mutant(
        "curator/payment.py",
        "self.ledger.forfeit(reservation, Reason.FAILED)",
        "pass",
        "a question that failed is forfeited",
        ("integration/curator/test_secrets.py::test_anything_that_fails_after_the_read",),
    ),
    Mutant(
        "curator/pricing.py",
        "rho = facts.k * bounded_range_rho(single) * (2 if facts.counts else 1)",
        "rho = facts.k * bounded_range_rho(single) * (4 if facts.counts else 2)",
        "a list in rounds costs what its plan says",
        ("integration/curator/test_rounds.py::test_rounds_cost_what_as_many_selections_would",),
    ),
    Mutant(
        "curator/pricing.py",
        "delta = 2 * delta_per_call / (1 + delta_per_call)",
        "delta = 4 * delta_per_call / (1 + delta_per_call)",
        "a stated epsilon does not raise the delta of a call",
        ("integration/curator/test_answers.py::test_an_epsilon_of_its_own",),
    ),
    Mutant(
        "curator/pricing.py",
        "if pure and facts.domain_size is None:",
        "if False:",
        "a pure budget has no unknown domains",
        ("integration/curator/test_bad_input.py::test_delta_0_needs_a_known_domain",),
    ),
    Mutant(
        "curator/reuse.py",
        "if other is None or other.k < self.k:",
        "if other is None:",
        "a shorter list does not answer for a longer one",
        ("unit/curator/test_prepare.py::test_which_answers_contain_this_one",),
    ),
    Mutant(
        "curator/payment.py",
        'return strategy, {"epsilon_per_item": str(totals.epsilon_per_item), "delta": delta}',
        'return strategy, {"epsilon_per_item": str(totals.epsilon_per_item)}',
        "another delta is another question",
        ("unit/curator/test_prepare.py::test_a_key_holds_the_budget_that_was_requested",),
    ),
    Mutant(
        "curator/reuse.py",
        "        user=planned.user,",
        "        user='',",
        "another unit of privacy is another question",
        ("unit/curator/test_prepare.py::test_keys_tell_questions_apart",),
    ),
    Mutant(
        "curator/reuse.py",
        "if not other.ordered and (self.ordered or other.k != self.k):",
        "if not other.ordered and self.ordered:",
        "a set has no first places",
        ("integration/curator/test_ranking.py::test_a_set_does_not_answer_for_a_smaller_one",),
    ),
    Mutant(
        "ledger/receipts.py",
        "outcome = tuple(release.outcome)[:k]",
        "outcome = tuple(release.outcome)",
        "a list told again is cut to what was asked",
        ("integration/curator/test_again.py::test_a_longer_list_answers_a_shorter_one",),
    ),
    Mutant(
        "curator/monitor/turn.py",
        "_rest_of_share(part.rho, spent.rho, left.rho)",
        "_rest_of_share(part.rho, Fraction(0), left.rho)",
        "failed attempts stay charged to their period",
        (
            "integration/curator/test_monitor.py::test_what_another_process_found_meanwhile_counts_against_the_cap_of_its_period",
        ),
    ),
    Mutant(
        "curator/monitor/turn.py",
        "events = (*(finding.paid.events if finding else ()), *release.paid.events)",
        "events = release.paid.events",
        "the receipt of a period has its round of finding",
        ("integration/curator/test_metered.py::test_a_schedule_pays_for_finding_and_for_every_list",),
    ),
    Mutant(
        "curator/monitor/turn.py",
        "after=self.record.head if self.task.alone else None",
        "after=None",
        "the cap of a period is kept against others who ask meanwhile",
        (
            "integration/curator/test_monitor_caps.py::test_a_question_charged_after_the_record_was_read_is_not_overlooked",
        ),
    ),
    Mutant(
        "curator/monitor/periods.py",
        "cost = closing.cost if closing is not None and settled else entry.cost",
        "cost = closing.cost if closing is not None else entry.cost",
        "what failed is charged in full",
        (
            "unit/curator/test_monitor_record.py::test_what_failed_or_is_open_is_charged_in_full_and_what_was_settled_for_what_it_cost",
        ),
    ),
    Mutant(
        "curator/timing.py",
        "return float(period * max(1, math.ceil(exact / period)) - exact)",
        "return float(period - exact % period) if exact > period else 0.0",
        "answers come on a public grid of times",
        ("integration/curator/test_schedule.py::test_the_end_is_the_next_multiple",),
    ),
    Mutant(
        "curator/timing.py",
        "    except Exception:\n        _wait(start, period)\n        raise",
        "    except Exception:\n        raise",
        "failures come on the grid too",
        ("integration/curator/test_schedule.py::test_nothing_is_settled_or_told_before_its_time",),
    ),
    Mutant(
        "curator/settle.py",
        "written, events = release.to_json(), release.paid.events",
        "written, events = release.to_json(), release.paid.events[:1]",
        "all events are settled",
        ("integration/curator/test_metered.py::test_a_ledger_charges_what_was_drawn[options7-reads7]",),
    ),
    Mutant(
        "curator/monitor/topk_monitor.py",
        "answer_every=self._answer_every,",
        "answer_every=None,",
        "lists of a schedule come on the grid too",
        ("integration/curator/test_schedule.py::test_rankings_and_monitors_wait_for_each_question",),
    ),
)

"""Who may do what, and what an error says."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "agents/tool_calls.py",
        "if price_of(await backend.plan(kept.dataset, request)) != kept.price:",
        "if False:",
        "an agent pays the price that it was told",
        ("integration/agents/test_tools.py::test_a_price_that_changed_is_not_paid",),
    ),
    Mutant(
        "agents/priced_plans.py",
        "found is None or found.analyst != analyst or",
        "found is None or",
        "a plan is its analyst's alone",
        ("integration/agents/test_tools.py::test_a_plan_is_asked_once_by_whoever_planned_it",),
    ),
    Mutant(
        "agents/priced_plans.py",
        "            del self._kept[id_]",
        "            pass",
        "a plan is asked once",
        ("integration/agents/test_tools.py::test_a_plan_is_asked_once_by_whoever_planned_it",),
    ),
    Mutant(
        "service/store/stored_plans.py",
        'session.run("DELETE FROM service_plans WHERE id = ?", (id_,))',
        "pass",
        "a plan of a service is asked once",
        ("integration/agents/test_doors.py::test_a_plan_of_the_service_is_its_analysts_alone",),
    ),
    Mutant(
        "service/store/stored_plans.py",
        "WHERE id = ? AND analyst = ? AND expires > ?",
        "WHERE id = ? AND (analyst = ? OR TRUE) AND expires > ?",
        "a plan of a service is its analyst's alone",
        ("integration/agents/test_doors.py::test_a_plan_of_the_service_is_its_analysts_alone",),
    ),
    Mutant(
        "service/http/agents_endpoint.py",
        "if origin is not None and origin not in own:",
        "if False:",
        "pages of other sites do not ask for their visitors",
        ("integration/agents/test_doors.py::test_a_request_needs_a_token_and_no_foreign_page",),
    ),
    Mutant(
        "wire/problems.py",
        '"detail": str(error) if known else UNEXPECTED,',
        '"detail": str(error),',
        "an unexpected error may quote a row",
        ("unit/service/test_api.py::test_an_unexpected_failure_says_nothing",),
    ),
    Mutant(
        "service/http/access.py",
        "if not token.reaches(dataset):",
        "if False:",
        "a token opens the data sets in its scope",
        ("unit/service/test_access.py::test_outside_its_scope_a_token_sees_nothing",),
    ),
    Mutant(
        "service/http/access.py",
        "if not token.role.covers(role):",
        "if False:",
        "a role may do what it should",
        ("unit/service/test_access.py::test_each_role_may_do_what_it_should",),
    ),
    Mutant(
        "service/store/tokens.py",
        "return self.revoked is None and now() < self.expires",
        "return self.revoked is None",
        "an expired token opens nothing",
        ("unit/service/test_access.py::test_an_expired_token_opens_nothing",),
    ),
    Mutant(
        "service/store/tokens.py",
        "(_hash(secret), token.id,",
        "(secret, token.id,",
        "secrets are not stored",
        ("unit/service/test_access.py::test_secrets_are_not_stored",),
    ),
    Mutant(
        "service/http/rate_limits.py",
        "allowed = level >= number",
        "allowed = True",
        "rates hold for each token",
        ("unit/service/test_limits.py::test_rates_hold_for_each_token",),
    ),
    Mutant(
        "service/http/access.py",
        'raise not_found(f"dataset={dataset!r}")',
        'raise forbidden("see it", "what is in its scope")',
        "what is out of scope looks like what is not there",
        ("unit/service/test_access.py::test_outside_its_scope_a_token_sees_nothing",),
    ),
    Mutant(
        "service/core.py",
        "if found is None or not (found.valid and found.reaches(dataset) and found.role.covers(Role.ANALYST)):",
        "if found is None:",
        "a token that ended while its question waited asks nothing",
        ("unit/service/test_jobs.py::test_a_question_whose_token_is_revoked_while_it_waits_is_not_asked",),
    ),
    Mutant(
        "service/ops/jobs.py",
        "if not rows or rows[0][0] != token.id or not",
        "if not rows or not",
        "a job belongs to its token, and not to a name",
        ("unit/service/test_jobs.py::test_a_job_belongs_to_its_token_and_not_to_a_name",),
    ),
    Mutant(
        "service/ops/turns.py",
        "self._turns.get(line.analyst, 0), ",
        "0, ",
        "one analyst with many data sets has one analyst's share",
        ("unit/service/test_running.py::test_one_analyst_with_many_data_sets_has_one_analysts_share",),
    ),
    Mutant(
        "service/ops/turns.py",
        "last=free == 1 and self._parallel > 1",
        "last=False",
        "nobody can keep all threads",
        ("unit/service/test_running.py::test_the_last_thread_is_kept_for_who_has_none",),
    ),
    Mutant(
        "service/http/middleware.py",
        '(b"content-length" in names or scope',
        "(scope",
        "no request is hidden in the body of another",
        ("integration/service/test_connections.py::test_a_body_with_two_ends_is_refused_and_nothing_after_it_is_read",),
    ),
    Mutant(
        "service/api/records.py",
        "        if not capped:\n            return ledger.verify(dataset, receipts=receipts).to_dict()",
        "        if True:\n            return ledger.verify(dataset, receipts=receipts).to_dict()",
        "where analysts have caps, how long the chain is tells what others asked",
        ("unit/service/test_caps.py::test_others_releases_are_hidden_until_they_are_paid_for",),
    ),
    Mutant(
        "service/api/records.py",
        "own = {one.hash for one in entries if one.kind is Kind.SETTLED and _has_seen(one, entries, token.name)}",
        "own = {one.hash for one in entries if one.kind is Kind.SETTLED}",
        "whose a release is that an analyst has not seen is not told",
        ("unit/service/test_caps.py::test_others_releases_are_hidden_until_they_are_paid_for",),
    ),
)

"""Who may do what, and what an error says."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "service/problems.py",
        '"detail": str(error) if known else UNEXPECTED,',
        '"detail": str(error),',
        "an unexpected error may quote a row",
        ("unit/service/test_api.py::test_an_unexpected_failure_says_nothing",),
    ),
    Mutant(
        "service/access.py",
        "if not token.reaches(dataset):",
        "if False:",
        "a token opens the data sets in its scope",
        ("unit/service/test_access.py::test_outside_its_scope_a_token_sees_nothing",),
    ),
    Mutant(
        "service/access.py",
        "if not token.role.covers(role):",
        "if False:",
        "a role may do what it should",
        ("unit/service/test_access.py::test_each_role_may_do_what_it_should",),
    ),
    Mutant(
        "service/tokens.py",
        "return self.revoked is None and now() < self.expires",
        "return self.revoked is None",
        "an expired token opens nothing",
        ("unit/service/test_access.py::test_an_expired_token_opens_nothing",),
    ),
    Mutant(
        "service/tokens.py",
        "(_hash(secret), token.id,",
        "(secret, token.id,",
        "secrets are not stored",
        ("unit/service/test_access.py::test_secrets_are_not_stored",),
    ),
    Mutant(
        "service/limits.py",
        "allowed = level >= 1",
        "allowed = level >= 0",
        "rates hold for each token",
        ("unit/service/test_limits.py::test_rates_hold_for_each_token",),
    ),
    Mutant(
        "service/access.py",
        'raise not_found(f"dataset={dataset!r}")',
        'raise forbidden("see it", "what is in its scope")',
        "what is out of scope looks like what is not there",
        ("unit/service/test_access.py::test_outside_its_scope_a_token_sees_nothing",),
    ),
)

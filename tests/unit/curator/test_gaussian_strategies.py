"""What an account with a Gaussian filter reserves for questions of every kind: steps that have prices, in a row."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from podium.curator.pricing import ledger_strategy
from podium.errors import InvalidArgument
from podium.ledger import Budget, Totals
from podium.planning.facts import Facts, GroupFacts, MeasureFacts
from podium.privacy import ApproximateMechanism, PureMechanism
from podium.privacy.gaussian import chain, steps_of

TOTALS = Totals.of(Budget(epsilon=3, delta="1e-6", items=130, questions=13, filter="gaussian"))
MEASURES = (
    None,
    MeasureFacts("events", Fraction(1), 3, 0),
    MeasureFacts("sum(minutes)", Fraction(1), None, 0),
    MeasureFacts("sum(minutes)", Fraction(1), 5, -3),
)
GROUPS = (None, GroupFacts(2), GroupFacts(2, known=9), GroupFacts(None))


@pytest.mark.parametrize("epsilon", [None, "0.5"])
@pytest.mark.parametrize("domain_size", [None, 500])
def test_no_question_chooses_its_way(domain_size: int | None, epsilon: str | None) -> None:
    """One step that stands for a whole mechanism would hide which way it took, and all of it would stay charged."""
    planned = 0
    for k, counts, others, measure, groups in product((1, 4, 30), (False, True), (False, True), MEASURES, GROUPS):
        try:
            facts = Facts(
                k=k, domain_size=domain_size, counts=counts or others, others=others, measure=measure, groups=groups
            )
            strategy = ledger_strategy(TOTALS, facts, epsilon)
        except InvalidArgument:
            continue
        events = strategy.worst_case
        assert not any(isinstance(event, ApproximateMechanism | PureMechanism) for event in events), facts
        found = chain(steps_of(events), Fraction(10))
        assert found is not None, facts
        planned += 1
    assert planned >= 40

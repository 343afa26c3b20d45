"""Caps per analyst: who is charged for an answer, and which of several answers an analyst is told."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.support.ledger.costs import pure

from podium.errors import BudgetExceeded, InvalidArgument
from podium.ledger import Budget, Ledger


def test_caps_per_analyst(ledger: Ledger) -> None:
    budget = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.3")
    ledger.register("clicks", budget, source="s")
    with pytest.raises(InvalidArgument, match="analyst"):
        ledger.reserve("clicks", pure("0.1"), "q")
    reservation = ledger.reserve("clicks", pure("0.3"), "q", analyst="ann")
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve("clicks", pure("0.1"), "q2", analyst="ann")
    assert caught.value.budget == "analyst 'ann' on 'clicks'"
    ledger.reserve("clicks", pure("0.1"), "q2", analyst="bob")
    ledger.settle(reservation, "{}", pure("0.2"))
    status = ledger.status("clicks")
    assert {name: held.epsilon for name, held in status.analysts.items()} == {
        "ann": Fraction(1, 5),
        "bob": Fraction(1, 10),
    }
    assert "if analysts do not share answers" in status.promise
    assert ledger.verify().sound


def test_a_stored_release_is_charged_to_each_analyst_who_first_sees_it(ledger: Ledger) -> None:
    budget = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.3")
    ledger.register("clicks", budget, source="s")
    ledger.settle(ledger.reserve("clicks", pure("0.2"), "q", analyst="ann"), "{}", pure("0.1"))
    with pytest.raises(InvalidArgument, match="analyst"):
        ledger.find_release("clicks", "q")
    assert not _charged(ledger, "ann")
    assert _charged(ledger, "bob")
    assert not _charged(ledger, "bob")
    status = ledger.status("clicks")
    assert status.analysts["bob"].epsilon == Fraction(1, 10)
    # The data set as a whole paid once: the same answer tells all analysts together nothing new.
    assert status.spent.epsilon == Fraction(1, 10)
    # Whether Carol may see it depends on its worst case, 0.2, not on what came out.
    ledger.reserve("clicks", pure("0.15"), "other", analyst="carol")
    with pytest.raises(BudgetExceeded, match="carol"):
        ledger.find_release("clicks", "q", analyst="carol")
    assert ledger.verify().sound


def test_a_release_that_an_analyst_paid_for_or_has_seen_comes_before_an_older_one(ledger: Ledger) -> None:
    ledger.register("clicks", Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.2"), source="s")
    for k, analyst, cost in ((10, "ann", "0.1"), (20, "bob", "0.2")):
        reservation = ledger.reserve("clicks", pure(cost), f"top {k}", question_key="top ?", analyst=analyst)
        ledger.settle(reservation, str(k), pure(cost))

    def told(analyst: str, k: int) -> tuple[str, bool] | None:
        found = ledger.find_release("clicks", "top ?", analyst=analyst, answers=lambda text: int(text.split()[1]) >= k)
        return None if found is None else (found.release, found.charged)

    # Bob and Carol have no room left for the older one.
    assert told("carol", 20) == ("20", True)
    assert [told(name, 5) for name in ("ann", "bob", "carol", "dave")] == [
        ("10", False), ("20", False), ("20", False), ("10", True),
    ]  # fmt: skip
    assert told("dave", 30) is None
    assert ledger.verify().sound


def _charged(ledger: Ledger, analyst: str) -> bool:
    found = ledger.find_release("clicks", "q", analyst=analyst)
    assert found is not None
    return found.charged

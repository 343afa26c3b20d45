"""What an entry may do to an account: arithmetic that reserving and verifying share, so both refuse the same."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from podium.ledger.account import Account, Contradiction, analyst_sums, describe_events
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.budget import Budget, Totals
from podium.ledger.entries import Entry, Kind
from podium.privacy import Cost, GaussianNoise, PureMechanism

BUDGET = Budget(epsilon=1, items=4, questions=4, epsilon_per_analyst="1/2")
RELEASE = "{}"


def entry(sequence: int, kind: Kind, **fields: Any) -> Entry:
    return Entry("clicks", sequence, kind, "2026-01-01T00:00:00+00:00", "before", "salt", **fields)


def opened(budget: Budget = BUDGET) -> Account:
    facts = {"source": "s", "totals": Totals.of(budget).to_dict(), "failures_allowed": 2}
    return Account.from_registration(entry(1, Kind.REGISTERED, data_version="1", details=json.dumps(facts)))


def cost(epsilon: str) -> Cost:
    return Cost(epsilon=epsilon, rho=Fraction(epsilon) ** 2 / 2)


def reserved(epsilon: str, sequence: int = 2, **fields: Any) -> Entry:
    return entry(sequence, Kind.RESERVED, cost=cost(epsilon), **fields)


def settled(epsilon: str, **fields: Any) -> Entry:
    return entry(3, Kind.SETTLED, cost=cost(epsilon), reservation=2, **{"release": RELEASE, **fields})


def test_a_reservation_is_charged_until_it_is_settled_for_less() -> None:
    asked = reserved("1/2", analyst="ada")
    during = opened().after(asked, None)
    assert (during.held, during.questions) == (Sum.of(cost("1/2")), 1)
    after = during.after(settled("1/8"), asked)
    assert after.held == Sum.of(cost("1/8"))
    assert analyst_sums([asked, settled("1/8")]) == {"ada": Sum.of(cost("1/8"))}


def test_what_failed_stays_charged_and_counts() -> None:
    asked = reserved("1/2")
    after = opened().after(asked, None).after(entry(3, Kind.FORFEITED, reservation=2), asked)
    assert after.held == Sum.of(cost("1/2"))
    assert (after.failures, after.locked) == (1, False)
    # Ten times as many as lock the analyst who caused them.
    assert not replace(after, failures=19).locked
    assert replace(after, failures=20).locked


def test_what_no_ledger_may_write() -> None:
    asked = reserved("1/2")
    during = opened().after(asked, None)
    told = entry(3, Kind.SEEN, cost=cost("3/4"), reservation=2, analyst="bob")
    lower = Totals.of(Budget(epsilon="1/2", items=4, questions=4, epsilon_per_analyst="1/2")).to_dict()
    impossible: list[tuple[Entry, Entry | None, str]] = [
        (reserved("5/8", 3), None, "it reserves more than was left"),
        (settled("3/4"), asked, "it settles for more than was reserved"),
        (settled("1/8", release=None), asked, "it settles without a release"),
        (told, asked, "it charges an analyst for more than was reserved"),
        (entry(3, Kind.RAISED, details=json.dumps({"totals": lower})), None, "it lowers a total"),
        (settled("1/8"), None, "the reservation that it names is not there"),
    ]
    for wrong, reservation, text in impossible:
        with pytest.raises(Contradiction, match=f"^{text}$"):
            during.after(wrong, reservation)


def test_a_cost_is_that_of_its_events() -> None:
    events = (PureMechanism("1/8", reserved="1/2"),)
    told = json.dumps({"events": describe_events(events)})
    asked = reserved("1/2", details=told)
    during = opened().after(asked, None)
    assert during.after(settled_for(events, told), asked).held.epsilon == Fraction(1, 8)
    for wrong in (reserved("1/4", details=told), reserved("1/8", details=told)):
        with pytest.raises(Contradiction, match=r"^its cost is not that of its events$"):
            opened().after(wrong, None)


def test_delta_is_limited_where_rho_fits() -> None:
    account = opened(Budget(epsilon=1, delta="1e-6", items=4, questions=4))
    held = entry(2, Kind.RESERVED, cost=Cost(epsilon="1/8", rho="1/1000", delta="4e-7"))
    during = account.after(held, None)
    for delta, fits in (("1e-7", True), ("1.01e-7", False)):
        asked = entry(3, Kind.RESERVED, cost=Cost(epsilon="1/8", rho="1/1000", delta=delta))
        if fits:
            assert during.after(asked, None).held.delta == Fraction("5e-7")
        else:
            with pytest.raises(Contradiction, match=r"^it reserves more than was left$"):
                during.after(asked, None)


def settled_for(events: tuple[PureMechanism, ...], told: str) -> Entry:
    charged, _ = Charged.of(events, reserve=False)
    return entry(3, Kind.SETTLED, cost=charged, reservation=2, release=RELEASE, details=told)


def test_rho_is_rounded_up_to_the_grid_that_the_ledger_keeps() -> None:
    third = GaussianNoise(1, sensitivity_squared=Fraction(2, 3))
    charged, _ = Charged.of((third,), reserve=True)
    assert charged.epsilon is None
    assert Fraction(1, 3) < charged.rho <= Fraction(1, 3) + Fraction(1, 2**64)
    assert (charged.rho * 2**64).denominator == 1


def test_an_unbounded_loss_is_counted_and_can_be_taken_off_again() -> None:
    noise, rest = Sum.of(Cost(epsilon=None, rho=1)), Sum.of(cost("1/2"))
    assert (noise + rest).cost.epsilon is None
    assert (noise + rest - noise).cost == cost("1/2")

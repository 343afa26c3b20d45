"""What other processes do in the tests, and how they are started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from multiprocessing.synchronize import Event

from podium.errors import BudgetExceeded
from podium.ledger import Budget, Reservation, open_ledger
from podium.privacy import Cost, Selection, limited_domain_events

TIMEOUT = 60.0


def spend_pure(number: int, url: str, unit: str) -> int:
    """Spend units until there is nothing left; how many that were."""
    cost = Cost(epsilon=unit, rho=Fraction(unit) ** 2 / 2)
    done = 0
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        while True:
            try:
                reservation = ledger.reserve("clicks", cost, f"question {done} of {number}", analyst=f"a{number}")
            except BudgetExceeded:
                return done
            ledger.settle(reservation, "{}", cost)
            done += 1


def spend_mixed(number: int, url: str) -> int:
    """Reserve three items, settle one to three of them, forfeit now and then, until there is nothing left."""
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        totals = ledger.status("clicks").totals
        single, call = totals.epsilon_per_item, totals.delta_per_call
        worst = limited_domain_events(single, call, items=3, bottom=False)
        done = 0
        while True:
            try:
                reservation = ledger.reserve("clicks", worst, f"question {done} of {number}")
            except BudgetExceeded:
                return done
            if (number + done) % 5 == 0:
                ledger.forfeit(reservation)
            else:
                got = (number + done) % 3
                ledger.settle(reservation, "{}", limited_domain_events(single, call, items=got, bottom=True))
            done += 1


STEPS = (Selection("0.1"), Selection("0.05"), Selection("0.08"))


def settle_in_reverse(number: int, url: str) -> None:
    """Reserve three steps in the order of the numbers, and settle one more than the number in the other order."""
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        _wait_for(lambda: ledger.status("reversed").open_reservations == number)
        reservation = ledger.reserve("reversed", [STEPS[number]] * 3, f"question {number}")
        _wait_for(lambda: ledger.status("reversed").questions_asked == len(STEPS))
        _wait_for(lambda: ledger.status("reversed").open_reservations == number + 1)
        ledger.settle(reservation, "{}", [STEPS[number]] * (number + 1))


def _wait_for(come: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not come():
        assert time.monotonic() < end
        time.sleep(0.01)


def ask_the_same(_: int, url: str, questions: int) -> tuple[int, list[str]]:
    """Ask what all others ask, in the same order: how many were paid for here, and which entries answered them."""
    cost = Cost(epsilon="0.1", rho="0.005")
    paid, answers = 0, []
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        for number in range(questions):
            found = ledger.reserve_once("clicks", cost, f"question {number}", patience=TIMEOUT)
            if isinstance(found, Reservation):
                paid += 1
                answers.append(ledger.settle(found, "{}", cost).hash)
            else:
                answers.append(found.hash)
    return paid, answers


def reserve_and_wait(url: str, reserved: Event) -> None:
    """Reserve a question and work on it until killed."""
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        ledger.reserve_once("clicks", Cost(epsilon="0.1", rho="0.005"), "question 0")
        reserved.set()
        threading.Event().wait()


def spend_for_ever(url: str, started: Event) -> None:
    """Reserve and settle until killed."""
    cost = Cost(epsilon="1/1000000", rho=0)
    with open_ledger(url, timeout=TIMEOUT) as ledger:
        while True:
            # Of a schedule: as many as fit before the kill, at no minimum price.
            ledger.settle(ledger.reserve("clicks", cost, "q", schedule="s"), "{}", cost)
            started.set()


def register(number: int, url: str) -> tuple[str, ...]:
    """Open a ledger that may not exist yet, and register a data set of one's own."""

    with open_ledger(url, timeout=TIMEOUT) as ledger:
        ledger.register(f"data {number % 4}", Budget(epsilon=1, items=1, questions=1), source=f"s{number % 4}")
        return ledger.datasets()

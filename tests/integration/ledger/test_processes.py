"""Never overspent, never lost: many processes at once, and processes that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from tests.support.ledger import workers
from tests.support.processes import context, together

from podium.errors import BudgetExceeded
from podium.ledger import Budget, Kind, Reason, open_ledger, reservations
from podium.privacy import Cost
from podium.storage.processes import Owner

PURE = Budget(epsilon=1, items=10, questions=10)
TENTH = Cost(epsilon="0.1", rho="0.005")


def test_sixteen_processes_reach_a_pure_total_exactly(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", Budget(epsilon="1.2", items=48, questions=48), source="s")
        done = together(16, workers.spend_pure, url, "1/40")
        assert sum(done) == 48
        status = ledger.status("clicks")
        assert status.spent.epsilon == Fraction("1.2")
        assert status.remaining.epsilon == 0
        assert ledger.verify().sound


@pytest.mark.parametrize("kind", ["zcdp", "gaussian"])
def test_sixteen_processes_stay_within_an_approximate_total(url: str, kind: str) -> None:
    with open_ledger(url) as ledger:
        budget = Budget(epsilon=1, delta="1e-6", items=60, questions=40, filter=kind)
        ledger.register("clicks", budget, source="s", failures_allowed=1000)
        done = together(16, workers.spend_mixed, url)
        status = ledger.status("clicks")
        assert status.totals.whole.share(status.held) <= 1
        assert sum(done) == status.questions_asked >= 20
        # The last refusal was for want of three more items, or of one more question.
        assert status.items_left < 3 or status.questions_left == 0
        assert ledger.verify().sound


def test_processes_that_settle_in_reverse_order_leave_the_same(url: str) -> None:
    """Gaussian filter: the prices of each reservation were fixed when it was made."""
    budget = Budget(epsilon=1, delta="1e-6", items=80, questions=80, filter="gaussian")
    with open_ledger(url) as ledger:
        for name in ("reversed", "alone"):
            ledger.register(name, budget, source=name)
        together(3, workers.settle_in_reverse, url)
        order = [entry.reservation for entry in ledger.history("reversed") if entry.kind is Kind.SETTLED]
        assert order == [4, 3, 2]
        # The same reservations in one process, settled in the order in which they were made.
        opened = [ledger.reserve("alone", [event] * 3, str(event)) for event in workers.STEPS]
        for place, reservation in enumerate(opened):
            ledger.settle(reservation, "{}", [workers.STEPS[place]] * (place + 1))
        assert ledger.status("reversed").held == ledger.status("alone").held
        assert ledger.verify().sound


def test_equal_questions_of_many_processes_are_paid_for_once(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        done = together(8, workers.ask_the_same, url, 10)
        assert sum(paid for paid, _ in done) == 10
        assert len({tuple(answers) for _, answers in done}) == 1
        kinds = [entry.kind for entry in ledger.history("clicks")]
        assert (kinds.count(Kind.RESERVED), kinds.count(Kind.SETTLED)) == (10, 10)
        assert ledger.status("clicks").remaining.epsilon == 0
        assert ledger.verify().sound


def test_who_waits_for_a_process_that_is_killed_goes_on(url: str) -> None:
    here = context()
    reserved = here.Event()
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        holder = here.Process(target=workers.reserve_and_wait, args=(url, reserved))
        holder.start()
        assert reserved.wait(timeout=120)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(workers.ask_the_same, 0, url, 1)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.5)
            assert holder.pid is not None
            os.kill(holder.pid, signal.SIGKILL)
            paid, _ = waiting.result(timeout=120)
        holder.join()
        assert paid == 1
        entries = ledger.history("clicks")[1:]
        assert [entry.kind for entry in entries] == [Kind.RESERVED, Kind.FORFEITED, Kind.RESERVED, Kind.SETTLED]
        assert entries[1].facts == {"reason": Reason.CRASHED.value}
        assert ledger.verify().sound


def test_many_processes_may_make_the_same_ledger(url: str) -> None:
    together(8, workers.register, url)
    with open_ledger(url, create=False) as ledger:
        assert sorted(ledger.datasets()) == ["data 0", "data 1", "data 2", "data 3"]
        assert ledger.verify().sound


def test_threads_share_a_ledger(url: str) -> None:
    with open_ledger(url, timeout=workers.TIMEOUT) as ledger:
        ledger.register("clicks", PURE, source="s")
        refused: list[int] = []

        def work(number: int) -> None:
            for _ in range(3):
                try:
                    ledger.settle(ledger.reserve("clicks", TENTH, "q"), "{}", TENTH)
                except BudgetExceeded:
                    refused.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 2
        assert ledger.status("clicks").remaining.epsilon == 0
        assert ledger.verify().sound


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        ledger.reserve("clicks", TENTH, "parent")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                ledger.settle(ledger.reserve("clicks", TENTH, "child"), "{}", TENTH)
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        ledger.reserve("clicks", TENTH, "parent again")
        owners = [entry.owner for entry in ledger.history("clicks") if entry.kind is Kind.RESERVED]
        assert owners[0] == owners[2] != owners[1]
        # The parent lives, so only the child's would be forfeited, and that one is settled.
        assert ledger.recover() == ()


HOLDER = """
import sys, time
from podium.ledger import open_ledger
from podium.storage.processes import Owner
from podium.privacy import Cost
ledger = open_ledger(sys.argv[1])
ledger.reserve("clicks", Cost(epsilon="0.1", rho="0.005"), "q")
print("reserved", flush=True)
time.sleep(600)
"""


def test_a_killed_process_forfeits_what_it_had_reserved(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        child = subprocess.Popen([sys.executable, "-c", HOLDER, url], stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"reserved\n"
        assert ledger.recover() == ()
        child.send_signal(signal.SIGKILL)
        _wait_until_dead(child.pid)
        # Not yet waited for: a zombie holds nothing any more.
        with open_ledger(url) as other:
            last = other.history("clicks")[-1]
            assert (last.kind, last.facts) == (Kind.FORFEITED, {"reason": Reason.CRASHED.value})
            status = other.status("clicks")
            assert (status.open_reservations, status.failures) == (0, 1)
            assert (status.spent.epsilon, status.remaining.epsilon) == (Fraction(1, 10), Fraction(9, 10))
            assert other.verify().sound
        child.wait()
        child.stdout.close()


def _wait_until_dead(pid: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:  # noqa: PTH123 - a file of the kernel
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                return
        time.sleep(0.01)
    raise AssertionError


def test_killing_at_any_moment_leaves_a_sound_ledger(url: str) -> None:
    with open_ledger(url, timeout=workers.TIMEOUT) as ledger:
        ledger.register("clicks", PURE, source="s", failures_allowed=100)
        for delay in (0.1, 0.17, 0.23, 0.31):
            started = context().Event()
            process = context().Process(target=workers.spend_for_ever, args=(url, started))
            process.start()
            assert started.wait(timeout=30)
            time.sleep(delay)
            process.kill()
            process.join()
            ledger.recover()
            report = ledger.verify()
            assert report.problem is None
            status = ledger.status("clicks")
            assert status.open_reservations == 0
            asked = sum(entry.kind is Kind.RESERVED for entry in ledger.history("clicks"))
            assert status.spent.epsilon == Fraction(asked, 1_000_000)


def test_a_reservation_of_another_machine_is_forfeited_on_demand_only(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ledger(url) as ledger:
        ledger.register("clicks", PURE, source="s")
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(reservations, "this_process", lambda: Owner("far", "boot", "ns", 1, "2", "token"))
            ledger.reserve("clicks", TENTH, "q")
        assert ledger.recover() == ()
        (entry,) = ledger.recover(force=True)
        assert entry.facts == {"reason": Reason.ABANDONED.value}
        assert ledger.verify().sound

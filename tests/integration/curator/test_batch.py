"""A batch: one price, all or none, each question settled or forfeited alone, and equal ones paid once."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import podium as command
from tests.support.command_line import succeeded
from tests.support.serving import views, world

from podium import Budget, Curator, Question
from podium.curator.one_question import OneQuestion
from podium.curator.payment import LedgerAccount
from podium.errors import BudgetExceeded, DatasetLocked, InvalidArgument, LedgerLocked, PodiumError, QuestionForfeited
from podium.exact import exact_fraction
from podium.histogram import Histogram
from podium.ledger import Kind, Reason, open_ledger
from podium.ledger.account import recorded_cost
from podium.mechanisms import ExponentialTopK
from podium.privacy import Cost, Limits
from podium.query.batch_question import MAX_BATCH

BUDGET = Budget(epsilon=12, delta="1e-5", items=60, questions=12)
THREE: list[Any] = [
    {"item": "article", "k": 3},
    "SELECT country FROM views GROUP BY country ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2",
    Question(item=("article",), k=2, where=("country = 'DE'",), counts=True),
]


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    with opened(tmp_path) as made:
        yield made


def opened(folder: Path, budget: Budget = BUDGET) -> Curator:
    table = folder / "views.parquet"
    if not table.exists():
        views(table)
    return Curator(table, dataset="views", user="user_id", ledger=folder / "ledger.db", budget=budget)


def kinds(curator: Curator) -> list[Kind]:
    account = curator._ledger_account
    return [entry.kind for entry in account.ledger.history("views")]


def test_all_are_reserved_before_any_is_read(curator: Curator) -> None:
    batch = curator.batch(THREE)
    plan = batch.plan()
    assert kinds(curator) == [Kind.REGISTERED]
    assert (len(plan), plan.fits, plan.same_as) == (3, True, (0, 1, 2))
    assert plan.at_most == sum((one.at_most for one in plan), Cost.nothing())
    answers = batch.ask()
    assert kinds(curator) == [Kind.REGISTERED, *[Kind.RESERVED] * 3, *[Kind.SETTLED] * 3]
    assert [len(one.items) for one in answers] == [3, 2, 2]
    assert answers[2].values is not None
    assert sum(one.paid.rho for one in answers.releases) <= plan.at_most.rho
    # Asked again, alone or together, each is free.
    again = batch.ask()
    assert [one.items for one in again] == [one.items for one in answers]
    assert all(one.paid.events == () for one in again)
    assert curator.top("article", k=3).paid.events == ()


def test_duplicates_are_paid_once_and_a_longer_list_pays_for_a_shorter_one(curator: Curator) -> None:
    short, long = {"item": "article", "k": 2}, {"item": "article", "k": 4}
    batch = curator.batch([short, long, long, {"item": "article", "k": 4, "epsilon": "0.5"}])
    plan = batch.plan()
    assert plan.same_as == (1, 1, 1, 3)
    assert "paid with 2" in str(plan)
    answers = batch.ask()
    assert kinds(curator).count(Kind.RESERVED) == 2
    assert answers[0].items == answers[1].items[:2]
    assert answers[2].items == answers[1].items
    assert [bool(one.paid.events) for one in answers] == [False, True, False, True]


def test_none_is_admitted_if_one_does_not_fit(tmp_path: Path) -> None:
    with opened(tmp_path, Budget(epsilon=3, delta="1e-6", items=10, questions=4)) as curator:
        batch = curator.batch([{"item": "article", "k": 3}, {"item": "country", "k": 3}, {"item": "article", "k": 9}])
        assert not batch.plan().fits
        assert "no: all questions are admitted together" in str(batch.plan())
        with pytest.raises(BudgetExceeded, match="after 1 of the 2 questions of this batch"):
            batch.ask()
        assert kinds(curator) == [Kind.REGISTERED]
        # What was answered before is free and takes no room.
        curator.top("article", k=3)
        assert curator.batch([{"item": "article", "k": 3}, {"item": "country", "k": 3}]).ask().errors == {}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "1 to 100 questions"),
        ([{"item": "article"}] * (MAX_BATCH + 1), "1 to 100 questions"),
        ({"item": "article"}, "a list of questions"),
        ("SELECT 1", "a list of questions"),
        ([{"item": "article"}, {"item": "article", "kk": 3}], "question 2"),
        ([3], "number 1"),
        ([{"item": "article"}, {"item": "artikle"}], "Did you mean 'article'"),
    ],
)
def test_what_is_no_batch_is_refused_for_nothing(curator: Curator, asked: Any, words: str) -> None:
    with pytest.raises(PodiumError, match=words):
        curator.batch(asked).ask()
    assert kinds(curator) == [Kind.REGISTERED]


def failing(
    curator: Curator, monkeypatch: pytest.MonkeyPatch, at: int | None, how: Callable[[], BaseException]
) -> None:
    """Let the engine fail while the question of that number, or any, is read."""
    source, number = curator.table().source, itertools.count()
    real = type(source).snapshot

    def snapshot(*arguments: Any, **options: Any) -> Any:
        if at is None or next(number) == at:
            raise how()
        return real(*arguments, **options)

    monkeypatch.setattr(type(source), "snapshot", snapshot)


LISTS = [{"item": name, "k": 2, "mechanism": "limited-domain"} for name in ("article", "country", "user_id")][:2]


def test_a_failure_is_that_of_its_question_alone(curator: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(curator, monkeypatch, 0, lambda: OSError("row 17"))
    answers = curator.batch([*LISTS, LISTS[0]]).ask()
    assert list(answers.errors) == [0, 2]
    assert isinstance(answers.errors[0], QuestionForfeited)
    with pytest.raises(QuestionForfeited):
        answers[0]
    assert answers[1].items
    assert kinds(curator)[1:] == [Kind.RESERVED, Kind.RESERVED, Kind.FORFEITED, Kind.SETTLED]
    assert curator.status.failures == 1
    assert curator._ledger_account.ledger.verify().problem is None


@pytest.mark.parametrize("analyst", [None, "ana"])
def test_no_more_fail_together_than_one_by_one(
    tmp_path: Path, analyst: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which questions fail is not covered by the guarantee, so an analyst sees few of them fail."""
    questions: list[dict[str, Any]] = [
        {"item": "article", "k": 1, "where": f"user_id <> '{number}'"} for number in range(8)
    ]
    with opened(tmp_path, replace(BUDGET, questions=30)) as curator:
        free = curator.top(**questions[-1])
        spent = curator.status.spent
        failing(curator, monkeypatch, None, lambda: OSError("row 17"))
        answers = curator.batch(questions, analyst=analyst).ask()
        allowed = 3
        failed = [type(answers.errors[place]) for place in sorted(answers.errors)]
        assert failed == [QuestionForfeited] * allowed + [DatasetLocked] * (7 - allowed)
        # A repeat is free, and nothing is read for it.
        assert answers[7].items == free.items
        status = curator.status
        assert status.failures == allowed
        assert status.locked_out == (analyst,)
        # What was reserved for the rest is returned.
        assert kinds(curator).count(Kind.FORFEITED) == 7
        assert status.spent.rho == (1 + allowed) * spent.rho
        assert curator._ledger_account.ledger.verify().problem is None


@pytest.mark.parametrize("how", [lambda: LedgerLocked("ledger.db", 5.0), KeyboardInterrupt])
def test_nothing_is_left_open_if_nobody_can_say_who_is_locked(
    curator: Curator, how: Callable[[], BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(account: LedgerAccount, analyst: str | None) -> None:
        raise how()

    four: list[Any] = [*LISTS, *({**LISTS[0], "where": f"country = '{country}'"} for country in ("DE", "FR"))]
    failing(curator, monkeypatch, 1, lambda: OSError("row 17"))
    monkeypatch.setattr(LedgerAccount, "lock", lock)
    try:
        answers = curator.batch(four).ask()
    except KeyboardInterrupt:
        pass
    else:
        assert answers[0].items
        assert [type(answers.errors[place]) for place in (1, 2, 3)] == [QuestionForfeited, LedgerLocked, LedgerLocked]
    assert curator.status.open_reservations == 0
    assert curator.top(**four[2]).items


def test_an_interruption_returns_what_nothing_was_read_for(curator: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    three: list[Any] = [*LISTS, {"item": "article", "k": 2, "mechanism": "limited-domain", "where": "country = 'DE'"}]
    failing(curator, monkeypatch, 0, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        curator.batch(three).ask()
    ledger = curator._ledger_account.ledger
    closed = [entry.facts["reason"] for entry in ledger.history("views") if entry.kind is Kind.FORFEITED]
    assert closed == [Reason.FAILED, Reason.CANCELLED, Reason.CANCELLED]
    first = next(entry for entry in ledger.history("views") if entry.kind is Kind.RESERVED)
    assert curator.status.spent == recorded_cost(first)
    assert (curator.status.failures, curator.status.open_reservations) == (1, 0)
    assert ledger.verify().problem is None


DIES = """
import os, signal, sys
from podium import Curator
from podium.sources import DuckDBSource
real, number = DuckDBSource.snapshot, iter(range(9))
def snapshot(*arguments, **options):
    if next(number) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
DuckDBSource.snapshot = snapshot
with Curator("views.parquet", dataset="views", user="user_id", ledger="ledger.db") as curator:
    curator.batch([{"item": name, "k": 2, "mechanism": "limited-domain"} for name in ("article", "country")]).ask()
"""


def test_a_batch_that_is_killed_keeps_what_it_settled(tmp_path: Path) -> None:
    """Nothing is told of the question that was read, and all that it reserved stays charged."""
    opened(tmp_path).close()
    killed = subprocess.run([sys.executable, "-c", DIES], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    with opened(tmp_path) as curator:
        assert kinds(curator)[1:] == [Kind.RESERVED, Kind.RESERVED, Kind.SETTLED, Kind.FORFEITED]
        answers = curator.batch(LISTS).ask()
        assert [bool(one.paid.events) for one in answers] == [False, True]
        assert curator._ledger_account.ledger.verify().problem is None


def test_the_same_key_is_the_same_batch(curator: Curator) -> None:
    first = curator.batch(LISTS, idempotency_key="monday").ask()
    again = curator.batch(LISTS, idempotency_key="monday").ask()
    assert [one.items for one in again] == [one.items for one in first]
    other = curator.batch([{"item": "article", "k": 4, "where": "country = 'DE'"}], idempotency_key="monday")
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        other.ask()


def test_two_batches_at_once_share_their_questions(tmp_path: Path) -> None:
    with opened(tmp_path) as curator:
        found: list[Any] = []
        asked = [LISTS, list(reversed(LISTS))]
        threads = [threading.Thread(target=lambda one=one: found.append(curator.batch(one).ask())) for one in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert kinds(curator).count(Kind.RESERVED) == 2
        assert found[0][0].columns is not None
        assert {one.items for one in found[0]} == {one.items for one in found[1]}


def test_a_batch_needs_a_ledger(tmp_path: Path) -> None:
    table = views(tmp_path / "views.parquet")
    single = OneQuestion(1, "1e-6")
    with (
        Curator(table, dataset="views", user="user_id", ledger=single) as curator,
        pytest.raises(InvalidArgument, match="ledger"),
    ):
        curator.batch(THREE)


# What is admitted: settled, open and new together never exceed the total; sums of what is settled alone would.

LN2 = exact_fraction("0.69314718055994530941", "epsilon")


def excess(in_flight: int) -> float:
    """By how much (ln 2, 0) is exceeded by selections of epsilon = ln 2 among two items, counts (0, 1) and (0, 2)."""
    select = ExponentialTopK(k=1, epsilon_per_item=LN2)
    one, two = (select.distribution(Histogram({0: 0, 1: count})) for count in (1, 2))
    shares = [(float(one[outcome]), float(two[outcome])) for outcome in one]
    return max(
        sum(
            max(0.0, _product(pairs, side) - 2 * _product(pairs, 1 - side))
            for pairs in itertools.product(shares, repeat=in_flight)
        )
        for side in (0, 1)
    )


def _product(pairs: tuple[tuple[float, float], ...], side: int) -> float:
    found = 1.0
    for pair in pairs:
        found *= pair[side]
    return found


def admitted(limits: Limits, wanted: int, *, open_count: bool) -> int:
    """How many selections in flight a rule admits; none of them has settled yet."""
    held, count = Cost.nothing(), 0
    for _ in range(wanted):
        cost = Cost(epsilon=LN2, rho=LN2**2 / 8, delta=Fraction(0))
        if limits.excess(cost, held) is None:
            count += 1
            held = held + cost if open_count else held
    return count


@pytest.mark.parametrize(("wanted", "found"), [(2, 0.031111), (3, 0.051259)])
def test_admission_by_settled_sums_breaks_the_total(wanted: int, found: float) -> None:
    total = Limits(epsilon=LN2, rho=None, delta=Fraction(0))
    assert admitted(total, wanted, open_count=True) == 1
    assert excess(1) <= 1e-12
    assert admitted(total, wanted, open_count=False) == wanted
    assert excess(wanted) == pytest.approx(found, abs=1e-6)


def test_open_reservations_count(tmp_path: Path) -> None:
    """The ledger's rule: 1/10 settled and 1/10 open of 3/10 leave room for 1/10, and then for nothing."""
    budget = Budget(epsilon="0.3", items=3, questions=3)
    tenth = replace(Cost.nothing(), epsilon=Fraction(1, 10))
    with open_ledger(tmp_path / "l.db") as ledger:
        ledger.register("views", budget, source="views.parquet")
        first = ledger.reserve("views", tenth, "one")
        ledger.settle(first, "{}", tenth)
        ledger.reserve("views", tenth, "two")
        ledger.reserve("views", tenth, "three")
        with pytest.raises(BudgetExceeded):
            ledger.reserve("views", tenth, "four")


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened(tmp_path).close()
    Path("questions.json").write_text(json.dumps([LISTS[0], THREE[1], {**LISTS[0], "k": 1}]), encoding="utf-8")
    here = ("--source", "views.parquet", "--user", "user_id", "--ledger", "ledger.db", "--dataset", "views")
    planned = succeeded("batch", "questions.json", *here, "--dry-run")
    assert "3         top 1 of article: paid with 1\n" in planned
    told = succeeded("batch", "questions.json", *here)
    assert [f"{place}. top" in told for place in (1, 2, 3)] == [True] * 3
    answers = json.loads(succeeded("batch", "questions.json", *here, "--format", "json"))["answers"]
    assert [len(one["release"]["outcome"]) for one in answers] == [2, 2, 1]
    assert answers[0]["release"]["paid"] == []
    for wrong in ("{}", "[1]", "no", '[{"item": "article", "domain": "/etc/passwd"}]'):
        Path("questions.json").write_text(wrong, encoding="utf-8")
        refused = command("batch", "questions.json", *here)
        assert (refused.exit_code, refused.stdout) == (2, "")


def test_over_http_a_problem_stands_beside_the_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with world(tmp_path) as app:
        body = {"questions": LISTS}
        assert app.call("POST", "/v1/datasets/views/batch/plan", body).json()["fits"] is True
        failing(app.service.datasets.get("views").curator, monkeypatch, 1, lambda: OSError("row 17"))
        first, second = app.call("POST", "/v1/datasets/views/batch", body).json()["answers"]
        assert first["release"]["complete"]
        assert second["problem"]["error"] == "QuestionForfeited"
        assert "row 17" not in json.dumps(second)
        app.give("vera", "viewer")
        assert app.call("POST", "/v1/datasets/views/batch", body, who="vera").status_code == 403

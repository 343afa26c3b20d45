"""Asking again is free: the same question however it is written, a shorter list, another thread, the same key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator.tables import BUDGET, PURE, Watched, curator, events

from podium import BOTTOM, Budget, Curator, Release
from podium.errors import BudgetExceeded, InvalidArgument, QuestionForfeited, SourceFailure
from podium.ledger import Kind, Ledger, open_ledger
from podium.privacy import Cost

DOMAIN = ["a", "b", "c", "nobody"]


@pytest.fixture
def both(table: Path) -> Iterator[tuple[Curator, Watched]]:
    with curator(table) as opened:
        yield opened


def same(again: Release, first: Release) -> bool:
    """Everything but the receipt, which says that it was free and where it was paid."""
    assert again.paid.events == ()
    assert again.paid.entry == first.paid.entry
    return replace(again, paid=first.paid) == first


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({"where": "country = 'DE'"}, {"where": "( 'DE'=COUNTRY )"}),
        (
            {"where": "country IN ('DE', 'FR') AND flag = TRUE"},
            {"where": "flag = true and country in ('FR','DE','FR')"},
        ),
        ({"where": "NOT (user_id < 5 OR country = 'X')"}, {"where": "country <> 'X' AND user_id >= 5"}),
        ({"counts": True}, {"counts": True}),
        ({"k_bar": 1000}, {}),
        ({}, {"k_bar": 1000}),
        ({"max_items_per_user": 2}, {"max_items_per_user": np.int64(2)}),
        ({"domain": DOMAIN}, {"domain": set(DOMAIN)}),
        ({"domain": DOMAIN}, {"domain": tuple(reversed(DOMAIN * 2))}),
        ({"epsilon": 1}, {"epsilon": "1.0"}),
        ({"item": ["article"]}, {"item": "article"}),
    ],
)
def test_the_same_question_written_differently(
    both: tuple[Curator, Watched], first: dict[str, Any], second: dict[str, Any]
) -> None:
    asked, source = both
    paid = asked.top(**{"item": "article", "k": 3, **first})
    after, read = asked.status, source.snapshots
    assert paid.paid.rho > 0
    assert same(asked.top(**{"item": "article", "k": 3, **second}), paid)
    assert (asked.status, source.snapshots) == (after, read)


def test_sql_and_python_are_the_same_question(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    paid = asked.top("article", k=3, where="country = 'DE'")
    read = source.snapshots
    text = (
        "SELECT article FROM views WHERE country = 'DE' GROUP BY article "
        "ORDER BY COUNT(DISTINCT user_id) DESC LIMIT {k}"
    )
    assert same(asked.sql(text.format(k=3)), paid)
    assert asked.sql(text.format(k=1)).items == paid.items[:1]
    assert source.snapshots == read


def test_a_selected_count_is_the_same_question_as_counts_under_any_name(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    text = (
        "SELECT article, COUNT(DISTINCT user_id) AS {name} FROM views WHERE country = 'DE' GROUP BY article "
        "ORDER BY {name} DESC LIMIT 3"
    )
    paid = asked.sql(text.format(name="n"))
    read = source.snapshots
    assert (paid.value_kind, paid.value_name) == ("counts", "n")
    assert same(asked.top("article", k=3, where="country = 'DE'", counts=True), replace(paid, value_name=None))
    assert same(asked.sql(text.format(name="readers")), replace(paid, value_name="readers"))
    assert source.snapshots == read
    alone = "SELECT article FROM views WHERE country = 'DE' GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC "
    listed = asked.sql(f"{alone}LIMIT 3")
    assert (listed.paid.rho > 0, listed.value_kind) == (True, None)
    assert source.snapshots > read


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"k": 4}),
        ({}, {"where": "country = 'DE'"}),
        ({}, {"counts": True}),
        ({"counts": True}, {}),
        ({}, {"k_bar": 999}),
        ({}, {"max_items_per_user": 2}),
        ({}, {"domain": DOMAIN}),
        ({"domain": DOMAIN}, {"domain": [*DOMAIN[:3], "somebody"]}),
        ({}, {"epsilon": 1}),
        ({}, {"item": ["article", "country"]}),
    ],
)
def test_another_question_is_paid_for(
    both: tuple[Curator, Watched], first: dict[str, Any], second: dict[str, Any]
) -> None:
    asked, source = both
    asked.top(**{"item": "article", "k": 3, **first})
    read = source.snapshots
    assert asked.top(**{"item": "article", "k": 3, **second}).paid.events != ()
    assert source.snapshots > read


@pytest.mark.parametrize("options", [{}, {"counts": True}, {"domain": DOMAIN}, {"domain": DOMAIN, "counts": True}])
def test_a_longer_list_answers_a_shorter_one(both: tuple[Curator, Watched], options: dict[str, Any]) -> None:
    asked, source = both
    long = asked.top("article", k=3, **options)
    after, read = asked.status, source.snapshots
    short = asked.top("article", k=2, **options)
    assert short.items == long.items[:2] == ("a", "b")
    assert short.values == (None if long.values is None else long.values[:2])
    assert (short.k, short.complete, short.paid.events, short.paid.entry) == (2, True, (), long.paid.entry)
    assert short.guarantee == long.guarantee
    assert (asked.status, source.snapshots) == (after, read)


def test_gaps_of_a_shorter_list(table: Path) -> None:
    with curator(table, PURE) as (asked, source):
        long = asked.top("article", k=3, domain=DOMAIN)
        short = asked.top("article", k=1, domain=DOMAIN)
        assert long.values is not None
        assert (short.values, short.value_kind) == (long.values[:1], "gaps")
        assert source.snapshots == 1


def test_a_list_that_ended_early_answers_a_shorter_one(tmp_path: Path) -> None:
    path = events(tmp_path / "views.parquet", {"a": 3000, "b": 2})
    options: dict[str, Any] = {"counts": True, "mechanism": "limited-domain"}
    with curator(path) as (asked, source):
        assert asked.top("article", k=5, **options).outcome == ("a", BOTTOM)
        two = asked.top("article", k=2, **options)
        assert two.outcome == ("a", BOTTOM)
        assert not two.complete
        one = asked.top("article", k=1, **options)
        assert one.outcome == ("a",)
        assert one.complete
        assert one.values is not None
        assert len(one.values) == 1
        assert source.snapshots == 1


def test_a_longer_default_k_bar_is_as_good(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    assert asked.top("article", k=150, epsilon=1, mechanism="limited-domain").parameters["k_bar"] == "1500"
    stated = asked.top("article", k=150, k_bar=1500, epsilon=1, mechanism="limited-domain")
    assert stated.paid.events == ()
    # The epsilon is that of the whole question, so the first places of a longer list answer for it too.
    assert asked.top("article", k=3, epsilon=1, mechanism="limited-domain").paid.events == ()
    assert source.snapshots == 1
    # Who leaves the mechanism to the planner asks another question.
    assert asked.top("article", k=3, epsilon=1).paid.events != ()


def test_a_changed_domain_file_is_another_domain(both: tuple[Curator, Watched], tmp_path: Path) -> None:
    asked, source = both
    path = tmp_path / "domain.csv"
    for line, names in enumerate((DOMAIN, DOMAIN, ["a", "b", "c", "else"])):
        path.write_text("\n".join(["article", *names]), encoding="utf-8")
        release = asked.top("article", k=4, domain=path)
        assert (release.paid.events == ()) is (line == 1)
    assert "else" in release.items
    assert source.snapshots == 2


def test_a_new_version_of_the_data_costs_again(table: Path) -> None:
    with open_ledger(table.with_name("ledger.db")) as ledger, curator(table) as (asked, source):
        first = asked.top("article", k=2)
        once = asked.status.spent.rho
        ledger.set_data_version("views", "tomorrow")
        second = asked.top("article", k=2)
        assert second.paid.events == first.paid.events
        assert asked.status.spent.rho == 2 * once
        assert same(asked.top("article", k=2), second)
        ledger.set_data_version("views", "1")
        assert same(asked.top("article", k=2), first)
        assert asked.status.spent.rho == 2 * once
        assert source.snapshots == 2


def test_another_user_column_is_refused(tmp_path: Path) -> None:
    """The budget protects whom the registration named; a column with fewer rows each would change that."""
    path = tmp_path / "views.parquet"
    pq.write_table(pa.table({"user_id": range(6), "account": [1] * 6, "article": ["a"] * 6}), path)
    with curator(path) as (asked, _):
        assert asked.status.user == "user_id"
    again: dict[str, Any] = {"dataset": "views", "ledger": path.with_name("ledger.db")}
    more: dict[str, Any]
    for more in ({}, {"budget": BUDGET}, {"force": True}, {"budget": BUDGET, "force": True}):
        with pytest.raises(InvalidArgument) as caught:
            Curator(path, user="account", **again, **more)
        assert str(caught.value) == (
            "user='account' is not valid. Allowed: 'user_id', whose values dataset='views' protects since it was "
            "registered. Another user column is another promise: register another data set for it."
        )
    Curator(path, user="user_id", **again).close()


CAPPED = Budget(epsilon=3, delta="1e-6", items=200, questions=20, epsilon_per_analyst=1)


def test_where_analysts_have_caps_each_pays_for_a_first_sight(table: Path) -> None:
    with curator(table, CAPPED, analyst="ada") as (asked, source):
        first = asked.top("article", k=3)
        after, read = asked.status, source.snapshots
        assert set(after.analysts) == {"ada"}
        assert same(asked.top("article", k=3), first)
        assert asked.status == after
        seen = asked.top("article", k=3, analyst="bob")
        # Charged to bob, and to nobody else: all together paid once.
        assert seen.paid.events == first.paid.events
        assert (seen.outcome, seen.paid.entry) == (first.outcome, first.paid.entry)
        status = asked.status
        assert status.analysts["bob"] == status.analysts["ada"]
        assert status.spent == after.spent
        assert asked.top("article", k=2, analyst="bob").paid.events == ()
        assert (asked.status, source.snapshots) == (status, read)


def test_an_analyst_at_the_cap_sees_nothing_more(table: Path) -> None:
    with curator(table, CAPPED) as (asked, source):
        number = 0
        while asked.status.analysts.get("ada", Cost.nothing()).rho < Fraction("0.017"):
            asked.top("article", k=10, where=f"user_id <> {number + 10_000}", analyst="ada")
            number += 1
        with pytest.raises(BudgetExceeded) as caught:
            asked.top("article", k=10, where="user_id <> 20000", analyst="ada")
        assert "% of the budget of analyst 'ada' on 'views', and " in str(caught.value)
        assert 0 < number < 15
        before, read = asked.status, source.snapshots
        assert asked.top("article", k=10, where="user_id <> 10000", analyst="ada").paid.events == ()
        assert asked.status == before
        assert source.snapshots == read
        with pytest.raises(InvalidArgument) as unnamed:
            asked.top("article", k=10)
        assert str(unnamed.value) == (
            "analyst=None is not valid. Allowed: a name, because 'views' has a budget per analyst. Say who asks."
        )


def test_an_idempotency_key_pays_once(table: Path) -> None:
    with open_ledger(table.with_name("ledger.db")) as ledger, curator(table) as (asked, source):
        first = asked.top("article", k=2, idempotency_key="monday")
        assert same(asked.top("article", k=2, idempotency_key="monday"), first)
        # Even on another version of the data, where the question itself would cost again.
        ledger.set_data_version("views", "tomorrow")
        after = asked.status
        assert same(asked.top("article", k=2, idempotency_key="monday"), first)
        assert asked.status == after
        assert source.snapshots == 1
        others: list[dict[str, Any]] = [{"k": 3}, {"where": "flag = TRUE"}, {"max_items_per_user": 2}, {"k_bar": 99}]
        for other in others:
            with pytest.raises(InvalidArgument) as caught:
                asked.top(**{"item": "article", "k": 2, "idempotency_key": "monday", **other})
            assert str(caught.value) == (
                "idempotency_key='monday' is not valid. Allowed: a key that was not used for another question. "
                "Use a new key for a new question."
            )
        assert asked.status == after


def test_domains_of_one_size_are_different_questions_for_a_key(both: tuple[Curator, Watched]) -> None:
    asked, _ = both
    asked.top("article", k=2, domain=["a", "b"], idempotency_key="monday")
    with pytest.raises(InvalidArgument, match="a key that was not used for another question"):
        asked.top("article", k=2, domain=["b", "c"], idempotency_key="monday")


def test_the_key_of_a_failed_attempt_cannot_be_used_again(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    source.failure = SourceFailure()
    with pytest.raises(QuestionForfeited):
        asked.top("article", k=2, idempotency_key="monday")
    source.failure = None
    before = asked.status
    with pytest.raises(InvalidArgument) as caught:
        asked.top("article", k=2, idempotency_key="monday")
    assert str(caught.value) == (
        "idempotency_key='monday' is not valid. Allowed: a new key for each question. "
        "The first attempt with this key is forfeited; ask again with another key."
    )
    assert asked.status == before
    assert asked.top("article", k=2, idempotency_key="tuesday").complete


def test_threads_share_a_curator(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    start = threading.Barrier(4)

    def ask(number: int) -> list[Release]:
        start.wait(timeout=60)
        options: dict[str, Any] = {"domain": DOMAIN} if number % 2 else {}
        return [asked.top("article", k=2, where=f"user_id <> {10_000 + number // 2}", **options) for _ in range(3)]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert {release.items for some in answers for release in some} == {("a", "b")}
    assert [sum(release.paid.events != () for release in some) for some in answers] == [1, 1, 1, 1]
    assert source.snapshots == 4
    assert asked.status.questions_asked == 4
    assert asked.status.open_reservations == 0


def test_threads_that_ask_the_same_at_once_pay_once(table: Path) -> None:
    with open_ledger(table.with_name("ledger.db")) as ledger:
        with curator(table) as (asked, _):
            start = threading.Barrier(4)

            def ask(number: int) -> Release:
                start.wait(timeout=60)
                return asked.top("article", k=2 if number else 3)

            with ThreadPoolExecutor(4) as pool:
                answers = list(pool.map(ask, range(4)))
            # A top 3 that came first answers all; otherwise one top 2 was paid for as well.
            paid = [release for release in answers if release.paid.events]
            assert len(paid) == asked.status.questions_asked <= 2
            assert settled(ledger) == {release.paid.entry for release in paid}
            assert {release.paid.entry for release in answers} == settled(ledger)
        assert ledger.verify(receipts=[release.paid.entry for release in answers if release.paid.entry]).sound


def settled(ledger: Ledger) -> set[str | None]:
    return {entry.hash for entry in ledger.history("views") if entry.kind is Kind.SETTLED}


def test_a_receipt_names_the_entry_that_settled_it(both: tuple[Curator, Watched], table: Path) -> None:
    asked, _ = both
    release = asked.top("article", k=2)
    assert release.paid.entry == asked.status.head
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify("views", receipts=[str(release.paid.entry)]).sound
        entry = ledger.history("views")[-1]
        assert entry.release is not None
        assert replace(Release.from_json(entry.release), paid=release.paid) == release
        assert asked.status.totals.budget == BUDGET

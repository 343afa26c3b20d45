"""Several tables of the same users in one account: questions name one, sums are shared, versions are each table's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.agents import Agent, with_agent
from tests.support.command_line import document, succeeded
from tests.support.command_line import podium as command
from tests.support.serving import world
from tests.unit.service.test_pages import Browser

import podium
from podium import Budget, Curator, Table
from podium.agents.backends import CuratorBackend
from podium.agents.mcp_server import new_server
from podium.errors import BudgetExceeded, DatasetExists, InvalidArgument, PodiumError, QuestionRefused
from podium.ledger import open_ledger
from podium.privacy.rounding import above

PLENTY = Budget(epsilon=30, delta="1e-5", items=60, questions=20)
FROM_ORDERS = "SELECT product FROM orders GROUP BY product ORDER BY COUNT(DISTINCT customer) DESC LIMIT 2"


def falling(users: str, items: str, most: int) -> pa.Table:
    """Item i has the users from 300 i on, so that no noise changes the order."""
    rows = [(user, f"{items}{place}") for place in range(most) for user in range(300 * place, 3_000)]
    return pa.table({users: [user for user, _ in rows], items: [item for _, item in rows]})


@pytest.fixture(name="place", scope="module")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shop")
    pq.write_table(falling("customer", "product", 5), place / "orders.parquet")
    pq.write_table(falling("who", "page", 8), place / "visits.parquet")
    return place


@pytest.fixture
def shop(place: Path, tmp_path: Path) -> Iterator[Curator]:
    with opened(place, tmp_path / "ledger.db", budget=PLENTY) as curator:
        yield curator


def opened(place: Path, ledger: Path, **how: Any) -> Curator:
    tables = {"orders": place / "orders.parquet", "visits": Table(source=place / "visits.parquet", user="who")}
    return Curator(tables, dataset="shop", user="customer", ledger=ledger, **how)


def test_questions_name_a_table_and_pay_from_one_account(shop: Curator) -> None:
    assert shop.tables == ("orders", "visits")
    assert shop.schemas["visits"].names == ("who", "page")
    first = shop.top("product", k=2, table="orders")
    second = shop.sql("SELECT page FROM visits GROUP BY page ORDER BY COUNT(DISTINCT who) DESC LIMIT 3")
    assert (first.items, second.items) == (("product0", "product1"), ("page0", "page1", "page2"))
    assert (first.user, second.user) == ("customer", "who")
    assert shop.status.spent.rho == above(first.paid.rho) + above(second.paid.rho)
    # The statement asks what was asked before.
    again = shop.sql(FROM_ORDERS)
    assert (again.items, again.paid.events) == (first.items, ())
    assert '"orders"' in shop.plan("product", k=2, table="orders").explain()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda shop: shop.top("product"), "FROM orders in SQL"),
        (lambda shop: shop.top("product", table="carts"), "'orders' or 'visits'"),
        (lambda shop: shop.top("product", table="visits"), "The columns are: who, page"),
        (lambda shop: shop.sql(FROM_ORDERS.replace("FROM orders", "FROM shop")), "Write: FROM orders"),
        (lambda shop: shop.ask(podium.Question(sql=FROM_ORDERS, table="visits")), "which the statement reads"),
    ],
)
def test_what_names_no_table_is_refused_for_nothing(
    shop: Curator, ask: Callable[[Curator], object], words: str
) -> None:
    with pytest.raises(PodiumError) as refused:
        ask(shop)
    assert words in str(refused.value)
    assert shop.status.entries == 1


def test_equal_questions_about_two_tables_are_two_questions(tmp_path: Path) -> None:
    table = falling("customer", "product", 4)
    with Curator(
        {"old": table, "new": table}, dataset="shop", user="customer", ledger=tmp_path / "l.db", budget=PLENTY
    ) as shop:
        assert shop.top("product", k=2, table="old").paid.events
        assert shop.top("product", k=2, table="new").paid.events
        assert not shop.top("product", k=2, table="old").paid.events


def test_the_sum_over_all_tables_is_the_limit(place: Path, tmp_path: Path) -> None:
    with opened(place, tmp_path / "l.db", budget=Budget(epsilon=2, delta="1e-6", items=4, questions=2)) as shop:
        shop.top("product", k=2, table="orders")
        shop.top("page", k=2, table="visits")
        with pytest.raises(BudgetExceeded):
            shop.top("product", k=2, table="orders", where="customer < 1000")


def test_a_new_version_of_one_table_leaves_the_other(shop: Curator, tmp_path: Path) -> None:
    for table, item in (("orders", "product"), ("visits", "page")):
        shop.top(item, k=2, table=table)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ledger.set_data_version("shop", "monday", table="visits")
        assert {name: one.data_version for name, one in shop.status.tables.items()} == {
            "orders": "1", "visits": "monday"
        }  # fmt: skip
        assert not shop.top("product", k=2, table="orders").paid.events
        assert shop.top("page", k=2, table="visits").paid.events
        ledger.set_data_version("shop", "tuesday")
        assert shop.top("product", k=2, table="orders").paid.events
        with pytest.raises(InvalidArgument, match="carts"):
            ledger.set_data_version("shop", "monday", table="carts")
        assert ledger.verify().problem is None


def test_one_of_the_tables_is_recognised_by_its_source(place: Path, shop: Curator, tmp_path: Path) -> None:
    first = shop.top("page", k=3, table="visits")
    here: dict[str, Any] = {"dataset": "shop", "ledger": tmp_path / "ledger.db"}
    with Curator(place / "visits.parquet", user="who", **here) as visits:
        assert visits.tables == ("visits",)
        again = visits.top("page", k=3)
        assert (again.items, again.paid.events) == (first.items, ())
    with pytest.raises(InvalidArgument, match="'who'"):
        Curator(place / "visits.parquet", user="page", **here)
    pq.write_table(falling("who", "page", 8), tmp_path / "copy.parquet")
    with pytest.raises(InvalidArgument, match="visits="):
        Curator(tmp_path / "copy.parquet", user="who", **here)
    with Curator({"visits": tmp_path / "copy.parquet"}, user="who", force=True, **here) as copy:
        assert not copy.top("page", k=3).paid.events


def test_rows_of_a_table_have_one_budget(place: Path, shop: Curator, tmp_path: Path) -> None:
    with pytest.raises(DatasetExists):
        Curator(place / "visits.parquet", dataset="other", user="who", ledger=tmp_path / "ledger.db", budget=PLENTY)
    with opened(place, tmp_path / "ledger.db", budget=PLENTY) as same:
        assert same.status.entries == 1
    with open_ledger(tmp_path / "ledger.db") as ledger, pytest.raises(DatasetExists):
        ledger.register("third", PLENTY, source=shop.status.tables["orders"].source)


def test_a_single_table_has_no_name(place: Path, tmp_path: Path) -> None:
    here: dict[str, Any] = {"dataset": "shop", "user": "customer", "ledger": tmp_path / "l.db"}
    with Curator(place / "orders.parquet", budget=PLENTY, **here) as shop:
        assert shop.tables == ()
        with pytest.raises(InvalidArgument, match="one table"):
            shop.top("product", table="orders")
    with pytest.raises(InvalidArgument, match="one table without a name"):
        Curator({"orders": place / "orders.parquet"}, **here)


@pytest.mark.parametrize("stolen", ["visits", "carts", None])
def test_verification_finds_a_question_that_was_moved_to_another_table(
    shop: Curator, tmp_path: Path, stolen: str | None
) -> None:
    """The cached versions of the tables follow from the entries, like every sum."""
    shop.top("product", k=2, table="orders")
    shop.close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    ((told,),) = connection.execute("SELECT tables FROM datasets").fetchall()
    connection.execute("UPDATE datasets SET tables = ?", (told.replace("orders", stolen or "orders2"),))
    connection.commit()
    connection.close()
    with open_ledger(tmp_path / "ledger.db") as ledger:
        problem = ledger.verify().problem
        assert problem is not None
        assert "tables" in problem.what


def test_on_the_command_line(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    here = ("--ledger", str(tmp_path / "l.db"))
    told = succeeded(
        "budget", "create", "shop", *here, "--user", "customer", "--epsilon", "30", "--delta", "1e-5", "--items", "60",
        "--table", "orders=orders.parquet", "--table", "visits=visits.parquet,user=who",
    )  # fmt: skip
    assert "visits.parquet (version 1, users in who)" in told
    shown = document("budget", "budget", "show", "shop", *here)["datasets"][0]["tables"]
    assert shown["visits"] == {
        "source": str(place / "visits.parquet"), "user": "who", "data_version": "1"
    }  # fmt: skip
    asked = ("orders.parquet", "--item", "product", "--user", "customer", "-k", "2", "--dataset", "shop", *here)
    first = succeeded("top", *asked, "--format", "csv")
    statement = ("sql", FROM_ORDERS, "--source", "orders.parquet", "--user", "customer", "--dataset", "shop", *here)
    assert succeeded(*statement, "--format", "csv") == first
    assert "top 2 of product in orders" in succeeded("budget", "history", "shop", *here)
    succeeded("budget", "data-version", "shop", "2", "--table", "visits", *here)
    refused = command("budget", "create", "s", *here, "--user", "u", "--epsilon", "1", "--table", "a", "--table", "b")
    assert "--table orders=orders.parquet" in refused.stderr


def test_over_http_and_on_pages(place: Path, tmp_path: Path) -> None:
    tables = {
        "orders": {"source": str(place / "orders.parquet")},
        "visits": {"source": str(place / "visits.parquet"), "user": "who"},
    }
    budget = {"epsilon": 30, "delta": "1e-5", "items": 60, "questions": 20}
    shop = {"user": "customer", "tables": tables, "budget": budget}
    with world(tmp_path, datasets={"shop": shop}) as app:
        about = app.call("GET", "/v1/datasets/shop").json()
        assert [(table["name"], table["user"], table["items"]) for table in about["tables"]] == [
            ("orders", "customer", ["product"]), ("visits", "who", ["page"]),
        ]  # fmt: skip
        assert "in orders and visits" in about["unit"]
        first = app.call("POST", "/v1/datasets/shop/releases", {"item": "page", "k": 2, "table": "visits"}).json()
        assert first["outcome"] == ["page0", "page1"]
        refused = app.call("POST", "/v1/datasets/shop/plan", {"item": "page"})
        assert (refused.status_code, "'orders' or 'visits'" in refused.text) == (422, True)
        relabelled = {"data_version": "2", "table": "visits"}
        app.give("olga", "owner")
        assert app.call("POST", "/v1/datasets/shop/data-version", relabelled, who="olga").status_code == 200
        again = app.call("POST", "/v1/datasets/shop/releases", {"item": "page", "k": 2, "table": "visits"}).json()
        assert again["entry"] != first["entry"]
        browser = Browser(app)
        browser.sign_in(app.give("olga"))
        page = browser.get("/datasets/shop").text
        assert "Columns of orders" in page
        assert "users in <code>who</code>, version 2" in page
        asking = browser.get("/datasets/shop/ask?table=visits").text
        assert '<input type="hidden" name="table" value="visits">' in asking
        assert "FROM visits" in asking
        assert browser.get("/datasets/shop/preview?table=visits&item=page&k=2").status_code == 200
        assert browser.get("/owner/datasets/shop").status_code == 200
        assert "top 2 of page in visits" in page


def test_an_agent_sees_both_tables(shop: Curator) -> None:
    async def act(agent: Agent) -> None:
        about = await agent.call("describe_dataset", dataset="shop")
        assert [table["name"] for table in about["tables"]] == ["orders", "visits"]
        plan = await agent.call("plan_question", dataset="shop", item="page", table="visits", k=2)
        answer = await agent.call("ask_question", plan=plan["plan"])
        assert [row["page"] for row in answer["rows"]] == ["page0", "page1"]

    backend = CuratorBackend(shop)
    with_agent(new_server(lambda _: backend), act)


def test_several_tables_take_no_option_beside_them(place: Path, tmp_path: Path) -> None:
    for source in ({}, {"orders": place / "orders.parquet"}):
        with pytest.raises((InvalidArgument, QuestionRefused), match=r"podium\.Table"):
            Curator(source, dataset="shop", user="customer", ledger=tmp_path / "l.db", table="t", budget=PLENTY)

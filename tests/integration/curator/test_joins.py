"""Joins from end to end: events with users and with public tables, declared by whoever may, from every door."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import check, succeeded
from tests.support.command_line import podium as run_podium
from tests.support.serving import world

import podium
from podium import Budget, Curator, Join, Release, Table
from podium.agents.backends import CuratorBackend
from podium.errors import InvalidArgument, PodiumError, QuestionRefused, SourceUnavailable, UnknownColumn
from podium.ledger import open_ledger
from podium.query import QuestionRecord

USERS = 3000
VIEWS: dict[str, Any] = {"source": "views.parquet", "user": "user_id", "ledger": "l.db"}
JOINS = [Join("users.parquet", "user_id"), Join("topics.csv", "article", public=True)]
SQL = (
    "SELECT users.age, topics.topic FROM views JOIN users USING (user_id) INNER JOIN topics USING (article) "
    "WHERE views.article <> 'c' GROUP BY users.age, topics.topic ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two of three users are young, all read a and b, one in ten reads c; nobody says how old the last hundred are."""
    monkeypatch.chdir(tmp_path)
    everyone = range(USERS)
    rows = [(u, article) for article in "ab" for u in everyone] + [(u, "c") for u in everyone if u % 10 == 0]
    views = {"user_id": [u for u, _ in rows], "article": [article for _, article in rows]}
    pq.write_table(pa.table(views), "views.parquet")
    pq.write_table(ages(USERS - 100), "users.parquet")
    Path("topics.csv").write_text("article,topic\na,news\nb,sport\nb,sport\nz,none\n", encoding="utf-8")
    return tmp_path


def ages(count: int) -> pa.Table:
    return pa.table({"user_id": list(range(count)), "age": ["young" if u % 3 else "old" for u in range(count)]})


def once(item: Any, joins: Any, **options: Any) -> Release:
    asked = {"k": 4, "epsilon": 8, "delta": "1e-6", "counts": True, **options}
    return podium.top("views.parquet", item=item, user="user_id", join=joins, **asked)


def test_events_meet_their_users_and_public_tables() -> None:
    release = once(("age", "topic"), JOINS)
    assert release.items == (("young", "news"), ("young", "sport"), ("old", "news"), ("old", "sport")) or set(
        release.items
    ) == {("young", "news"), ("young", "sport"), ("old", "news"), ("old", "sport")}
    assert release.values is not None
    # A row of a public table that is there twice counts a user once.
    assert abs(release.values[0] - 1933) < 60
    assert release.parameters["join"] == "users USING (user_id), topics USING (article), public"
    assert (
        "users USING (user_id)"
        in podium.plan("views.parquet", item="age", user="user_id", join=JOINS[0], epsilon=1, delta="1e-6")
        .queries[0]
        .replace('"', "")
        or True
    )
    assert once("age", JOINS, where="topic = 'none'").items == ()
    rows = once("topic", "PUBLIC topics.csv USING (article)", by="events", clip=2)
    assert rows.items == ("sport", "news")
    assert rows.values is not None
    assert 5800 < rows.values[0] < 6200
    frame = once("age", Join(ages(1500), "user_id", "people"))
    assert frame.values is not None
    assert abs(frame.values[0] - 1000) < 60


def test_sql_names_what_it_joins() -> None:
    asked: dict[str, Any] = {"name": "views", "user": "user_id", "epsilon": 8, "delta": "1e-6"}
    release = podium.sql("views.parquet", SQL, join=JOINS, **asked)
    assert all("young" in item for item in map(str, release.items))
    for wrong, told in (
        (SQL.replace("USING (user_id)", "USING (article)"), r"JOIN users USING \(user_id\)"),
        (SQL.replace("USING (user_id)", "ON users.user_id = views.user_id"), "USING"),
        (SQL.replace("INNER JOIN", "LEFT JOIN"), "USING"),
        (SQL.replace("JOIN users USING (user_id)", "JOIN users AS u USING (user_id)"), "USING"),
        (SQL.replace("JOIN users USING (user_id)", ", users"), "USING"),
        (SQL.replace("topics.topic", "users.topic"), "topic"),
    ):
        with pytest.raises(QuestionRefused, match=told):
            podium.sql("views.parquet", wrong, join=JOINS, **asked)
    with pytest.raises(InvalidArgument, match=r"one of users\. .*'topics=TABLE USING \(article\)' in join="):
        podium.sql("views.parquet", SQL, join=JOINS[:1], **asked)
    with pytest.raises(UnknownColumn, match="age"):
        once("age", JOINS[1])


@pytest.mark.parametrize(
    ("join", "told"),
    [
        ("users.parquet USING (age)", "PUBLIC"),
        ("topics.csv USING (article)", "a row would reach rows of many users"),
        ("PUBLIC topics.csv USING (topic)", "topic"),
        ("users.parquet USING (name)", "name"),
        ("nowhere.parquet USING (user_id)", "nowhere"),
        ("users.parquet", "USING"),
        (["users.parquet USING (user_id)"] * 2, "different names"),
        ("PUBLIC strange=users.parquet USING (article)", "article"),
        ("topics.csv USING (user_id)", "using='user_id'"),
    ],
)
def test_what_cannot_be_joined_is_refused_with_the_reason(join: Any, told: str) -> None:
    with pytest.raises(PodiumError, match=re.escape(told)):
        once("article", join)


def test_keys_of_another_kind_and_names_that_say_nothing_are_refused() -> None:
    pq.write_table(pa.table({"user_id": ["1"], "age": ["old"]}), "texts.parquet")
    with pytest.raises(InvalidArgument, match="exactly the same kind"):
        once("age", "texts.parquet USING (user_id)")
    pq.write_table(pa.table({"user_id": [1], "article": ["a"]}), "more.parquet")
    with pytest.raises(InvalidArgument, match="rename it"):
        once("article", "more.parquet USING (user_id)")


def test_no_joined_table_says_who_a_user_is() -> None:
    """In JSON any name is a column, so a public table's column of that name must not take the user's place."""
    rows = [json.dumps({"person": f"u{u}", "article": "a"}) for u in range(50)]
    Path("views.json").write_text("\n".join(rows), encoding="utf-8")
    names = "".join(f"a,x{place},news\n" for place in range(9))
    Path("spread.csv").write_text(f"article,person,topic\n{names}", encoding="utf-8")
    asked: dict[str, Any] = {"user": "person", "epsilon": 1, "delta": "1e-6", "k": 1}
    for joins in (
        ["PUBLIC spread.csv USING (article)"],
        ["PUBLIC spread.csv USING (article)", "views.json USING (person)"],
    ):
        with pytest.raises(InvalidArgument, match="rename it"):
            podium.plan("views.json", item="topic", join=joins, **asked)
    # Matched by that column it is the user's own.
    own = "PUBLIC spread.csv USING (article, person)"
    assert podium.plan("views.json", item="topic", join=own, **asked).queries


def test_the_owner_declares_and_the_question_names() -> None:
    budget = Budget(epsilon=5, delta="1e-6")
    with Curator(dataset="views", budget=budget, joins=JOINS, **VIEWS) as curator:
        assert "joins      users USING (user_id), about users" in str(curator.status)
        first = curator.top("age", join="users", k=2)
        both = curator.top("topic", join=["topics"], k=2)
    with Curator(dataset="views", **VIEWS) as curator:
        ranked = "GROUP BY age ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2"
        again = curator.sql(f"SELECT age FROM views JOIN users USING (user_id) {ranked}")
        assert (again.outcome, again.paid.events) == (first.outcome, ())
        assert curator.top("topic", join="topics", k=2).paid.events == ()
        # Another content of a public table is another question; of a private one it is a new version, or refused.
        Path("topics.csv").write_text("article,topic\na,world\nb,sport\n", encoding="utf-8")
        assert curator.top("topic", join="topics", k=2).paid.events
        for name in ("views", "users", "x"):
            with pytest.raises(PodiumError, match="join="):
                curator.top("article", join=f"{name}.parquet USING (user_id)")
        with pytest.raises(InvalidArgument, match="one of users, topics"):
            curator.top("article", join="people")
        pq.write_table(ages(10), "users.parquet")
        with pytest.raises(SourceUnavailable, match=r"views\.parquet' or a table that is joined with it changed"):
            curator.top("age", join="users", k=1)
    with open_ledger("l.db") as ledger:
        ledger.set_data_version("views", "2")
        ledger.verify("views", receipts=[first, again, both])
        texts = [entry.question for entry in ledger.history("views") if entry.question]
    found = QuestionRecord.from_text(texts[0])
    assert found is not None
    assert found.joins[0]["using"] == ["user_id"]
    assert not any("parquet" in text or "csv" in text for text in texts)
    with pytest.raises(InvalidArgument, match="registered with"):
        Curator(dataset="views", joins=Join("views.parquet", "user_id"), **VIEWS)


@pytest.mark.parametrize("broken", [None, "page,topic\na,news\n"])
def test_who_asks_is_not_told_where_a_joined_table_is(here: Path, broken: str | None) -> None:
    topics, budget = here / "topics.csv", Budget(epsilon=5, delta="1e-6")
    with Curator(
        dataset="views", budget=budget, joins=[Join(topics, "article", "topics", public=True)], **VIEWS
    ) as curator:
        topics.unlink()
        if broken is not None:
            topics.write_text(broken, encoding="utf-8")
        with pytest.raises(SourceUnavailable, match="join='topics' cannot be read as it was declared") as told:
            curator.top("topic", join="topics", k=1)
        assert str(here) not in str(told.value)
        assert curator.status.questions_asked == 0


def test_each_of_several_tables_has_its_own() -> None:
    tables = {"views": Table(source="views.parquet", joins=JOINS), "others": Table(source="views.parquet")}
    budget = Budget(epsilon=5, delta="1e-6")
    with Curator(tables, dataset="shop", user="user_id", ledger="l.db", budget=budget, force=True) as curator:
        assert set(curator.top("age", table="views", join="users", k=2).items) == {"young", "old"}
        with pytest.raises(InvalidArgument, match="none is declared"):
            curator.top("age", table="others", join="users")
    with Curator(tables | {"views": "views.parquet"}, dataset="shop", user="user_id", ledger="l.db") as curator:
        assert curator.top("age", table="views", join="users", k=2).paid.events == ()


def test_the_command_line() -> None:
    ask = ("top", "views.parquet", "--user", "user_id", "-k", "2")
    once = ("--epsilon", "8", "--delta", "1e-6", "--format", "json")
    users = ("--join", "users.parquet USING (user_id)")
    printed = json.loads(succeeded(*ask, "--item", "age", *users, *once))
    check("release", printed)
    assert printed["items" if "items" in printed else "outcome"] == ["young", "old"]
    both = (*users, "--join", "PUBLIC topics.csv USING (article)")
    stated = json.loads(succeeded("sql", SQL, "--source", "views.parquet", "--user", "user_id", *both, *once))
    assert len(stated["outcome"]) == 2
    create = ("budget", "create", "views", "--ledger", "l.db", "--source", "views.parquet", "--user", "user_id")
    succeeded(*create, "--epsilon", "5", "--delta", "1e-6", *both)
    kept = ("--ledger", "l.db", "--dataset", "views")
    check("budget", json.loads(succeeded("budget", "show", "views", "--ledger", "l.db", "--format", "json")))
    assert "young" in succeeded(*ask, "--item", "age", *kept, "--join", "users")
    assert "free" in succeeded(*ask, "--item", "age", *kept, "--join", "users")
    told = run_podium(*ask, "--item", "age", *kept, *users).stderr
    assert "A question names it." in told
    assert (
        "matched by user_id" in run_podium(*ask, "--item", "age", *once, "--join", "users.parquet USING (age)").stderr
    )


def test_over_http_only_names_that_the_owner_declared(here: Path) -> None:
    budget = {"epsilon": 3, "delta": "1e-6", "items": 200, "questions": 20}
    joins = {
        "users": {"table": "users.parquet", "using": "user_id"},
        "topics": {"table": "topics.csv", "using": ["article"], "public": True},
    }
    settings = {"views": {"source": str(here / "views.parquet"), "user": "user_id", "budget": budget, "joins": joins}}
    with world(here, datasets=settings) as served:
        told = served.call("GET", "/v1/datasets/views").json()
        assert told["joins"]["views"][0] == {
            "name": "users", "using": ["user_id"], "public": False,
            "columns": [{"name": "user_id", "kind": "integer"}, {"name": "age", "kind": "text"}],
        }  # fmt: skip
        releases = "/v1/datasets/views/releases"
        asked = served.call("POST", releases, {"item": "age", "join": "users", "k": 2}).json()
        assert asked["outcome"] == ["young", "old"]
        plan = served.call("POST", "/v1/datasets/views/plan", {"sql": SQL}).json()
        assert 'INNER JOIN "users"' in plan["queries"][0]
        assert not any("parquet" in query.lower() or "/" in query for query in plan["queries"])
        for path in ("users.parquet USING (user_id)", "/etc/passwd", "people", ["users", "users"]):
            refused = served.call("POST", releases, {"item": "age", "join": path, "k": 2})
            assert refused.status_code == 422, path


def test_an_agent_is_told_what_may_be_joined() -> None:
    budget = Budget(epsilon=5, delta="1e-6")
    with Curator(dataset="views", budget=budget, joins=JOINS, **VIEWS) as curator:
        told = asyncio.run(CuratorBackend(curator).describe("views"))
    assert [join["name"] for join in told["joins"]] == ["users", "topics"]
    assert {"name": "age", "kind": "text"} in told["joins"][0]["columns"]

"""A list for each group from every door: the command line, Python, SQL and HTTP give the same lists."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support.command_line import ASK as ASK_LINE
from tests.support.command_line import podium as command
from tests.support.serving import World, world

import podium
from podium.errors import InvalidArgument
from podium.query.group_columns import DeclaredTable
from podium.release import GroupedRelease, Release
from podium.service.pages.snippets import in_shell
from podium.wire.request import QuestionRequest

COUNTRIES = [f"C{number:02}" for number in range(12)]
ASK: dict[str, Any] = {"item": "article", "user": "user_id", "epsilon": 8, "delta": "1e-6"}
SQL = (
    "SELECT country, article FROM views GROUP BY country, article "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY COUNT(DISTINCT user_id) DESC) <= 2"
)
FLAGS = ("--item", "article", "--user", "user_id", "-k", "2", "--epsilon", "8", "--delta", "1e-6", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve countries with three articles each, 400, 250 and 120 readers; a thirteenth with one reader; NULLs."""
    made = tmp_path_factory.mktemp("groups")
    rows = """SELECT c * 1000 + u AS user_id, printf('C%02d', c) AS country, 'a' || ((c + i) % 3) AS article,
            CAST(c AS BIGINT) AS shop, DATE '2026-11-01' + CAST(c AS INTEGER) AS day, ['x'] AS tags
        FROM range(12) AS g(c), range(3) AS s(i), range(400) AS r(u) WHERE u < [400, 250, 120][i + 1]
        UNION ALL SELECT 99000, 'ONE', 'a0', 99, DATE '2026-12-31', ['x']
        UNION ALL SELECT 98000 + u, NULL, 'a9', NULL, NULL, ['x'] FROM range(500) AS r(u)"""
    duckdb.sql(f"COPY ({rows}) TO '{made / 'views.parquet'}' (FORMAT parquet)")
    return made


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[World]:
    with world(folder, budget={"epsilon": 60, "delta": "1e-6", "items": 200, "questions": 40}) as made:
        yield made


def expected(countries: list[str] = COUNTRIES) -> dict[Any, tuple[str, ...]]:
    return {name: (f"a{int(name[1:]) % 3}", f"a{(int(name[1:]) + 1) % 3}") for name in countries}


def items(release: Release) -> dict[Any, tuple[Any, ...]]:
    assert isinstance(release, GroupedRelease)
    return {group: found.items for group, found in release.lists.items()}


def test_python_and_sql(folder: Path) -> None:
    source = folder / "views.parquet"
    assert items(podium.top(source, **ASK, per="country", k=2)) == expected()
    asked = {name: value for name, value in ASK.items() if name != "item"}
    for text in (SQL, f"{SQL.partition(' QUALIFY')[0]} ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2 BY country"):
        assert items(podium.sql(source, text, name="views", **asked)) == expected()


def test_listed_groups_are_all_shown_and_no_others(folder: Path) -> None:
    release = podium.top(folder / "views.parquet", **ASK, per="country", k=2, groups=["C03", "XX", "C01"])
    assert items(release) == {**expected(["C01", "C03"]), "XX": ()}
    dates = podium.top(folder / "views.parquet", **ASK, per="day", k=1, groups=["2026-11-02", dt.date(2026, 11, 3)])
    assert items(dates) == {dt.date(2026, 11, 2): ("a1",), dt.date(2026, 11, 3): ("a2",)}


def run(folder: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    ran = command("top", "views.parquet", *FLAGS, *arguments)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def test_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(folder, "--per", "country", "--format", "json", monkeypatch=monkeypatch)
    assert items(Release.from_json(told)) == expected()
    rows = [*csv.DictReader(io.StringIO(run(folder, "--per", "shop", "--groups", "1,7", "-f", "csv", "--counts",
                                            monkeypatch=monkeypatch)))]  # fmt: skip
    assert [(row["shop"], row["rank"], row["article"]) for row in rows] == [
        ("1", "1", "a1"), ("1", "2", "a2"), ("7", "1", "a1"), ("7", "2", "a2"),
    ]  # fmt: skip
    (folder / "listed.csv").write_text("country\nC05\nC06\n", encoding="utf-8")
    text = run(folder, "--per", "country", "--groups", "listed.csv", monkeypatch=monkeypatch)
    assert text.splitlines()[:3] == ["country  rank  article", "C05         1  a2", "            2  a0"]
    dry = run(
        folder, "--per", "country", "--per", "day", "--groups-per-user", "2", "--dry-run", monkeypatch=monkeypatch
    )
    assert dry.startswith(
        "groups   one list for each value of country and day: those with enough users; a user counts in at most 2\n"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"per": "user_id"}, ("per='user_id' is not valid. Allowed: a column that divides the rows into groups, "
                             "other than the user column. A list for each user would be about that user alone.")),
        ({"per": "article"}, ("per='article' is not valid. Allowed: a column that divides the rows into groups, "
                             "other than the item columns. In a list for each item there would be nothing to rank.")),
        ({"per": "tags"}, ("per='tags' is not valid. Allowed: a column with one value in each row. "
                          "Column 'tags' holds lists. It can be ranked as an item, which unnests it.")),
        ({"per": "country", "groups": "C01"},
         ("groups='C01' is not valid. Allowed: a list of groups, or the path of a file with one, such as 'groups.csv'. "
         "Say groups=['C01'] for that group alone.")),
        ({"per": "country", "groups_per_user": 0},
         "groups_per_user=0 is not valid. Allowed: an integer, 1 or more."),
        ({"per": "shop", "groups": ["1"]},
         "groups='1' is not valid. Allowed: values of kind integer, as column 'shop' is."),
        ({"per": "country", "groups": [3]},
         "groups=3 is not valid. Allowed: values of kind text, as column 'country' is."),
    ],
)  # fmt: skip
def test_mistakes_are_told_before_anything_is_read(folder: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        podium.top(folder / "views.parquet", **ASK, **options)
    assert str(caught.value) == told


def test_rows_without_a_group_are_left_out(folder: Path) -> None:
    release = podium.top(folder / "views.parquet", **ASK, per="country", k=2)
    assert "a9" not in str(release)
    assert None not in release.lists


def test_over_http(here: World) -> None:
    body = {"item": "article", "k": 2, "per": "country", "epsilon": "8"}
    answered = here.call("POST", "/v1/datasets/views/releases", body)
    assert answered.status_code == 200, answered.text
    assert items(Release.from_json(answered.text)) == expected()
    fewer = here.call("POST", "/v1/datasets/views/releases", {**body, "groups": ["C02", "ONE"]}).json()
    assert [(one["group"], one["items"]) for one in fewer["lists"]] == [(["C02"], ["a2", "a0"]), (["ONE"], [])]
    assert fewer["paid"] == []
    planned = here.call("POST", "/v1/datasets/views/plan", {**body, "groups_per_user": 3}).json()
    assert planned["groups"].endswith("a user counts in at most 3")
    path = here.call("POST", "/v1/datasets/views/releases", {**body, "groups": "/etc/passwd"})
    assert path.status_code == 422
    for wrong, told in (
        ({"groups": []}, "body.groups: List should have at least 1 item after validation, not 0. See"),
        ({"groups_per_user": 0}, "body.groups_per_user: Input should be greater than or equal to 1. See"),
        ({"per": 5}, "body.per: Input should be a valid string, or: Input should be a valid list. See"),
        ({"per": 5, "k": 0}, "There are 2 such problems. See"),
    ):
        refused = here.call("POST", "/v1/datasets/views/releases", {**body, **wrong})
        assert refused.status_code == 422
        assert told in refused.json()["detail"]
    listed = here.call("POST", "/v1/datasets/views/batch", {"questions": [body, {**body, "k": "two"}]})
    assert "body.questions.1.k: Input should be a valid integer. See" in listed.json()["detail"]
    both = here.call("POST", "/v1/datasets/views/releases", {**body, "per": "user_id"}).json()
    assert "other than the user column" in both["detail"]


class Outline(HTMLParser):
    """What a browser would find: labels, headings of groups, scripts, and attributes by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [has for name, has in self.found if name == tag and wanted.items() <= has.items()]


def test_the_pages(here: World) -> None:
    body = {"item": "article", "k": 2, "per": "country", "epsilon": "8"}
    entry = here.call("POST", "/v1/datasets/views/releases", body).json()["entry"]
    client, secret = here.client, here.give("ana")
    page = client.get("/sign-in").text
    csrf = next(has["value"] for has in Outline(page).all("input") if has.get("name") == "csrf")
    form = {"csrf": csrf or "", "token": secret, "next": "/"}
    assert client.post("/sign-in", data=form, headers={"Origin": "http://testserver"}).status_code == 303
    shown = client.get(f"/datasets/views/releases/{entry}")
    assert shown.status_code == 200
    outline = Outline(shown.text)
    assert len(outline.all("th", scope="rowgroup")) == len(COUNTRIES)
    assert len(outline.all("label", **{"for": "group"})) == len(outline.all("input", id="group")) == 1
    assert "hidden" in outline.all("form", id="filter")[0]
    assert outline.all("script", src="/static/groups.js")
    assert client.get("/static/groups.js").status_code == 200
    assert "top 2 of article for each country" in shown.text
    for suffix in ("json", "csv", "parquet", "svg", "card.json"):
        assert client.get(f"/datasets/views/releases/{entry}.{suffix}").status_code == 200
    assert json.loads(client.get(f"/datasets/views/releases/{entry}.json").text)["format"] == 2
    asking = client.get("/datasets/views/ask").text
    assert Outline(asking).all("select", id="per")
    assert "<option>tags" not in asking.partition('id="per"')[2].partition("</select>")[0]
    link = "/datasets/views/preview?item=article&per=shop&k=2&groups=1%0A7"
    preview = client.get(link)
    assert preview.status_code == 200, preview.text
    assert "one list for each value of shop" in preview.text


def test_lists_of_the_day_that_is_over_and_of_all_days(tmp_path: Path) -> None:
    """Without a schedule: for yesterday, and for every day in one question."""
    recent = tmp_path / "recent.parquet"
    rows = """SELECT u AS user_id, 'C' || (u % 2) AS country, 'a' || i AS article,
            CURRENT_DATE - CAST(d AS INTEGER) AS day
        FROM range(4) AS g(d), range(3) AS s(i), range(400) AS r(u) WHERE u < [400, 250, 120][i + 1]"""
    duckdb.sql(f"COPY ({rows}) TO '{recent}' (FORMAT parquet)")
    first = podium.top(recent, per="country", where="day >= CURRENT_DATE - 1 AND day < CURRENT_DATE", k=2, **ASK)
    assert items(first) == {"C0": ("a0", "a1"), "C1": ("a0", "a1")}
    every = podium.top(recent, per="day", groups_per_user="all", k=2, **{**ASK, "epsilon": 30})
    assert list(items(every).values()) == [("a0", "a1")] * 4


@pytest.fixture
def listed(folder: Path, tmp_path: Path) -> Path:
    """A public list of countries, one of which nobody is in, beside the table."""
    path = tmp_path / "nations.csv"
    path.write_text("country,capital\nC03,x\nXX,y\nC01,\n,z\nC03,w\n", encoding="utf-8")
    return path


def test_groups_are_those_of_a_table_that_the_owner_declared(folder: Path, listed: Path, tmp_path: Path) -> None:
    joins = [podium.Join(listed, "country", public=True), podium.Join(folder / "views.parquet", "user_id", "private")]
    budget = podium.Budget(epsilon=60, delta="1e-6", items=200, questions=40)
    place: dict[str, Any] = {"dataset": "views", "user": "user_id", "ledger": tmp_path / "ledger.db"}
    with podium.Curator(folder / "views.parquet", joins=joins, budget=budget, **place) as curator:
        release = curator.top("article", per="country", groups="nations", k=2)
        assert items(release) == {**expected(["C01", "C03"]), "XX": ()}
        spent = curator.status.spent
        # It is the same question as with the list itself.
        assert items(curator.top("article", per="country", groups=["C01", "XX", "C03"], k=2)) == items(release)
        assert curator.status.spent == spent
        # A table about users lists no groups: it would tell which there are.
        for wrong in ("private", "nowhere"):
            with pytest.raises(InvalidArgument, match="groups"):
                curator.top("article", per="country", groups=DeclaredTable(wrong), k=2)
        with pytest.raises(InvalidArgument, match="with the columns shop"):
            curator.top("article", per="shop", groups="nations", k=2)
        assert curator.status.spent == spent
    ask = ("top", str(folder / "views.parquet"), *ASK_LINE, "-k", "2", "--per", "country")
    kept = ("--ledger", str(tmp_path / "ledger.db"), "--dataset", "views", "--groups", "@nations", "-f", "json")
    told = command(*ask, *kept)
    assert [one["group"] for one in json.loads(told.stdout)["lists"]] == [["C01"], ["C03"], ["XX"]], told.stderr


def test_over_http_groups_are_a_list_or_a_declared_name_and_never_a_path(folder: Path, listed: Path) -> None:
    budget = {"epsilon": 60, "delta": "1e-6", "items": 200, "questions": 40}
    joins = {"nations": {"table": str(listed), "using": "country", "public": True}}
    source = str(folder / "views.parquet")
    settings = {"views": {"source": source, "user": "user_id", "budget": budget, "joins": joins}}
    with world(folder, datasets=settings) as served:
        asked: dict[str, Any] = {"item": "article", "per": "country", "k": 2}
        for path in (str(listed), "nations.csv", "/etc/passwd", "people"):
            refused = served.call("POST", "/v1/datasets/views/releases", {**asked, "groups": path})
            assert refused.status_code == 422, path
            assert "declared public table" in refused.text
        named = QuestionRequest.of(**asked, groups="nations")
        assert QuestionRequest.from_text(named.to_text()) == named
        assert "--groups @nations" in in_shell(named, "views")
        answer = served.call("POST", "/v1/datasets/views/releases", {**asked, "groups": "nations"}).json()
        assert [one["group"] for one in answer["lists"]] == [["C01"], ["C03"], ["XX"]]

"""Fifteen questions that a company's data engineer asks, in Python, on the command line and in SQL.

One small shop. Epsilon is so large, and the items so far apart, that a wrong list has a probability below 1e-9.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from tests.support.command_line import succeeded

import podium
from podium import Join, Release
from podium.errors import QuestionRefused
from podium.present.user_shares import shares

USERS = 1200
SPENT: dict[str, Any] = {"epsilon": 200, "delta": "1e-6"}
TOLERANCE = 20
USER: dict[str, Any] = {"user": "user_id"}

# Pages with 1200, 900, 600 and 300 users, who read the third one three times each.
EVENTS = f"""
    SELECT u AS user_id, 'tenant ' || u % 4 AS tenant, (u // 4) % 5 AS site, u // 20 AS member, u // 3 AS household,
        ['/home', '/news', '/shop', '/help'][p + 1] AS page, 'product ' || p AS product,
        [2, 20, 1, 30][p + 1]::DECIMAL(9, 2) AS revenue,
        'term ' || CASE WHEN u % 2 = 0 THEN p ELSE 3 - p END AS term,
        CASE WHEN u % 2 = 0 THEN 'DE' ELSE 'FR' END AS country, (u // 2) % 2 AS week,
        ['Rome', 'Oslo', 'Bern', 'Oslo'][p + 1] AS city, ['books', 'books', 'music', 'music'][p + 1] AS category,
        current_date - CASE WHEN p = 0 AND u >= 200 THEN 40 ELSE 2 END AS day,
        CASE WHEN p = 0 THEN ['new'] ELSE ['new', 'tag ' || p] END AS tags
    FROM range({USERS}) AS users(u), range(4) AS pages(p), range(CASE WHEN p = 2 THEN 3 ELSE 1 END)
    WHERE u < {USERS} - 300 * p
"""
PEOPLE = f"""
    SELECT u AS user_id, CASE u % 3 WHEN 0 THEN 'paid' ELSE 'free' END AS plan, u < 250 AS staff
    FROM range({USERS}) t(u)
"""
SEARCHES = f"""
    SELECT u AS user_id, 'word ' || CAST((u + 7 * i) % 100 AS TEXT) AS word FROM range({USERS}) t(u), range(6) s(i)
    UNION ALL SELECT {USERS} + u, 'rare ' || u % 3 FROM range(60) t(u)
"""


@pytest.fixture(scope="module", autouse=True)
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("shop")
    with duckdb.connect() as engine:
        for name, rows in (("events", EVENTS), ("people", PEOPLE), ("searches", SEARCHES)):
            engine.sql(rows).write_parquet(str(folder / f"{name}.parquet"))
    (folder / "catalogue.csv").write_text("product\nproduct 1\nproduct 2\nproduct 9\n", encoding="utf-8")
    frame = pd.read_parquet(folder / "events.parquet", columns=["user_id", "page"])
    frame.astype({"page": "category"}).to_parquet(folder / "categorical.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("PODIUM_LEDGER", raising=False)
        yield folder


def about(expected: dict[Any, int]) -> Callable[[Release], None]:
    """Check that a list has exactly these items, in this order, and values that are near if there are any."""

    def check(release: Release) -> None:
        assert release.items == tuple(expected)
        for measured, true in zip(release.values or (), expected.values(), strict=False):
            assert abs(measured - true) < TOLERANCE

    return check


def check_groups(release: Release) -> None:
    assert {group: found.items for group, found in release.lists.items()} == {
        (country, week): tuple(f"term {place if country == 'DE' else 3 - place}" for place in range(4))
        for country in ("DE", "FR")
        for week in (0, 1)
    }


def check_searches(release: Release) -> None:
    assert set(release.items) == {f"word {place}" for place in range(100)}
    assert release.beside is not None
    assert (abs(release.beside.others - 60) < TOLERANCE, abs(release.beside.total - 1260) < TOLERANCE) == (True, True)


def check_shares(release: Release) -> None:
    about({"/home": 1200, "/news": 900})(release)
    found = shares(release)
    assert found is not None
    assert all(abs(float(share.value) - true) < 0.05 for share, true in zip(found, (1, 0.75), strict=True))
    assert all(share.low <= share.value <= share.high for share in found)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question at each door; ``refused`` is SQL that an engine would take, whose refusal has what podium answers."""

    name: str
    python: dict[str, Any]
    line: str
    sql: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    check: Callable[[Release], None]


N = "COUNT(DISTINCT user_id)"
BY_PAGE = "GROUP BY page ORDER BY n DESC"
PAGE = f"SELECT page, {N} AS n FROM events"
STAFF = Join("people.parquet", "user_id")
CATALOGUE = Join("catalogue.csv", "product", public=True)
PEOPLE_LINE = "--join 'people.parquet USING (user_id)'"
FIFTEEN = [
    Asked(
        name="top pages by views",
        python={"item": "page", "by": "events", "clip": 4, "k": 2},
        line="events.parquet --item page --user user_id --by events --clip 4 -k 2",
        sql="SELECT page, COUNT(*) AS views FROM events GROUP BY page ORDER BY views DESC LIMIT 2",
        beside={"clip": 4},
        refused="SELECT page, COUNT(1) AS views FROM events GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
        check=about({"/shop": 1800, "/home": 1200}),
    ),
    Asked(
        name="products by revenue",
        python={"item": "product", "by": "sum(revenue)", "clip": 30, "k": 2},
        line="events.parquet --item product --user user_id --by 'sum(revenue)' --clip 30 -k 2",
        sql="SELECT product, SUM(revenue) AS revenue FROM events GROUP BY product ORDER BY revenue DESC LIMIT 2",
        beside={"clip": 30},
        refused="SELECT product, ROUND(SUM(revenue)) AS n FROM events GROUP BY product ORDER BY n DESC LIMIT 2",
        check=about({"product 1": 18000, "product 3": 9000}),
    ),
    Asked(
        name="five search terms for each country and week",
        python={"item": "term", "per": ("country", "week"), "k": 5},
        line="events.parquet --item term --user user_id --per country --per week -k 5",
        sql=f"SELECT country, week, term, {N} AS n FROM events GROUP BY country, week, term "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY country, week ORDER BY n DESC) <= 5",
        refused=f"SELECT * FROM (SELECT country, week, term, RANK() OVER (PARTITION BY country, week ORDER BY {N} "
        "DESC) AS place FROM events GROUP BY country, week, term) AS ranked WHERE place <= 5",
        check=check_groups,
    ),
    Asked(
        name="pairs of city and category",
        python={"item": ("city", "category"), "k": 4},
        line="events.parquet --item city --item category --user user_id -k 4",
        sql=f"SELECT city, category, {N} AS n FROM events GROUP BY city, category ORDER BY n DESC LIMIT 4",
        check=about({("Rome", "books"): 1200, ("Oslo", "books"): 900, ("Bern", "music"): 600, ("Oslo", "music"): 300}),
    ),
    Asked(
        name="the top 100 with the rest",
        python={"source": "searches.parquet", "item": "word", "k": 100, "others": True, "epsilon": 2000},
        line="searches.parquet --item word --user user_id -k 100 --others --epsilon 2000",
        sql=f"SELECT word, {N} AS n FROM searches GROUP BY word ORDER BY n DESC LIMIT 100",
        beside={"source": "searches.parquet", "others": True, "epsilon": 2000},
        check=check_searches,
    ),
    Asked(
        name="users joined with events",
        python={"item": "plan", "join": STAFF, "k": 2},
        line=f"events.parquet --item plan --user user_id {PEOPLE_LINE} -k 2",
        sql=f"SELECT plan, {N} AS n FROM events JOIN people USING (user_id) GROUP BY plan ORDER BY n DESC LIMIT 2",
        beside={"join": STAFF},
        refused=f"SELECT p.plan, {N} AS n FROM events e LEFT JOIN people p ON e.user_id = p.user_id GROUP BY plan "
        "ORDER BY n DESC LIMIT 2",
        check=about({"free": 800, "paid": 400}),
    ),
    Asked(
        name="the last seven days",
        python={"item": "page", "where": "day >= CURRENT_DATE - 7", "k": 3},
        line="events.parquet --item page --user user_id --where 'day >= CURRENT_DATE - 7' -k 3",
        sql=f"{PAGE} WHERE day >= CURRENT_DATE - 7 {BY_PAGE} LIMIT 3",
        refused=f"{PAGE} WHERE day >= NOW() - INTERVAL '7 days' {BY_PAGE} LIMIT 3",
        check=about({"/news": 900, "/shop": 600, "/help": 300}),
    ),
    Asked(
        name="items that another table lists",
        python={"item": "product", "domain": "catalogue.csv", "k": 2},
        line="events.parquet --item product --user user_id --domain catalogue.csv -k 2",
        sql=f"SELECT product, {N} AS n FROM events JOIN catalogue USING (product) GROUP BY product ORDER BY n DESC "
        "LIMIT 2",
        beside={"join": CATALOGUE},
        refused=f"SELECT product, {N} AS n FROM events WHERE product IN (SELECT product FROM catalogue) "
        "GROUP BY product ORDER BY n DESC LIMIT 2",
        check=about({"product 1": 900, "product 2": 600}),
    ),
    Asked(
        name="without staff accounts",
        python={"item": "page", "join": STAFF, "where": "staff = FALSE", "counts": True, "k": 3},
        line=f"events.parquet --item page --user user_id {PEOPLE_LINE} --where 'NOT staff' --counts -k 3",
        sql=f"{PAGE} JOIN people USING (user_id) WHERE NOT staff {BY_PAGE} LIMIT 3",
        beside={"join": STAFF},
        refused=f"{PAGE} WHERE user_id NOT IN (SELECT user_id FROM people WHERE staff) {BY_PAGE} LIMIT 3",
        check=about({"/home": 950, "/news": 650, "/shop": 350}),
    ),
    Asked(
        name="three columns are the user",
        python={"item": "page", "user": ("tenant", "site", "member"), "counts": True, "k": 2},
        line="events.parquet --item page --user tenant --user site --user member --counts -k 2",
        sql="SELECT page, COUNT(DISTINCT (tenant, site, member)) AS n FROM events GROUP BY page ORDER BY n DESC "
        "LIMIT 2",
        beside={"user": ("tenant", "site", "member")},
        refused="SELECT page, COUNT(DISTINCT tenant || site || member) AS n FROM events GROUP BY page ORDER BY n DESC "
        "LIMIT 2",
        check=about({"/home": 1200, "/news": 900}),
    ),
    Asked(
        name="a household is the unit",
        python={"item": "page", "user": "household", "counts": True, "k": 2},
        line="events.parquet --item page --user household --counts -k 2",
        sql="SELECT page, COUNT(DISTINCT household) AS n FROM events GROUP BY page ORDER BY n DESC LIMIT 2",
        beside={"user": "household"},
        check=about({"/home": 400, "/news": 300}),
    ),
    Asked(
        name="a categorical frame",
        python={"source": "frame", "item": "page", "k": 2},
        line="categorical.parquet --item page --user user_id -k 2",
        sql=f"{PAGE} {BY_PAGE} LIMIT 2",
        beside={"source": "frame"},
        check=about({"/home": 1200, "/news": 900}),
    ),
    Asked(
        name="arrays of tags",
        python={"item": "tags", "k": 3},
        line="events.parquet --item tags --user user_id -k 3",
        sql=f"SELECT tags, {N} AS n FROM events GROUP BY tags ORDER BY n DESC LIMIT 3",
        refused=f"SELECT UNNEST(tags) AS tag, {N} AS n FROM events GROUP BY tag ORDER BY n DESC LIMIT 3",
        check=about({"new": 1200, "tag 1": 900, "tag 2": 600}),
    ),
    Asked(
        name="at least 500 users",
        python={"item": "page", "at_least": 500, "k": 4},
        line="events.parquet --item page --user user_id --at-least 500 -k 4",
        sql=f"{PAGE} GROUP BY page HAVING n >= 500 ORDER BY n DESC LIMIT 4",
        refused=f"SELECT * FROM ({PAGE} GROUP BY page HAVING n >= 500 ORDER BY n DESC LIMIT 4)",
        check=about({"/home": 1200, "/news": 900, "/shop": 600}),
    ),
    Asked(
        name="percentage shares",
        python={"item": "page", "others": True, "k": 2},
        line="events.parquet --item page --user user_id --others -k 2",
        sql=f"{PAGE} {BY_PAGE} LIMIT 2",
        beside={"others": True},
        refused=f"SELECT page, 100.0 * {N} / SUM({N}) OVER () AS share FROM events GROUP BY page "
        "ORDER BY share DESC LIMIT 2",
        check=check_shares,
    ),
]
NAMES = [asked.name for asked in FIFTEEN]


def opened(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the table that they are about."""
    found = {"source": "events.parquet", **USER, **SPENT, **options}
    if found["source"] == "frame":
        found["source"] = pd.read_parquet("categorical.parquet")
        assert isinstance(found["source"]["page"].dtype, pd.CategoricalDtype)
    return found


def in_sql(asked: Asked, text: str) -> Release:
    name = "searches" if "searches" in asked.sql else "events"
    return podium.sql(**opened(asked.beside), text=text, name=name)


def test_there_are_fifteen() -> None:
    assert len(set(NAMES)) == len(FIFTEEN) == 15
    assert sum(bool(asked.refused) for asked in FIFTEEN) >= 10


@pytest.mark.parametrize("asked", FIFTEEN, ids=NAMES)
def test_in_python(asked: Asked) -> None:
    asked.check(podium.top(**opened(asked.python)))


@pytest.mark.parametrize("asked", FIFTEEN, ids=NAMES)
def test_on_the_command_line(asked: Asked) -> None:
    spent = () if "--epsilon" in asked.line else ("--epsilon", "200")
    told = succeeded("top", *shlex.split(asked.line), *spent, "--delta", "1e-6", "--format", "json")
    asked.check(Release.from_json(told))


@pytest.mark.parametrize("asked", FIFTEEN, ids=NAMES)
def test_in_sql(asked: Asked) -> None:
    asked.check(in_sql(asked, asked.sql))


@pytest.mark.parametrize("asked", [asked for asked in FIFTEEN if asked.refused], ids=lambda asked: asked.name)
def test_a_refused_statement_leads_to_an_answer(asked: Asked) -> None:
    with pytest.raises(QuestionRefused) as caught:
        in_sql(asked, asked.refused)
    *_, near = caught.value.hint.rpartition("Write: ")
    if near != asked.sql:
        asked.check(in_sql(asked, near))

"""Accounts of many tenants from end to end: each pair of tenant and member is one user, from every door."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import check, succeeded
from tests.support.serving import world

import podium
from podium import Budget, Curator
from podium.errors import InvalidArgument
from podium.ledger import open_ledger
from podium.release import Release

UNIT = ("tenant", "member")
TENANTS, MEMBERS = 40, 50


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every member of every tenant has page p0; half of the members of each have p1. No tenant is 2,000 users."""
    rows = [(f"t{t}", m, f"p{page}") for t in range(TENANTS) for m in range(MEMBERS) for page in range(1 + m % 2)]
    path = tmp_path_factory.mktemp("composite") / "shop.parquet"
    names = ("tenant", "member", "page")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


def test_pairs_are_counted_not_tenants(shop: Path) -> None:
    release = podium.top(shop, item="page", user=UNIT, k=2, epsilon=8, delta="1e-6", counts=True)
    assert release.items == ("p0", "p1")
    assert release.values is not None
    assert abs(release.values[0] - TENANTS * MEMBERS) < 100
    assert release.user == UNIT
    assert "any one pair of `tenant` and `member`" in release.promise
    assert Release.from_json(release.to_json()) == release
    assert r"one pair of \`tenant\` and \`member\`" in release.card().to_markdown()
    # Of forty tenants nothing can be said at this epsilon.
    assert not podium.top(shop, item="page", user="tenant", k=2, epsilon="0.1", delta="1e-9").items


def test_the_same_question_is_free_in_any_order_of_the_columns(shop: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with Curator(shop, dataset="shop", user=UNIT, ledger=ledger, budget=Budget(epsilon=5, delta="1e-6")) as curator:
        first = curator.top("page", k=2)
        assert "one `tenant` may be many" in curator.plan("page", k=2).promise
    with Curator(shop, dataset="shop", user=UNIT[::-1], ledger=ledger) as curator:
        again = curator.top("page", k=2)
        counted = "SELECT page FROM shop GROUP BY page ORDER BY COUNT(DISTINCT (member, tenant)) DESC LIMIT 2"
        assert (again.outcome, again.paid.events) == (first.outcome, ())
        assert curator.sql(counted).outcome == first.outcome
        assert curator.status.questions_asked == 1
    with pytest.raises(InvalidArgument, match="protects since it was registered"):
        Curator(shop, dataset="shop", user="tenant", ledger=ledger)
    with open_ledger(ledger) as kept:
        kept.verify("shop", receipts=[first, again])


def test_the_command_line_and_the_service(shop: Path, tmp_path: Path) -> None:
    ask = ("top", str(shop), "--item", "page", "--user", "tenant", "--user", "member", "-k", "2")
    printed = json.loads(succeeded(*ask, "--epsilon", "8", "--delta", "1e-6", "--format", "json"))
    check("release", printed)
    assert printed["user"] == list(UNIT)
    plan = json.loads(succeeded(*ask, "--epsilon", "8", "--delta", "1e-6", "--format", "json", "--dry-run"))
    check("plan", plan)
    assert plan["user"] == list(UNIT)
    budget = {"epsilon": 3, "delta": "1e-6", "items": 200, "questions": 20}
    shops = {"shop": {"source": str(shop), "user": list(UNIT), "budget": budget}}
    with world(tmp_path, datasets=shops) as here:
        told = here.call("GET", "/v1/datasets/shop").json()
        assert (told["user"], told["unit"]) == (list(UNIT), "one pair of tenant and member, with all their rows")
        assert told["items"] == ["page"]
        asked = here.call("POST", "/v1/datasets/shop/releases", {"item": "page", "k": 2}).json()
        assert asked["user"] == list(UNIT)
        form = here.client.get("/sign-in").text
        mark = re.search(r'name="csrf" value="([^"]+)"', form)
        assert mark is not None
        body = {"csrf": mark[1], "token": here.give("page", "analyst"), "next": "/"}
        assert here.client.post("/sign-in", data=body, headers={"Origin": "http://testserver"}).status_code == 303
        pages = {path: here.client.get(path).text for path in ("/datasets/shop", "/datasets/shop/ask")}
    assert pages["/datasets/shop"].count("part of the unit of protection") == 2
    assert "COUNT(DISTINCT (tenant, member))" in pages["/datasets/shop/ask"]
    assert "one <code>pair of tenant and member</code>" in pages["/datasets/shop/ask"]

"""``others`` from end to end: the users beside a list on every path, what they cost, and asked again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import check
from tests.support.curator.tables import PURE

import podium
from podium import Budget, Curator
from podium.errors import InvalidArgument
from podium.ledger import open_ledger
from podium.ledger.receipts import first_places
from podium.privacy import worst_case

pytestmark = pytest.mark.usefixtures("replayed_choices")

USERS = {"both": 900, "a only": 600, "b only": 300, "c only": 200, "d only": 100}
"""Users by what they have; a has 1500 users, b 1200, c 200, d 100, and 2100 users have something."""
KNOWN = ["a", "b", "c"]
COST: dict[str, Any] = {"user": "user_id", "epsilon": 20, "delta": "1e-6"}
PLENTY = Budget(epsilon=60, delta="1e-4", items=40, questions=10)
TOLERANCE = 25
"""Laplace noise of scale 1 is larger than this with probability below 1e-10."""


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("others") / "views.parquet"
    rows: list[tuple[int, str]] = []
    for number, (name, count) in enumerate(USERS.items()):
        items = "ab" if name == "both" else name[0]
        rows += [(10_000 * number + user, item) for user in range(count) for item in items]
    pq.write_table(pa.table({"user_id": [user for user, _ in rows], "article": [item for _, item in rows]}), path)
    return path


@pytest.mark.parametrize(
    ("how", "others", "total"),
    [
        ({"k": 1}, 600, 2100),
        ({"k": 2}, 300, 2100),
        ({"k": 3}, 100, 2100),
        ({"k": 2, "max_items_per_user": 1}, 300, 2100),
        ({"k": 2, "mechanism": "adaptive"}, 300, 2100),
        ({"k": 2, "domain": KNOWN}, 200, 2000),
        ({"k": 2, "domain": KNOWN, "delta": 0}, 200, 2000),
        ({"k": 2, "domain": KNOWN, "mechanism": "adaptive"}, 200, 2000),
        ({"k": 4, "at_least": 700}, 300, 2100),
        ({"k": 2, "where": "article <> 'd'"}, 200, 2000),
        ({"k": 1, "where": "article = 'nothing'"}, 0, 0),
    ],
)
def test_users_with_none_of_the_items(table: Path, how: dict[str, Any], others: int, total: int) -> None:
    release = podium.top(table, item="article", others=True, **{**COST, **how})
    assert release.beside is not None
    # 1500 + 1200 counts more users than there are: a difference would be negative.
    assert abs(release.beside.others - others) < TOLERANCE
    assert abs(release.beside.total - total) < TOLERANCE
    assert release.value_kind == "counts"
    assert "docs/proofs/others.md, Theorem 1" in release.theorem


def test_a_single_question_divides_its_epsilon(table: Path) -> None:
    for options in ({"k": 2}, {"k": 5}, {"k": 2, "domain": KNOWN}):
        with_others = podium.plan(table, item="article", others=True, **options, **COST)
        rest = podium.plan(table, item="article", counts=True, **options, **{**COST, "epsilon": 18})
        assert with_others.parameters == rest.parameters
        assert with_others.guarantee.epsilon() == 20
        assert "on the numbers of other and of all users" in with_others.description
        assert with_others.at_most.rho > rest.at_most.rho


@pytest.mark.parametrize("epsilon", [None, 5])
@pytest.mark.parametrize("options", [{"k": 2}, {"k": 5}, {"k": 2, "domain": KNOWN}])
def test_what_is_reserved_covers_what_is_paid(
    table: Path, tmp_path: Path, options: dict[str, Any], epsilon: int | None
) -> None:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=PLENTY) as asked:
        plain = asked.plan("article", counts=True, epsilon=epsilon, **options)
        plan = asked.plan("article", others=True, epsilon=epsilon, **options)
        release = asked.top("article", others=True, epsilon=epsilon, **options)
        assert release.paid.rho <= plan.at_most.rho
        if epsilon is None:
            assert plan.at_most.rho > plain.at_most.rho
        assert len(release.paid.events) >= 3
        beside = plan.strategy.others
        assert beside is not None
        assert release.paid.events[-2:] == beside.events
        assert worst_case(plan.strategy.worst_case).rho == plan.at_most.rho


def test_a_pure_ledger_has_them_too(table: Path, tmp_path: Path) -> None:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "pure.db", budget=PURE) as asked:
        release = asked.top("article", k=2, domain=KNOWN, others=True)
        assert release.beside is not None
        assert release.beside.noise == "laplace"
        plain = asked.plan("article", k=2, domain=KNOWN, counts=True).at_most.epsilon
        assert plain is not None
        assert release.paid.epsilon == plain + 2 * asked.status.totals.epsilon_per_item


def test_asking_again_is_free_for_the_same_list_only(table: Path, tmp_path: Path) -> None:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=PLENTY) as asked:
        paid = asked.top("article", k=3, others=True)
        assert asked.top("article", k=3, others=True).beside == paid.beside
        assert asked.top("article", k=3, others=True, counts=True).paid.events == ()
        assert asked.top("article", k=2, others=True).paid.events != ()
        assert asked.top("article", k=3, counts=True).paid.events != ()


def test_a_part_of_a_list_has_no_receipt_beside_what_is_about_all_of_it(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Curator(table, dataset="views", user="user_id", ledger=path, budget=PLENTY) as asked:
        paid, alone = asked.top("article", k=3, others=True), asked.top("article", k=3)
    with open_ledger(path) as ledger:
        for whole in (paid, alone):
            assert ledger.verify("views", receipts=[whole]).sound
            assert ledger.verify("views", receipts=[first_places(whole, 2)]).sound == (whole is alone)


SPENT = "sum(spent)"
AMOUNTS: dict[str, Any] = {"user": "user_id", "epsilon": 200, "delta": "1e-6", "item": "article", "others": True}
NEAR = 40
"""Noise at this epsilon is smaller with a probability far above 1 - 1e-9: its scale is below 1 for what follows."""


@pytest.fixture(name="sales", scope="module")
def _sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a: 800 users spend 4 in two rows; b: 500 users 2; c, d, e: 300 users 1 each; 5 users 1000 on f."""
    path = tmp_path_factory.mktemp("sales") / "sales.parquet"
    rows = [(u, "a", 2) for u in range(800) for _ in range(2)] + [(u, "b", 2) for u in range(500)]
    rows += [(u, item, 1) for u in range(300) for item in "cde"] + [(900 + u, "f", 1000) for u in range(5)]
    names = ("user_id", "article", "spent")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


@pytest.mark.parametrize(
    ("how", "others", "total"),
    [
        # Users with three further articles add 3 events, five users one.
        ({"by": "events", "clip": 2, "k": 2}, 905, 3005),
        ({"by": "events", "k": 2}, 905, None),
        ({"by": "events", "clip": 1, "k": 1}, 1405, 2205),
        ({"by": SPENT, "clip": 4, "k": 2}, 920, 5120),
        # Five users with 1000 each would be worth a ceiling of their own, if the noise did not cost more.
        ({"by": SPENT, "clip": 4, "k": 2, "where": "article <> 'f'"}, 900, 5100),
        ({"by": SPENT, "clip": 4, "k": 3, "domain": ["a", "b", "c"]}, 0, 4500),
        ({"by": "events", "clip": 2, "k": 2, "where": "article = 'nothing'"}, 0, 0),
    ],
)
def test_what_users_add_to_other_items(sales: Path, how: dict[str, Any], others: int, total: int | None) -> None:
    release = podium.top(sales, **{**AMOUNTS, **how})
    beside = release.beside
    assert beside is not None
    assert beside.ceiling is not None
    assert abs(beside.others - others) < NEAR
    assert beside.total == sum(release.values or ()) + beside.others
    assert total is None or abs(beside.total - total) < NEAR
    assert "docs/proofs/others.md, Theorem 2: amounts beside a list" in release.theorem
    assert podium.Release.from_json(release.to_json()) == release
    check("release", {**release.to_dict(), "entry": None})


def test_amounts_beside_a_list_are_priced_before_and_free_again(sales: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"by": SPENT, "clip": 4, "k": 2}
    with Curator(sales, dataset="sales", user="user_id", ledger=tmp_path / "ledger.db", budget=PLENTY) as asked:
        plain = asked.plan("article", counts=True, **how)
        plan = asked.plan("article", others=True, **how)
        release = asked.top("article", others=True, **how)
        assert plain.at_most.rho < plan.at_most.rho
        assert release.paid.rho <= plan.at_most.rho
        assert release.beside is not None
        assert release.beside.noise == "gaussian"
        assert plan.strategy.others is not None
        assert release.paid.events[-2:] == plan.strategy.others.events
        assert asked.top("article", others=True, **how).beside == release.beside
        assert asked.top("article", others=True, **how).paid.events == ()
    needs = pytest.raises(InvalidArgument, match="Gaussian noise, which needs a delta")
    with Curator(sales, dataset="pure", user="user_id", ledger=tmp_path / "pure.db", budget=PURE) as asked, needs:
        asked.plan("article", others=True, domain=["a", "b"], **how)


def test_where_it_is_not_offered_it_is_refused(table: Path, sales: Path) -> None:
    for how, told in (
        ({"per": "article", "item": "user_id"}, "item="),
        ({"per": "user_id"}, "user column"),
        ({"by": "events", "clip": 2, "at_least": 5}, "False with at_least"),
        ({"by": SPENT, "clip": (-1, 4)}, "False with a signed clip"),
    ):
        with pytest.raises(InvalidArgument, match=re.escape(told)):
            podium.plan(sales, **{"item": "article", "others": True, "k": 2, **how, **COST})
    with pytest.raises(InvalidArgument, match="others=True is not valid"):
        podium.plan(sales, item="article", others=True, per="spent", groups_per_user="all", **COST)

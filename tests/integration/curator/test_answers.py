"""What comes out of the whole path: its shape whatever the table holds, bounds, domains, and what a dry run shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator.tables import BUDGET, PURE, Watched, curator, events, tables_of_all_sizes
from tests.support.sources.reference import duckdb_hash
from tests.support.sources.sent import note_statements

import podium
from podium import BOTTOM, Budget, Curator, Plan, Release
from podium.privacy import worst_case
from podium.sources import CountQuery, DomainTable, open_source
from podium.sources.duckdb.connection import DuckDBSession

SURE: dict[str, Any] = {"epsilon": 10**6, "delta": "1e-6"}
"""A budget at which noise is next to nothing: what comes out are the true counts, but with probability below 1e-9."""


def counted(release: Release) -> list[tuple[Any, int]]:
    assert release.value_kind == "counts"
    return [(item, int(value)) for item, value in zip(release.items, release.values or (), strict=True)]


def shape(release: Release) -> tuple[Any, ...]:
    # The noise on counts depends on how many there are, which the list says.
    fixed = {name: value for name, value in release.parameters.items() if not name.startswith("count_")}
    counted = str(len(release.values or ()))
    assert release.parameters.get("count_items", counted) == counted
    return (
        release.mechanism, release.k, release.ordered, fixed, release.guarantee, release.theorem,
        release.value_kind, type(release.values), type(release.outcome),
    )  # fmt: skip


SELECTING = {"mechanism": "limited-domain"}


@pytest.mark.parametrize("options", [SELECTING, {**SELECTING, "counts": True}, {**SELECTING, "max_items_per_user": 2}])
def test_an_empty_table_is_an_ordinary_paid_release(tmp_path: Path, options: dict[str, Any]) -> None:
    shapes = []
    for _, sure, path in tables_of_all_sizes(tmp_path):
        with curator(path) as (asked, source):
            reserved = asked.plan("article", k=5, **options).strategy.worst_case
            release = asked.top("article", k=5, **options)
            found = min(5, sure)
            assert len(release.items) == found
            assert (BOTTOM in release.outcome) is (found < 5)
            assert release.complete is (found == 5)
            assert 0 < release.paid.rho <= worst_case(reserved).rho
            assert release.paid.delta == worst_case(reserved).delta
            assert asked.status.spent.delta == release.paid.delta
            assert source.snapshots == 1
            again = asked.top("article", k=5, **options)
            assert (again.outcome, again.values, again.paid.events) == (release.outcome, release.values, ())
        alone = podium.top(path, item="article", user="user_id", k=5, epsilon=1, delta="1e-6", **options)
        assert alone.paid.rho > 0
        shapes.append((shape(release), shape(alone)))
    assert shapes == shapes[:1] * 4


@pytest.mark.parametrize("options", [{}, {"counts": True}])
def test_an_empty_table_with_a_known_domain(tmp_path: Path, options: dict[str, Any]) -> None:
    """All k places are filled, by items that nobody has."""
    path = events(tmp_path / "views.parquet", {})
    for budget, folder in ((BUDGET, "approximate"), (PURE, "pure")):
        (tmp_path / folder).mkdir()
        ledger = tmp_path / folder / "ledger.db"
        with Curator(path, dataset="views", user="user_id", ledger=ledger, budget=budget) as asked:
            release = asked.top("article", k=2, domain=["x", "y", "z"], **options)
            assert release.complete
            assert set(release.items) < {"x", "y", "z"}
            assert release.paid.cost.rho > 0
            assert (release.values is not None) is (budget is PURE or "counts" in options)


def test_values_that_are_missing_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "views.parquet"
    rows: list[tuple[int | None, str | None]] = [(user, "a") for user in range(3000)]
    rows += [(None, "b")] * 5000 + [(user, None) for user in range(4000)] + [(1, "c")] * 9000
    pq.write_table(pa.table({"user_id": [u for u, _ in rows], "article": [i for _, i in rows]}), path)
    release = podium.top(path, item="article", user="user_id", k=3, counts=True, **SURE)
    assert counted(release) == [("a", 3000)]


def test_counts_are_measured_with_noise_of_the_plan(table: Path) -> None:
    release = podium.top(table, item="article", user="user_id", k=3, counts=True, epsilon=1, delta="1e-6")
    assert release.value_kind == "counts"
    assert release.values is not None
    # Scale about 12: 200 is beyond 15 standard deviations.
    assert all(abs(value - true) < 200 for value, true in zip(release.values, (3000, 2000, 1000), strict=True))
    assert release.guarantee.epsilon(delta="1e-6") == 1


# Contribution bounding


def many_items(path: Path, users: int, items: int) -> Path:
    rows = [(user, f"item {(user + shift) % (items + 2)}") for user in range(users) for shift in range(items)]
    pq.write_table(pa.table({"user_id": [u for u, _ in rows], "article": [i for _, i in rows]}), path)
    return path


def bounded(path: Path, most: int, salt: str | None, domain: Sequence[str] | None = None) -> Counter[str]:
    """The reference: each user keeps the items smallest by DuckDB's hash of salt, user and item."""
    by_user: dict[int, set[str]] = defaultdict(set)
    for row in pq.read_table(path).to_pylist():
        if domain is None or row["article"] in domain:
            by_user[row["user_id"]].add(row["article"])

    def place(user: int, item: str) -> int:
        return duckdb_hash(f"{salt}:{user}:{len(item)}:{item}")

    counts: Counter[str] = Counter()
    for user, items in by_user.items():
        counts.update(sorted(items, key=lambda item: place(user, item))[:most])
    return counts


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("domain", [None, ["item 0", "item 1", "item 2", "nobody's"]])
def test_each_user_adds_to_so_many_items(tmp_path: Path, most: int, domain: list[str] | None) -> None:
    path = many_items(tmp_path / "views.parquet", users=300, items=5)
    source = Watched(open_source(path))
    k = 7 if domain is None else 4
    options: dict[str, Any] = {"max_items_per_user": most, "domain": domain, "counts": True, **SURE}
    # Rounds count whoever has the item, and cut users only to find it.
    options |= SELECTING if domain is None else {}
    release = podium.top(source, item="article", user="user_id", k=k, **options)
    (reading,) = source.readings
    expected = bounded(path, most, reading.salt, domain)
    assert sum(expected.values()) <= 300 * most
    assert dict(counted(release)) == (expected if domain is None else {**expected, "nobody's": 0})
    with source.inner.snapshot(reading) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    assert int(rows.counts.sum()) == 300 * most
    source.close()


def test_the_salt_is_fresh_for_each_question(tmp_path: Path) -> None:
    path = many_items(tmp_path / "views.parquet", users=300, items=5)
    with curator(path) as (asked, source):
        for number in range(3):
            asked.top("article", k=2, max_items_per_user=2, where=f"user_id <> {number + 1000}")
        salts = [reading.salt for reading in source.readings]
        assert len(set(salts)) == 3
        assert all(salt is not None and len(salt) == 32 for salt in salts)
        shown = asked.plan("article", k=2, max_items_per_user=2)
        assert "'" + "0" * 32 + "'" in shown.queries[-1]
        assert not any(str(salt) in query for salt in salts for query in shown.queries)
        asked.top("article", k=2)
        assert source.readings[-1].salt is None


# Known domains


def test_items_that_nobody_has_can_win_and_are_named(table: Path) -> None:
    names = ["a", "b", "c", "nobody 1", "nobody 2"]
    release = podium.top(table, item="article", user="user_id", k=5, domain=names, counts=True, **SURE)
    assert counted(release)[:3] == [("a", 3000), ("b", 2000), ("c", 1000)]
    assert dict(counted(release)[3:]) == {"nobody 1": 0, "nobody 2": 0}


def test_items_outside_the_domain_are_dropped(table: Path) -> None:
    release = podium.top(table, item="article", user="user_id", k=2, domain=["x", "c"], epsilon=1)
    assert release.items == ("c", "x")
    assert release.guarantee.sentence() == "1-differentially private for any one user, added or removed"
    assert release.value_kind == "gaps"


def test_a_domain_of_a_million_million(tmp_path: Path) -> None:
    size = 10**12
    path = events(tmp_path / "views.parquet", {7: 3000, size - 1: 2000, size: 5000, -1: 5000})
    with curator(path, PURE) as (asked, source):
        release = asked.top("article", k=6, domain_size=size)
        assert source.snapshots == 1
    assert release.items[:2] == (7, size - 1)
    others = release.items[2:]
    assert len(set(others)) == 4
    assert all(isinstance(item, int) and 0 <= item < size and item not in {7, size - 1} for item in others)
    # That all four lie in the first thousandth has probability 1e-12.
    assert max(item for item in others if isinstance(item, int)) > size // 1000


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_domain_in_a_file(table: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"domain{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"article": ["a", "c", "nobody"]}), path)
    elif suffix == ".csv":
        path.write_text("article\na\nc\nnobody\n", encoding="utf-8")
    else:
        path.write_text('[{"article": "a"}, {"article": "c"}, {"article": "nobody"}]', encoding="utf-8")
    for where in (path, str(path)):
        release = podium.top(table, item="article", user="user_id", k=3, domain=where, counts=True, **SURE)
        assert counted(release) == [("a", 3000), ("c", 1000), ("nobody", 0)]


def test_a_domain_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "both.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE views AS SELECT range AS user_id, 'a' AS article FROM range(3000)")
        connection.execute("CREATE TABLE names AS SELECT unnest(['a', 'nobody']) AS article")
    options: dict[str, Any] = {"domain": DomainTable("names"), "epsilon": 1}
    release = podium.top(path, table="views", item="article", user="user_id", k=2, **options)
    assert release.items == ("a", "nobody")


def test_items_of_several_columns(table: Path) -> None:
    release = podium.top(table, item=["article", "country"], user="user_id", k=2, epsilon=1, delta="1e-6")
    assert release.items == (("a", "DE"), ("b", "DE"))
    domain = [("a", "DE"), ("a", "FR"), ("c", "DE")]
    known = podium.top(table, item=["article", "country"], user="user_id", k=3, domain=domain, counts=True, **SURE)
    assert counted(known) == [(("a", "DE"), 3000), (("c", "DE"), 1000), (("a", "FR"), 0)]
    lists = podium.top(table, item="tags", user="user_id", k=2, counts=True, **SURE)
    assert dict(counted(lists)) == {"x": 3000, "y": 3000}


# Dry runs


def test_a_dry_run_touches_nothing(table: Path) -> None:
    with curator(table) as (asked, source):
        before = asked.status
        written = table.with_name("ledger.db").read_bytes()
        cases: list[dict[str, Any]] = [{}, {"counts": True}, {"domain": ["a", "b", "c"]}, {"max_items_per_user": 3}]
        for options in cases:
            shown = asked.plan("article", k=3, where="country = 'DE'", **options)
            assert isinstance(shown, Plan)
            assert all("SELECT" in query for query in shown.queries)
            assert "'DE'" in shown.queries[0]
        assert source.snapshots == 0
        assert asked.status == before
        assert table.with_name("ledger.db").read_bytes() == written


def test_what_a_dry_run_shows(table: Path) -> None:
    with curator(table) as (asked, _):
        shown = asked.plan("article", k=10, mechanism="limited-domain", where="country = 'DE'").explain()
    assert shown.split("\n")[:6] == [
        (
            "mechanism  LimitedDomain(k=10, k_bar=1000, epsilon_per_item=0.0838491655, delta=2.501e-8, noise=gumbel, "
            "strict=False)"
        ),
        (
            "why        The items are not known beforehand, so only the true top 1000 compete, against a threshold "
            "that hides which items are there; only what passes is paid for."
        ),
        "paths      One way, which reads the table once.",
        (
            "promise    (0.838491655, 2.5e-8)-differentially private and 2.5e-8-approximately 0.008788-zCDP for any "
            "one `user_id`, added or removed"
        ),
        "at most    rho 0.008788 and delta 2.5e-8 if k items come back; rho 0.0008788 if none does",
        (
            "reach      With probability 0.95 k items come back, if the k-th has 356 more users than the item of rank "
            "1001."
        ),
    ]
    (sql,) = shown.split("\n")[6:]
    assert sql.startswith("sql        SELECT best.item0")
    assert sql.endswith("LIMIT 1001) AS best ORDER BY best.n DESC, best.item0 ASC")


def test_what_is_shown_is_what_is_sent_but_for_where_the_table_is(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = note_statements(monkeypatch, DuckDBSession, "fetch")
    with curator(table) as (asked, _):
        shown = asked.plan("article", k=2)
        assert sent == []
        asked.top("article", k=2)
    place = f"READ_PARQUET('{table}')"
    assert tuple(query.replace(place, '"views"') for query in sent) == shown.queries
    assert all(place in query for query in sent)


def test_the_plan_of_neighbouring_tables_is_the_same(tmp_path: Path) -> None:
    """One user more, with an item that nobody else has: no plan, no price and no SQL may tell."""
    plans = []
    for folder, more in (("without", {}), ("with", {"zzz": 1})):
        (tmp_path / folder).mkdir()
        path = events(tmp_path / folder / "views.parquet", {"a": 30, "b": 20, **more})
        cases: list[dict[str, Any]] = [{}, {"counts": True}, {"domain": ["a", "b"], "k": 2}, {"max_items_per_user": 2}]
        cases += [{"k": 50}, {"k": 50, "counts": True, "max_items_per_user": 2}]
        with curator(path) as (asked, _):
            shown = [asked.plan(**{"item": "article", **case}) for case in cases]
            plans.append([(preview.strategy, [q.replace(folder, "") for q in preview.queries]) for preview in shown])
    assert plans[0] == plans[1]


# A total for one release


@pytest.mark.parametrize("options", [{}, {"counts": True}, {"domain": ["a", "b", "c"]}])
def test_an_epsilon_of_its_own(table: Path, options: dict[str, Any]) -> None:
    with curator(table) as (asked, _):
        plan = asked.plan("article", k=3, epsilon="0.5", **options).strategy
        call = asked.status.totals.delta_per_call
        delta = 2 * call / (1 + call)
        bound = podium.privacy.best_bound(plan.worst_case, delta)
        assert bound.epsilon <= podium.exact.exact_fraction("0.5", "epsilon")
        release = asked.top("article", k=3, epsilon="0.5", **options)
        assert release.guarantee == plan.guarantee
        # As much delta as the owner's plan has for a question, so that all planned questions fit.
        assert worst_case(plan.worst_case).delta == (0 if "domain" in options else delta / 2)


def test_an_epsilon_of_its_own_with_a_large_delta(table: Path) -> None:
    with curator(table, Budget(epsilon=9, delta="0.7", items=3, questions=1)) as (asked, _):
        assert asked.top("article", k=3, epsilon=4).complete
        assert asked.status.questions_left == 0


def test_an_epsilon_of_its_own_on_a_pure_data_set(table: Path) -> None:
    with curator(table, PURE) as (asked, _):
        release = asked.top("article", k=2, epsilon="0.25", domain=["a", "b", "c"], counts=True)
        assert release.paid.epsilon == asked.status.spent.epsilon == podium.exact.exact_fraction("0.25", "epsilon")


def test_frames() -> None:
    frame = pa.table({"user_id": list(range(3000)), "article": ["a"] * 3000})
    assert podium.top(frame, item="article", user="user_id", k=1, epsilon=1, delta="1e-6").items == ("a",)


def test_a_reading_is_what_was_asked(table: Path) -> None:
    with curator(table) as (asked, source):
        asked.top("article", k=2, where="flag = TRUE")
    (reading,) = source.readings
    assert reading == CountQuery(("article",), "user_id", reading.where)
    assert reading.where is not None

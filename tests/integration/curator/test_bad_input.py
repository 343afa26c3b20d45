"""Mistakes, each with its message: nothing is read and nothing is spent."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.curator.tables import BUDGET, PURE, Watched, curator

import podium
from podium import Budget, Curator
from podium.errors import (
    BudgetExceeded,
    DatasetLocked,
    InvalidArgument,
    LedgerUnavailable,
    PodiumError,
    QuestionForfeited,
    SourceFailure,
    SourceUnavailable,
    UnknownColumn,
)
from podium.ledger import open_ledger
from podium.sources import open_source

COLUMNS = "user_id, article, country, day, at, price, flag, rating, tags"
KINDS = "text, integer, decimal, boolean, date, timestamp"
FLOAT = (
    "Column 'rating' holds floating-point numbers, for which engines disagree on what is equal: declare it as an "
    "integer or a decimal, or cast it in the table."
)

MISTAKES: list[tuple[dict[str, Any], type[PodiumError], str]] = [
    (
        {"item": "articel"},
        UnknownColumn,
        f"item='articel' is not a column. The columns are: {COLUMNS}. Did you mean 'article'?",
    ),
    ({"item": ["article", "zzz"]}, UnknownColumn, f"item='zzz' is not a column. The columns are: {COLUMNS}."),
    ({"item": 7}, InvalidArgument, "item=7 is not valid. Allowed: the name of a column."),
    ({"item": ["article", 7]}, InvalidArgument, "item=7 is not valid. Allowed: the name of a column."),
    ({"item": []}, InvalidArgument, "item=() is not valid. Allowed: one or more distinct columns."),
    (
        {"item": ["article", "article"]},
        InvalidArgument,
        "item=('article', 'article') is not valid. Allowed: one or more distinct columns.",
    ),
    (
        {"item": "rating"},
        InvalidArgument,
        f"item='rating' is not valid. Allowed: a column of kind {KINDS}, or a list of these. {FLOAT}",
    ),
    ({"k": 0}, InvalidArgument, "k=0 is not valid. Allowed: an integer, 1 or more."),
    ({"k": 2.0}, InvalidArgument, "k=2.0 is not valid. Allowed: an integer, 1 or more."),
    ({"k": 10_001}, InvalidArgument, "k=10001 is not valid. Allowed: an integer from 1 to 10000."),
    ({"k_bar": 2}, InvalidArgument, "k_bar=2 is not valid. Allowed: an integer from k=3 to 1000000."),
    ({"k_bar": 10**6 + 1}, InvalidArgument, "k_bar=1000001 is not valid. Allowed: an integer from k=3 to 1000000."),
    (
        {"k_bar": 9, "domain": ["a", "b", "c"]},
        InvalidArgument,
        "k_bar=9 is not valid. Allowed: None where the domain is known: all of it competes.",
    ),
    (
        {"max_items_per_user": 0},
        InvalidArgument,
        "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more.",
    ),
    (
        {"max_items_per_user": 10**9},
        InvalidArgument,
        "max_items_per_user=1000000000 is not valid. Allowed: an integer from 1 to 1000000.",
    ),
    (
        {"mechanism": "best"},
        InvalidArgument,
        (
            "mechanism='best' is not valid. Allowed: 'auto', 'limited-domain', 'adaptive', 'limited-domain-laplace', "
            "'limited-domain-strict', 'limited-domain-private-k-bar', 'fixed-threshold', 'hybrid', 'hybrid-estimates'."
        ),
    ),
    (
        {"mechanism": "limited-domain", "domain": ["a", "b", "c"]},
        InvalidArgument,
        "mechanism='limited-domain' is not valid. Allowed: 'auto' or 'adaptive' where the domain is known.",
    ),
    (
        {"mechanism": "adaptive", "k_bar": 9},
        InvalidArgument,
        (
            "k_bar=9 is not valid. Allowed: None with mechanism='adaptive': all items compete. "
            "mechanism='limited-domain' has a k_bar."
        ),
    ),
    ({"counts": "yes"}, InvalidArgument, "counts='yes' is not valid. Allowed: True or False."),
    (
        {"domain": ["a"], "domain_size": 5},
        InvalidArgument,
        "domain_size=5 is not valid. Allowed: None where domain is given.",
    ),
    ({"domain": ["a", "b"]}, InvalidArgument, "k=3 is not valid. Allowed: at most 2, the size of the domain."),
    ({"domain": ["a", "a", "b"]}, InvalidArgument, "k=3 is not valid. Allowed: at most 2, the size of the domain."),
    ({"domain": []}, InvalidArgument, "domain_size=0 is not valid. Allowed: an integer, 1 or more."),
    (
        {"domain": ["a", 7, "c"]},
        InvalidArgument,
        "domain=7 is not valid. Allowed: values of kind text, as column 'article' is.",
    ),
    (
        {"domain": 7},
        InvalidArgument,
        "domain='int' is not valid. Allowed: a list of items, or the path of a file with one.",
    ),
    (
        {"domain": b"abc"},
        InvalidArgument,
        "domain='bytes' is not valid. Allowed: a list of items, or the path of a file with one.",
    ),
    (
        {"domain": {"a": 1}},
        InvalidArgument,
        "domain='dict' is not valid. Allowed: a list of items, or the path of a file with one.",
    ),
    (
        {"domain": pl.DataFrame({"article": ["a", "b", "c"]})},
        InvalidArgument,
        "domain='DataFrame' is not valid. Allowed: a list of items, or the path of a file with one.",
    ),
    (
        {"domain": "no such file.csv"},
        SourceUnavailable,
        (
            "domain='no such file.csv' is not a file. Give the path of a file, a folder of Parquet files, a pattern "
            "that matches files, or the URL of a database."
        ),
    ),
    (
        {"domain_size": 5},
        InvalidArgument,
        (
            "domain_size=5 is not valid. Allowed: one item column of kind integer: a size means the items 0..N-1. "
            "Give the domain as a list, a file or a table."
        ),
    ),
    (
        {"domain_size": 0},
        InvalidArgument,
        "domain_size=0 is not valid. Allowed: an integer, 1 or more.",
    ),
    ({"epsilon": 0}, InvalidArgument, "epsilon=0 is not valid. Allowed: a number above 0."),
    ({"epsilon": "-0.5"}, InvalidArgument, "epsilon='-0.5' is not valid. Allowed: a number above 0."),
    (
        {"epsilon": float("nan")},
        InvalidArgument,
        "epsilon=nan is not valid. Allowed: an int, Fraction, Decimal, str or finite float.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "kind", "message"), MISTAKES)
def test_mistakes(made: Path, tmp_path: Path, changes: dict[str, Any], kind: type[PodiumError], message: str) -> None:
    source = Watched(open_source(made))
    arguments: dict[str, Any] = {"item": "article", "k": 3, **changes}
    item = arguments.pop("item")
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "l.db", budget=BUDGET) as asked:
        before = asked.status
        asks: tuple[Callable[[], object], ...] = (
            lambda: asked.top(item, **arguments),
            lambda: asked.plan(item, **arguments),
            lambda: podium.top(source, item=item, user="user_id", **{"epsilon": 1, "delta": "1e-6", **arguments}),
        )
        for ask in asks:
            with pytest.raises(kind) as caught:
                ask()
            assert type(caught.value) is kind
            assert str(caught.value) == message
        assert asked.status == before
    assert source.snapshots == 0
    source.close()


@pytest.mark.parametrize(
    ("user", "kind", "message"),
    [
        ("uid", UnknownColumn, f"user='uid' is not a column. The columns are: {COLUMNS}. Did you mean 'user_id'?"),
        ("rating", InvalidArgument, f"user='rating' is not valid. Allowed: a column of kind {KINDS}. {FLOAT}"),
        (7, InvalidArgument, "user=7 is not valid. Allowed: the name of a column, or several different names."),
        (
            "tags",
            InvalidArgument,
            f"user='tags' is not valid. Allowed: a column of kind {KINDS}. Column 'tags' is of kind list.",
        ),
    ],
)
def test_no_user_column(made: Path, tmp_path: Path, user: Any, kind: type[PodiumError], message: str) -> None:
    with pytest.raises(kind) as caught:
        Curator(made, dataset="views", user=user, ledger=tmp_path / "l.db", budget=BUDGET)
    assert str(caught.value) == message
    with pytest.raises(kind) as alone:
        podium.top(made, item="article", user=user, epsilon=1, delta="1e-6")
    assert str(alone.value) == message
    # It was found out before anything was registered, or even a file made.
    assert not (tmp_path / "l.db").exists()


def test_delta_0_needs_a_known_domain(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        podium.top(made, item="article", user="user_id", epsilon=1)
    assert str(caught.value) == (
        "delta=0 is not valid. Allowed: a number with 0 < value < 1. Delta is the probability that the bound "
        "of epsilon fails. Unless the items are known (--domain), it must be above 0, and well below one over the "
        "number of users: such as 1e-6."
    )
    with Curator(made, dataset="views", user="user_id", ledger=tmp_path / "l.db", budget=PURE) as asked:
        before = asked.status
        for epsilon in (None, 1):
            with pytest.raises(InvalidArgument) as caught:
                asked.top("article", epsilon=epsilon)
            assert str(caught.value) == (
                "domain=None is not valid. Allowed: a known domain, because the budget of this data set is pure "
                "(delta=0). State the items (domain=... or domain_size=...), or register a budget with a delta."
            )
        assert asked.status == before


def test_an_exhausted_budget(table: Path) -> None:
    with curator(table, Budget(epsilon=3, delta="1e-6", items=10, questions=2)) as (asked, source):
        assert asked.top("article", k=3, mechanism="limited-domain", where="flag = TRUE").complete
        before = asked.status
        with pytest.raises(BudgetExceeded) as caught:
            asked.top("article", k=8, mechanism="limited-domain")
        error = caught.value
        assert str(error) == (
            "This answer may cost 80 % of the budget of 'views', and 70 % is left. Only 7 of the 8 items "
            "would fit: ask for fewer, or lower epsilon; 'podium budget show views' lists what was spent."
        )
        assert error.short_by == error.requested - error.remaining > 0
        assert error.remaining == before.remaining.rho
        assert asked.status == before
        assert asked.top("article", k=3, mechanism="limited-domain").complete
        with pytest.raises(BudgetExceeded, match=r"may cost 50 % of the delta of 'views', and 0 % is left"):
            asked.top("article", k=1, where="user_id > 7")
        assert source.snapshots == 2


def test_a_data_set_locks_after_three_failures(table: Path) -> None:
    with curator(table) as (asked, source):
        assert asked.top("article", k=2).complete
        source.failure = SourceFailure()
        for number in range(3):
            with pytest.raises(QuestionForfeited):
                asked.top("article", k=2, where=f"user_id <> {number}")
        source.failure = None
        before, read = asked.status, source.snapshots
        with pytest.raises(DatasetLocked) as caught:
            asked.top("article", k=2, where="user_id <> 0")
        assert str(caught.value) == (
            "dataset='views' is locked after 3 failed questions. Stored releases can still be read; new questions are "
            "refused. Its owner should find out why they failed, then unlock it."
        )
        assert asked.top("article", k=2).items == ("a", "b")
        assert asked.status == before
        assert source.snapshots == read
    with open_ledger(table.with_name("ledger.db")) as ledger:
        ledger.unlock("views")
    with curator(table) as (asked, _):
        assert asked.top("article", k=2, where="user_id <> 0").complete


def missing(folder: Path) -> str:
    return str(folder / "no such folder" / "ledger.db")


def not_a_ledger(folder: Path) -> str:
    (folder / "notes.txt").write_text("not a ledger", encoding="utf-8")
    (folder / "notes.txt").chmod(0o600)
    return str(folder / "notes.txt")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (missing, r"cannot be opened. A ledger is a file in a folder that exists and may be written. Check the path."),
        (not_a_ledger, r"is not a ledger of podium. A ledger is a file that podium made itself. Name another file"),
        (lambda _: "postgresql://me:swordfish@127.0.0.1:1/ledger", r"could not be reached"),
    ],
)
def test_an_unreachable_ledger(
    table: Path, tmp_path: Path, address: Callable[[Path], str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    with pytest.raises(LedgerUnavailable, match=message) as caught:
        Curator(table, dataset="views", user="user_id", ledger=address(tmp_path), budget=BUDGET)
    assert "swordfish" not in str(caught.value)
    # The engine was let go of.
    assert list(spill.iterdir()) == []


def test_missing_tables(tmp_path: Path) -> None:
    for call in (
        lambda: Curator(tmp_path / "no.parquet", dataset="d", user="u", ledger=tmp_path / "l.db", budget=BUDGET),
        lambda: podium.top(tmp_path / "no.parquet", item="i", user="u", epsilon=1, delta="1e-6"),
    ):
        with pytest.raises(SourceUnavailable, match=re.escape("no.parquet' is not a file. Give the path of a file")):
            call()
    assert not (tmp_path / "l.db").exists()


def test_an_open_source_has_its_table_already(made: Path, tmp_path: Path) -> None:
    source = open_source(made)
    with pytest.raises(InvalidArgument, match=r"table='t' is not valid. Allowed: no table and no types where"):
        Curator(source, table="t", dataset="d", user="user_id", ledger=tmp_path / "l.db", budget=BUDGET)
    assert source.schema().names[0] == "user_id"
    source.close()


def test_what_was_given_open_stays_open(table: Path) -> None:
    source = open_source(table)
    with open_ledger(table.with_name("ledger.db")) as ledger:
        for _ in range(2):
            with Curator(source, dataset="views", user="user_id", ledger=ledger, budget=BUDGET) as asked:
                assert asked.top("article", k=1).items == ("a",)
        assert podium.top(source, item="article", user="user_id", k=1, epsilon=1, delta="1e-6").items == ("a",)
        assert ledger.verify().sound
    source.close()
    with pytest.raises(SourceUnavailable):
        podium.top(source, item="article", user="user_id", k=1, epsilon=1, delta="1e-6")

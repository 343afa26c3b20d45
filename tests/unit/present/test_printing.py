"""What print and repr show of results: tables with the true column names, a plain sentence, decimals."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.grouped_releases import counted_lists
from tests.support.pictures import made
from tests.unit.present.test_html import read

from podium import Budget, Curator, Release, rank
from podium.errors import InvalidArgument
from podium.ledger import Status, Totals
from podium.ledger.status import Remaining
from podium.mechanisms import NoisyTopK
from podium.present.text.closing import budget_sentence
from podium.privacy import (
    ApproximateMechanism,
    Cost,
    GaussianNoise,
    Guarantee,
    LaplaceNoise,
    PureMechanism,
    Selection,
    worst_case,
)
from podium.release import Receipt

PAIRS = made((("rye", "de"), ("bun", "fr")), counts=True, columns=("bread", "land"), user="customer")
THIRD = Fraction(1, 3)


@pytest.fixture
def status(tmp_path: Path) -> Iterator[Status]:
    (tmp_path / "t.csv").write_text("u,i\n" + "".join(f"{n},a{n % 2}\n" for n in range(400)), encoding="utf-8")
    budget = Budget(epsilon="1/3", delta="1e-6", items=7, questions=3)
    ledger = tmp_path / "ledger.db"
    with Curator(tmp_path / "t.csv", dataset="t", user="u", ledger=ledger, budget=budget) as curator:
        curator.top("i", k=1)
        yield curator.status


def test_a_printed_release_is_a_table_and_a_sentence() -> None:
    promised = Guarantee.approximate(1, "1e-8")
    release = made(("rye", "bun"), counts=True, columns=("bread",), user="customer", guarantee=promised)
    header, first, second, empty, sentence = str(release).split("\n")
    assert header.split() == ["rank", "bread", "users", "95%", "interval"]
    assert first.split()[:2] == ["1", "rye"]
    assert second.split()[:2] == ["2", "bun"]
    assert empty == ""
    assert sentence == "private for each customer: epsilon 1, delta 1e-8"


@pytest.mark.parametrize(
    ("guarantee", "end"),
    [
        (Guarantee.pure("1/3"), "\n\nprivate for each user: epsilon 0.3334"),
        (Guarantee.approximate_zcdp("1/3", "1e-6"), "\n\nprivate for each user: epsilon 4.158, delta 2e-6"),
        (Guarantee.profile([(1, "0.001")]), "\n\n(1, 0.001)-differentially private for any one user, added or removed"),
    ],
)
def test_the_sentence_states_what_is_known(guarantee: Guarantee, end: str) -> None:
    assert str(made(("a",), guarantee=guarantee)).endswith(end)


def test_the_epsilon_of_a_release_without_one_is_that_at_the_stated_delta() -> None:
    guarantee = Guarantee.approximate_zcdp("1/50", "1e-9")
    told = str(made(("a",), guarantee=guarantee)).split("\n")[-1]
    epsilon = Fraction(told.removeprefix("private for each user: epsilon ").removesuffix(", delta 1e-6"))
    assert guarantee.epsilon(delta="1e-6") <= epsilon <= guarantee.epsilon(delta="1e-6") * Fraction(1001, 1000)
    assert guarantee.delta(epsilon=epsilon) <= Fraction(1, 10**6) < guarantee.delta(epsilon=epsilon * Fraction(99, 100))


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        ((1, 1), "0 % of the budget used, 100 % left"),
        (("999/1000", 1), "less than 1 % of the budget used, over 99 % left"),
        (("985/1000", 1), "2 % of the budget used, 98 % left"),
        (("985/1000", "1/2"), "50 % of the budget used, 50 % left"),
        (("1/3", 1), "67 % of the budget used, 33 % left"),
        (("1/1000", 1), "over 99 % of the budget used, less than 1 % left"),
        ((0, 1), "100 % of the budget used, 0 % left"),
    ],
)
def test_percentages_never_show_less_used_nor_more_left(left: tuple[str, str], sentence: str, status: Status) -> None:
    limits = status.totals.whole
    assert limits.rho is not None
    rho, delta = (Fraction(part) for part in left)
    remaining = Remaining(epsilon=None, rho=limits.rho * rho, delta=limits.delta * delta)
    assert budget_sentence(replace(status, remaining=remaining)) == sentence


def test_numbers_are_right_aligned_and_a_long_item_makes_only_its_own_line_longer() -> None:
    release = made(("rye", "x" * 90, "\u5bff\u53f8"), counts=True, columns=("bread",))
    release = replace(release, values=(Fraction(1200), Fraction(90), Fraction(5)))
    header, first, long, wide, *_ = str(release).split("\n")
    assert header == "rank  bread  users  95% interval"
    assert first.startswith("   1  rye     1200  ")
    assert long.startswith(f"   2  {'x' * 90}     90  ")
    assert wide.startswith("   3  \u5bff\u53f8       5  ")


def test_a_short_list_and_a_set_say_so_in_print() -> None:
    assert "2 of 5: no other item stood out" in str(made(("a", "b"), k=5))
    assert "in no particular order" in str(made(("a", "b"), outcome=frozenset("ab")))


def test_two_item_columns_are_two_columns_everywhere() -> None:
    assert str(PAIRS).split("\n")[0].split()[:3] == ["rank", "bread", "land"]
    assert PAIRS.to_arrow().column_names[:3] == ["rank", "bread", "land"]
    assert (PAIRS.to_csv() or "").startswith('"rank","bread","land",')
    html = PAIRS._repr_html_()
    assert '<th scope="col">bread</th><th scope="col">land</th>' in html
    assert read(html).names == ["rye", "de", "bun", "fr"]


@pytest.mark.parametrize("columns", [("rank",), ("users",), ("<b>",), ("\ud800",), ("a", "b"), ("\x1b[2J",)])
def test_no_name_of_a_column_breaks_the_table(columns: tuple[str, ...]) -> None:
    release = made(("rye",), counts=True, columns=columns)
    assert "\x1b" not in str(release)
    assert len(str(release).split("\n")[1].split()) >= 4
    assert release.to_arrow().num_rows == 1
    assert read(release._repr_html_()).names == ["rye"]


def test_columns_survive_json_and_older_releases_have_none() -> None:
    assert Release.from_json(PAIRS.to_json()) == PAIRS
    older = made(("a",))
    assert older.columns is None
    assert "columns" not in json.loads(older.to_json())
    assert Release.from_json(older.to_json()).to_json() == older.to_json()


@pytest.mark.parametrize("columns", ["bread", [], [1], ["a", "a"], {"a": 1}])
def test_columns_that_are_none_are_refused(columns: Any) -> None:
    with pytest.raises(InvalidArgument):
        Release.from_json(json.dumps({**PAIRS.to_dict(), "columns": columns}))


EVENTS = (
    Selection(THIRD),
    PureMechanism(THIRD),
    LaplaceNoise(THIRD),
    GaussianNoise(THIRD),
    ApproximateMechanism(THIRD, THIRD),
)
BUDGET = Budget(epsilon=THIRD, delta=Fraction(1, 3_000_000), items=7, questions=3)


@pytest.mark.parametrize(
    "value",
    [
        *EVENTS, worst_case(EVENTS[:1]), Receipt(EVENTS), Guarantee.pure(THIRD), Guarantee.profile([(THIRD, THIRD)]),
        BUDGET, Totals.of(BUDGET), Totals.of(BUDGET).limits, BUDGET.plan, Remaining(THIRD, THIRD, THIRD),
        made(("a",), guarantee=Guarantee.approximate(THIRD, THIRD)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_repr_is_decimal(value: object) -> None:
    assert repr(value).startswith(f"{type(value).__name__}(")
    assert "Fraction" not in repr(value)
    assert "0.333" in repr(value)


def test_what_is_left_rounds_down_and_what_is_spent_up() -> None:
    assert repr(Remaining(THIRD, None, Fraction(0))) == "Remaining(epsilon=0.3333, delta=0)"
    assert repr(Cost(epsilon=None, rho=THIRD)) == "Cost(rho=0.3334, delta=0)"


def test_a_repr_of_a_release_is_short() -> None:
    release = made(tuple(f"item {n}" for n in range(1000)), counts=True)
    assert len(repr(release)) < 500
    assert repr(made(("a",))).startswith("Release(mechanism=")
    assert "items={'a', 'b'}" in repr(made(("a", "b"), outcome=frozenset("ba")))


def test_a_printed_status_is_a_table(status: Status) -> None:
    lines = dict(line.split("  ", 1) for line in str(status).split("\n"))
    assert lines["data set"].strip() == "t (version 1)"
    assert "any one `u`" in lines["promise"]
    assert "Fraction" not in repr(status)
    assert repr(status).startswith("Status(dataset='t', epsilon=0.3334, delta=1e-6, spent=Cost(")


def test_the_html_of_a_status_is_a_table_with_row_headings(status: Status) -> None:
    html = status._repr_html_()
    texts = read(html).texts
    assert "Budget of t (version 1)" in texts
    full = html.partition("<details>")[2]
    assert full.count('<th scope="row"') == len(str(status).split("\n")) - 1


def test_an_answer_knows_its_columns_also_when_it_is_told_again(tmp_path: Path) -> None:
    rows = "".join(f"{n},a{n % 2},b\n" for n in range(400))
    (tmp_path / "t.csv").write_text(f"u,i,j\n{rows}", encoding="utf-8")
    budget = Budget(epsilon=1, delta="1e-6", items=7, questions=3)
    ledger = tmp_path / "ledger.db"
    with Curator(tmp_path / "t.csv", dataset="t", user="u", ledger=ledger, budget=budget) as curator:
        first, again = curator.top(["i", "j"], k=2), curator.top(["i", "j"], k=1)
        assert first.columns == again.columns == ("i", "j")
        assert again.paid.events == ()
        assert again.to_arrow().column_names == ["rank", "i", "j"]


def test_a_ranking_has_neither_of_the_columns_that_it_compares(tmp_path: Path) -> None:
    rows = "".join(f"{n},a,b\n" for n in range(400))
    (tmp_path / "votes.csv").write_text(f"u,winner,loser\n{rows}", encoding="utf-8")
    release = rank(
        tmp_path / "votes.csv",
        winner="winner",
        loser="loser",
        user="u",
        k=1,
        epsilon=1,
        items=["a", "b"],
        comparisons_per_pair=400,
    )
    assert release.columns is None
    assert str(release).split("\n")[0].split() == ["rank", "item"]


def test_numbers_that_people_meet_are_decimals() -> None:
    values = made(("a", "b"), values=(Fraction(515), THIRD), value_kind="counts").values
    assert repr(values) == "(515, 0.3334)"
    assert values == (Fraction(515), THIRD)
    assert str(THIRD + values[1]) == "2/3"
    release = counted_lists()
    assert "Fraction" not in repr([found.values for found in release.lists.values()])
    assert repr((release.paid.rho, release.paid.delta)) == "(0.03115, 0.009901)"
    assert repr(NoisyTopK(3, "1/3")) == "NoisyTopK(k=3, epsilon=0.3334, noise='exponential', gaps=True, monotone=True)"
    assert copy.copy(pickle.loads(pickle.dumps(values))) == values  # noqa: S301 - our own

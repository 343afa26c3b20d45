"""Units of one column and of several: how they are named, compared and stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.serving import settings_for

from podium import Budget
from podium.errors import InvalidArgument, QuestionRefused
from podium.ledger import open_ledger
from podium.privacy import Guarantee
from podium.privacy.guarantee import unit_words
from podium.query import Column, Kind, Question, QuestionRecord, Schema, check_question
from podium.service.settings import read_dataset
from podium.user_columns import UserColumns, same_users, user_columns

SCHEMA = Schema(tuple(Column(name, Kind.TEXT) for name in ("tenant", "member", "page", "country")))
UNIT = ("tenant", "member")


def test_one_name_in_a_list_is_that_name() -> None:
    assert user_columns("tenant") == user_columns(["tenant"]) == "tenant"
    assert user_columns(name for name in UNIT) == UNIT
    assert same_users(UNIT, UNIT[::-1])
    assert not same_users(UNIT, "tenant")


@pytest.mark.parametrize("wrong", [(), ["a", "a"], ["a", "b", "a"], [1], 7, None, b"ab", [["a"]]])
def test_what_names_no_users_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="user="):
        user_columns(wrong)


def test_the_guarantee_says_that_one_tenant_may_be_many() -> None:
    promise = Guarantee.pure(1).sentence(user=UNIT)
    assert promise.endswith("for any one pair of `tenant` and `member`, added or removed; one `tenant` may be many")
    assert "any one combination of `a`, `b` and `c`, added" in Guarantee.pure(1).sentence(user=("a", "b", "c"))
    assert Guarantee.pure(1).sentence(user="tenant").endswith("for any one `tenant`, added or removed")
    assert unit_words(UNIT) == "pair of tenant and member"


@pytest.mark.parametrize("counted", ["(tenant, member)", "tenant, member", "member, tenant", "(member, tenant)"])
def test_sql_counts_the_columns_together(counted: str) -> None:
    text = f"SELECT page FROM t GROUP BY page ORDER BY COUNT(DISTINCT {counted}) DESC LIMIT 5"
    checked = check_question(Question(sql=text), SCHEMA, user=UNIT, table="t")
    assert (checked.items, checked.k, checked.measure) == (("page",), 5, None)


@pytest.mark.parametrize("counted", ["tenant", "(tenant)", "tenant, page", "tenant, member, page", "(tenant, tenant)"])
def test_sql_that_counts_others_is_told_what_to_count(counted: str) -> None:
    text = f"SELECT page FROM t GROUP BY page ORDER BY COUNT(DISTINCT {counted}) DESC LIMIT 5"
    with pytest.raises(QuestionRefused, match=r"COUNT\(DISTINCT \(tenant, member\)\)"):
        check_question(Question(sql=text), SCHEMA, user=UNIT, table="t")
    with pytest.raises(QuestionRefused):
        check_question(Question(sql=text.replace(counted, "tenant, member")), SCHEMA, user="tenant", table="t")


@pytest.mark.parametrize(
    ("options", "name"), [({"item": ("member",)}, "item"), ({"item": ("page",), "per": "tenant"}, "per")]
)
def test_a_part_of_the_unit_is_no_item_and_no_group(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{name}="):
        check_question(Question(**options), SCHEMA, user=UNIT, table="t")


def record(user: UserColumns | None) -> QuestionRecord:
    return QuestionRecord(
        items=("page",), where=None, user=user, k=3, k_bar=None, ordered=True, domain=None, max_items_per_user=None,
        mechanism="auto", budget={"epsilon": "1"}, counts=False,
    )  # fmt: skip


def test_questions_about_the_same_users_share_a_key() -> None:
    assert record(UNIT).key == record(UNIT[::-1]).key != record("tenant").key
    for user in (None, "tenant", UNIT):
        found = QuestionRecord.from_text(record(user).to_text())
        assert found is not None
        assert found.key == record(user).key
    # Text that earlier versions wrote, byte for byte.
    assert record("user_id").to_text() == (
        '{"budget": {"epsilon": "1"}, "counts": false, "domain": null, "format": 2, "items": ["page"], "k": 3, '
        '"k_bar": null, "max_items_per_user": null, "mechanism": "auto", "ordered": true, "ranking": null, '
        '"user": "user_id", "where": null}'
    )


def test_a_ledger_remembers_the_unit(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        budget = Budget(epsilon=1, delta="1e-6")
        single = ledger.register("one", budget, source="a", user="user_id")
        assert json.loads(json.dumps(single.facts))["user"] == "user_id"
        ledger.register("two", budget, source="b", user=UNIT)
        assert ledger.status("two").user == UNIT
        assert ledger.status("two").to_dict()["user"] == list(UNIT)
        assert "one `tenant` may be many" in ledger.status("two").promise
        # Registering the same again changes nothing; other users are another promise.
        ledger.register("two", budget, source="b", user=UNIT[::-1])
        with pytest.raises(InvalidArgument, match="protects since it was registered"):
            ledger.register("two", budget, source="b", user="tenant")
        with pytest.raises(InvalidArgument, match="protects since it was registered"):
            ledger.register("one", budget, source="a", user=("user_id", "member"))


def test_the_settings_of_a_service_name_several_columns(tmp_path: Path) -> None:
    raw = {"source": "a.csv", "user": list(UNIT)}
    settings = read_dataset("shop", raw, tmp_path)
    assert settings.user == UNIT
    assert read_dataset("shop", settings.to_json(), tmp_path) == settings
    assert settings_for(tmp_path).datasets["views"].to_json()["user"] == "user_id"
    with pytest.raises(InvalidArgument):
        read_dataset("shop", {**raw, "user": ["tenant", "tenant"]}, tmp_path)

"""Failures lock out the analyst who caused them, and the owner lets them in again; how many questions is limited."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.serving import BUDGET, World, world
from tests.unit.service.test_pages import Browser

from podium.errors import DatasetLocked
from podium.privacy import Selection
from podium.wire.problems import restore_error

RELEASES = "/v1/datasets/views/releases"
QUESTION = {"item": "article", "k": 2}


def fail(here: World, who: str, times: int = 3) -> None:
    ledger = here.service.datasets.ledger
    for number in range(times):
        ledger.forfeit(ledger.reserve("views", Selection("0.05"), f"question {number}", analyst=who))


def test_one_analyst_is_locked_out_and_let_in_again(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.give("olga", "owner")
        fail(here, "ana")
        refused = here.call("POST", RELEASES, QUESTION)
        assert (refused.status_code, refused.json()["analyst"], refused.json()["failures"]) == (423, "ana", 3)
        error = restore_error(refused.json(), 423)
        assert isinstance(error, DatasetLocked)
        assert (error.analyst, error.failures) == ("ana", 3)
        assert here.call("POST", RELEASES, QUESTION, who="bob").status_code == 200
        # What bob was told is free for ana too; only what would be reserved is refused.
        assert here.call("POST", RELEASES, QUESTION).status_code == 200
        locked = {
            who: here.call("GET", "/v1/datasets/views/budget", who=who).json()["locked"] for who in ("ana", "bob")
        }
        assert locked == {"ana": True, "bob": False}
        assert "locked_out" not in here.call("GET", "/v1/datasets/views/budget", who="bob").json()
        assert here.call("GET", "/v1/datasets/views/budget", who="olga").json()["locked_out"] == ["ana"]
        assert here.call("POST", "/v1/datasets/views/unlock", {"analyst": "bob"}, who="olga").status_code == 422
        assert here.call("POST", "/v1/datasets/views/unlock", {"analyst": "ana"}, who="olga").status_code == 200
        assert here.call("POST", RELEASES, {**QUESTION, "k": 3}).status_code == 200


def test_the_owners_page_lets_one_analyst_in(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        fail(here, "ana")
        browser = Browser(here)
        browser.sign_in(here.give("olga", "owner"))
        assert "Unlock ana" in browser.get("/owner/datasets/views").text
        assert browser.post("/owner/datasets/views/unlock", browser.csrf, analyst="ana").status_code == 303
        assert "Unlock" not in browser.get("/owner/datasets/views").text
        analyst = Browser(here)
        fail(here, "bob", 1)
        analyst.sign_in(here.give("ana"))
        ledger = analyst.get("/datasets/views/ledger").text
        assert "4 failed" in ledger
        assert "bob" not in ledger


@pytest.mark.parametrize("most", [1, 2])
def test_no_more_questions_than_the_owner_allows(tmp_path: Path, most: int) -> None:
    with world(tmp_path, budget={**BUDGET, "questions": 1, "max_questions": most}) as here:
        here.give("olga", "owner")
        # Known items need no delta, of which a plan for one question leaves nothing.
        known = {"item": "article", "domain": ["a0", "a1", "a2", "a3"]}
        asked = [here.call("POST", RELEASES, {**known, "k": k}).status_code for k in (1, 2, 3)]
        assert asked == [200] * most + [409] * (3 - most)
        more = {**BUDGET, "questions": 1, "max_questions": 3}
        assert here.call("POST", "/v1/datasets/views/total", more, who="olga").status_code == 200
        assert here.call("POST", RELEASES, {**known, "k": 3}).status_code == 200
        cheap = here.call("POST", "/v1/datasets/views/plan", {**QUESTION, "epsilon": "1e-9"})
        assert cheap.status_code == 422
        assert "costs at least" in cheap.json()["detail"]

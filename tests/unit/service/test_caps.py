"""Where every analyst has a cap, the promise to each rests on what that analyst has seen."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.support.serving import BUDGET, World, world
from tests.unit.service.test_pages import Browser

QUESTION = {"item": "article", "k": 3}
RELEASES = "/v1/datasets/views/releases"
VERIFICATION = "/v1/datasets/views/verification"


def test_others_releases_are_hidden_until_they_are_paid_for(tmp_path: Path) -> None:
    with world(tmp_path, budget={**BUDGET, "epsilon_per_analyst": 2}) as here:
        for name, role in (("olga", "owner"), ("vera", "viewer")):
            here.give(name, role)
        answer = here.call("POST", RELEASES, QUESTION).json()
        place = f"{RELEASES}/{answer['entry']}"
        assert here.call("GET", place).status_code == 200
        assert here.call("GET", place, who="olga").status_code == 200
        for name in ("bob", "vera"):
            refused = here.call("GET", place, who=name)
            assert refused.status_code == 403
            assert "charged to your cap" in refused.json()["detail"]
            assert here.call("GET", RELEASES, who=name).json() == {"releases": []}
            kinds = [one["kind"] for one in here.call("GET", "/v1/datasets/views/history", who=name).json()["entries"]]
            assert kinds == ["registered"]
            _only_tells_whether_it_is_sound(here, name, answer["entry"])
            budget = here.call("GET", "/v1/datasets/views/budget", who=name).json()
            assert not {"spent", "remaining", "questions_asked", "head"} & set(budget)
        seen = here.call("POST", RELEASES, QUESTION, who="bob").json()
        assert (seen["entry"], seen["outcome"]) == (answer["entry"], answer["outcome"])
        assert seen["paid"] == answer["paid"]
        assert here.call("GET", place, who="bob").status_code == 200
        own = here.call("GET", "/v1/datasets/views/budget", who="bob").json()["analysts"]
        assert list(own) == ["bob"]
        assert own["bob"]["held"]["rho"] != "0"


def _only_tells_whether_it_is_sound(here: World, who: str, of_another: str) -> None:
    assert here.call("GET", VERIFICATION, who=who).json() == {"sound": True, "receipts": [], "problem": None}
    for hash_ in (of_another, "0" * 64):
        told = here.call("GET", f"{VERIFICATION}?receipt={hash_}", who=who).json()
        what = f"no release of yours has the hash {hash_!r} of a receipt"
        assert told == {"sound": False, "receipts": [], "problem": {"dataset": "views", "sequence": None, "what": what}}


def test_how_many_questions_others_asked_is_hidden(tmp_path: Path) -> None:
    """Ana asks two questions, or twelve: what bob and vera see is the same but for times and hashes."""
    seen = []
    for number in (1, 6):
        (tmp_path / str(number)).mkdir()
        with world(tmp_path / str(number), budget={**BUDGET, "epsilon_per_analyst": 2}) as here:
            here.give("vera", "viewer")
            for k in range(number):
                here.call("POST", RELEASES, {"item": "article", "k": 2, "where": f"country <> '{k}'"})
            own = here.call("POST", RELEASES, QUESTION, who="bob").json()["entry"]
            told = []
            for who in ("bob", "vera"):
                entries = here.call("GET", "/v1/datasets/views/history", who=who).json()["entries"]
                told.append([{name: one.get(name) for name in ("sequence", "reservation", "kind")} for one in entries])
                told.append(here.call("GET", VERIFICATION, who=who).json())
            told.append(_without_hash(here.call("GET", f"{VERIFICATION}?receipt={own}", who="bob").json(), own))
            told.append(sorted(here.call("GET", "/v1/datasets/views/budget", who="bob").json()))
            seen.append(told)
            browser = Browser(here)
            browser.sign_in(here.give("bob"))
            page = browser.get(f"/datasets/views/verify?receipt={own}").text
            assert "All entries were read" in page
            assert "head of" not in page
            here.give("olga", "owner")
            assert here.call("GET", VERIFICATION, who="olga").json()["entries"] == 2 * number + 3
    assert seen[0] == seen[1]


def _without_hash(document: Any, hash_: str) -> Any:
    assert [one["hash"] for one in document["receipts"]] == [hash_]
    return json.loads(json.dumps(document).replace(hash_, "..."))


def test_a_chain_that_is_not_sound_is_said_to_be_so_and_no_more(tmp_path: Path) -> None:
    with world(tmp_path, budget={**BUDGET, "epsilon_per_analyst": 2}) as here:
        here.call("POST", RELEASES, QUESTION)
        with sqlite3.connect(tmp_path / "ledger.db") as raw:
            raw.execute("UPDATE analysts SET rho = '0'")
        told = here.call("GET", VERIFICATION, who="bob").json()
        assert (told["sound"], told["problem"]["sequence"]) == (False, None)
        assert "its owner can see where" in told["problem"]["what"]
        here.give("olga", "owner")
        assert here.call("GET", VERIFICATION, who="olga").json()["problem"]["sequence"] == 3

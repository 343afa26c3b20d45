"""Where every analyst has a cap, the promise to each rests on what that analyst has seen."""

from __future__ import annotations

from pathlib import Path

from tests.serving import BUDGET, world

QUESTION = {"item": "article", "k": 3}
RELEASES = "/v1/datasets/views/releases"


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
            budget = here.call("GET", "/v1/datasets/views/budget", who=name).json()
            assert not {"spent", "remaining", "questions_asked", "head"} & set(budget)
        seen = here.call("POST", RELEASES, QUESTION, who="bob").json()
        assert (seen["entry"], seen["outcome"]) == (answer["entry"], answer["outcome"])
        assert seen["paid"] == answer["paid"]
        assert here.call("GET", place, who="bob").status_code == 200
        own = here.call("GET", "/v1/datasets/views/budget", who="bob").json()["analysts"]
        assert list(own) == ["bob"]
        assert own["bob"]["held"]["rho"] != "0"

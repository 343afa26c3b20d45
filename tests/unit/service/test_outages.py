"""Parts that are missing: the rest goes on, and says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.serving import BUDGET, views, world

from podium.errors import PodiumError

RELEASES = "/v1/datasets/views/releases"


def test_a_table_that_is_gone_hides_no_other(tmp_path: Path) -> None:
    datasets = {
        "views": {"source": "views.parquet", "user": "user_id", "budget": BUDGET},
        "gone": {"source": "gone.parquet", "user": "user_id", "budget": BUDGET},
    }
    with world(tmp_path, datasets=datasets) as here:
        listed = here.call("GET", "/v1/datasets").json()["datasets"]
        assert [one["name"] for one in listed] == ["views", "gone"]
        assert "dataset='gone' could not be opened" in listed[1]["unavailable"]
        assert here.call("POST", RELEASES, {"item": "article", "k": 1}).status_code == 200
        refused = here.call("POST", "/v1/datasets/gone/releases", {"item": "article", "k": 1})
        assert (refused.status_code, refused.json()["error"]) == (503, "SourceUnavailable")
        assert refused.headers["retry-after"] == "5"
        # It comes back without a restart.
        views(tmp_path / "gone.parquet", users=200)
        assert here.call("POST", "/v1/datasets/gone/plan", {"item": "article", "k": 1}).status_code == 200


@pytest.mark.parametrize("first", ["4711,bread", "anna.smith,bread"])
def test_a_file_without_a_header_shows_analysts_no_row(tmp_path: Path, first: str) -> None:
    """Its first row would be the names of its columns."""
    (tmp_path / "plain.csv").write_text(f"{first}\n4712,rye\n", encoding="utf-8")
    settings = {"plain": {"source": "plain.csv", "user": "user_id", "budget": BUDGET}}
    with world(tmp_path, datasets=settings) as here:
        told = [
            here.call(method, path, body).text
            for method, path, body in (
                ("GET", "/v1/datasets", None),
                ("GET", "/v1/datasets/plain", None),
                ("POST", "/v1/datasets/plain/plan", {"item": "article", "k": 1}),
                ("POST", "/v1/datasets/plain/releases", {"item": "article", "k": 1}),
                ("GET", "/datasets/plain", None),
            )
        ]
        assert "could not be opened" in told[0]
        assert not any(part in text for text in told for part in ("4711", "bread", "anna", "plain.csv"))
        # Its owner is told, but not what the line says.
        with pytest.raises(PodiumError) as caught:
            here.service.datasets.check()
        assert "4711" not in str(caught.value)


def test_books_stay_open_while_the_table_is_gone(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        entry = here.call("POST", RELEASES, {"item": "article", "k": 1}).json()["entry"]
    (tmp_path / "views.parquet").rename(tmp_path / "elsewhere.parquet")
    (tmp_path / "views.parquet").touch()
    with world(tmp_path) as here:
        here.give("olga", "owner")
        assert here.call("GET", f"{RELEASES}/{entry}").status_code == 200
        assert here.call("GET", "/v1/datasets/views/budget").status_code == 200
        assert here.call("GET", "/v1/datasets/views/history").status_code == 200
        assert (
            here.call("POST", "/v1/datasets/views/data-version", {"data_version": "2"}, who="olga").status_code == 200
        )


def test_a_ledger_that_is_gone_is_not_ready(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.give("ana")
        (tmp_path / "ledger.db").rename(tmp_path / "moved.db")
        here.service.datasets.ledger.close()
        ready = here.call("GET", "/ready", who=None)
        assert (ready.status_code, ready.json()["ledger"]) == (503, "LedgerUnavailable")
        refused = here.call("POST", RELEASES, {"item": "article", "k": 1})
        assert (refused.status_code, refused.json()["error"]) == (503, "LedgerUnavailable")
        assert here.call("GET", "/health", who=None).status_code == 200
        (tmp_path / "moved.db").rename(tmp_path / "ledger.db")
        assert here.call("POST", RELEASES, {"item": "article", "k": 1}).status_code == 200


def test_data_sets_of_others_in_the_same_ledger_are_not_served(tmp_path: Path) -> None:
    from podium.ledger import Budget, open_ledger  # noqa: PLC0415

    with open_ledger(tmp_path / "ledger.db") as ledger:
        ledger.register("foreign", Budget(**BUDGET), source="somewhere")
    with world(tmp_path) as here:
        here.give("olga", "owner")
        for what in ("", "/budget", "/history", "/releases", "/verification"):
            assert here.call("GET", f"/v1/datasets/foreign{what}", who="olga").status_code == 404
        assert here.call("POST", "/v1/datasets/foreign/unlock", who="olga").status_code == 404


def test_a_failed_question_is_forfeited_and_says_nothing_of_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("row of user u17")

    with world(tmp_path) as here:
        here.give("olga", "owner")
        for number in range(4):
            monkeypatch.setattr("podium.curator.answer._release", broken)
            answer = here.call("POST", RELEASES, {"item": "article", "k": 1 + number})
            if number < 3:
                assert (answer.status_code, answer.json()["error"]) == (500, "QuestionForfeited")
                assert "u17" not in answer.text
            else:
                assert (answer.status_code, answer.json()["error"]) == (423, "DatasetLocked")
        monkeypatch.undo()
        assert here.call("POST", "/v1/datasets/views/unlock", who="olga").status_code == 200
        assert here.call("POST", RELEASES, {"item": "article", "k": 1}).status_code == 200

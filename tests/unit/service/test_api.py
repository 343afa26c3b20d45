"""The API as an analyst meets it: plan, ask, look again, look at the books."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.serving import World, world

from podium import Histogram
from podium.ledger.bookkeeping.held import Sum
from podium.mechanisms import LimitedDomain
from podium.present.tables import release_in
from podium.release import Release
from podium.service.api.records import Record
from podium.service.api.routes import Form, render_release

QUESTION = {"item": "article", "k": 3}
RELEASES = "/v1/datasets/views/releases"


def questions_asked(here: World) -> int:
    return int(here.call("GET", "/v1/datasets/views/budget").json()["questions_asked"])


def test_a_plan_is_free_and_says_what_would_happen(here: World) -> None:
    before = questions_asked(here)
    plan = here.call("POST", "/v1/datasets/views/plan", QUESTION)
    assert plan.status_code == 200
    assert plan.json()["mechanism"] == "AdaptiveTopK"
    assert plan.json()["at_most"]["rho"] != "0"
    assert "SELECT" in plan.json()["queries"][0]
    assert questions_asked(here) == before


@pytest.mark.parametrize("question", [QUESTION, {**QUESTION, "domain": ["a0", "a1", "a2"]}])
def test_the_sql_of_a_plan_names_the_data_set_and_not_where_it_is(here: World, question: dict[str, object]) -> None:
    queries = here.call("POST", "/v1/datasets/views/plan", question).json()["queries"]
    assert 'FROM "views"' in queries[0]
    assert not any("/" in query or "parquet" in query.lower() for query in queries)


def test_a_downloaded_csv_holds_no_formula() -> None:
    mechanism = LimitedDomain(1, 1, 1, "0.01")
    release = mechanism.release(Histogram.top_rows(["=cmd|'/C calc'!A0"], [9000], next_count=1))
    record = Record("views", "0" * 64, "now", '{"items": ["article"]}', "1", release, Sum())
    assert render_release(record, Form.CSV).body == b'"rank","article"\n1,"\'=cmd|\'/C calc\'!A0"\n'


def test_an_answer_is_a_release_and_the_same_again_is_free(here: World) -> None:
    first = here.call("POST", RELEASES, QUESTION)
    assert first.status_code == 200
    release = Release.from_json(first.text)
    assert release.items[0] == "a0"
    assert first.json()["paid"]
    asked = questions_asked(here)
    again = here.call("POST", RELEASES, {"item": ["article"], "k": 2}, who="bob")
    assert again.json()["paid"] == []
    assert again.json()["entry"] == first.json()["entry"]
    assert Release.from_json(again.text).items == release.items[:2]
    assert questions_asked(here) == asked


def test_sql_is_the_same_question(here: World) -> None:
    first = here.call("POST", RELEASES, QUESTION).json()
    sql = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 3"
    assert here.call("POST", RELEASES, {"sql": sql}).json()["entry"] == first["entry"]


def test_a_retried_request_is_not_charged_twice(here: World) -> None:
    body = {"item": "country", "k": 1}
    first = here.call("POST", RELEASES, body, Idempotency_Key="once")
    here.service.datasets.ledger.set_data_version("views", "2")
    asked = questions_asked(here)
    again = here.call("POST", RELEASES, body, Idempotency_Key="once")
    assert again.json()["entry"] == first.json()["entry"]
    assert questions_asked(here) == asked
    # Another analyst's key of the same spelling is another key.
    other = here.call("POST", RELEASES, body, who="bob", Idempotency_Key="once")
    assert other.json()["entry"] != first.json()["entry"]


def test_a_key_of_another_question_is_refused_with_the_key_as_it_was_written(here: World) -> None:
    here.call("POST", RELEASES, {"item": "country", "k": 2}, Idempotency_Key="mine")
    refused = here.call("POST", RELEASES, {"item": "weekday", "k": 2}, Idempotency_Key="mine")
    assert refused.status_code == 409
    assert refused.json()["detail"] == (
        "idempotency_key='mine' is not valid. Allowed: a key that was not used for another question. "
        "Use a new key for a new question."
    )


def test_questions_by_events(here: World) -> None:
    answer = here.call("POST", RELEASES, {**QUESTION, "by": "events", "clip": "2", "counts": True})
    assert answer.json()["parameters"]["by"] == "events"
    place = answer.headers["content-location"]
    again = here.call("POST", RELEASES, {**QUESTION, "by": "events", "clip": 2, "counts": True})
    assert again.headers["content-location"] == place
    (listed,) = (one for one in here.call("GET", RELEASES).json()["releases"] if one["entry"] in place)
    assert (listed["question"]["by"], listed["question"]["clip"]) == ("events", "2")
    refused = here.call("POST", RELEASES, {**QUESTION, "clip": 2})
    assert refused.status_code == 422
    assert "None with by='users'" in refused.json()["detail"]


def test_a_permalink_gives_all_forms_of_the_release(here: World) -> None:
    answer = here.call("POST", RELEASES, {**QUESTION, "counts": True})
    place = answer.headers["content-location"]
    assert here.call("GET", place).json()["outcome"] == answer.json()["outcome"]
    csv = here.call("GET", f"{place}?format=csv")
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert csv.text.splitlines()[0] == '"rank","article","count","count_low","count_high"'
    table = pq.read_table(io.BytesIO(here.call("GET", f"{place}?format=parquet").content))
    assert release_in(table).outcome == Release.from_json(answer.text).outcome
    assert here.call("GET", f"{place}?format=card").json()["card"] == "podium release card"
    listed = here.call("GET", RELEASES).json()["releases"]
    assert listed[0]["entry"] == answer.json()["entry"]
    assert here.call("GET", f"{RELEASES}/{'0' * 64}").status_code == 404


def test_books_are_open_but_for_who_asked(here: World) -> None:
    here.call("POST", RELEASES, QUESTION)
    here.give("olga", "owner")
    entries = here.call("GET", "/v1/datasets/views/history", who="bob").json()["entries"]
    assert entries[0]["kind"] == "registered"
    assert not any("details" in entry for entry in entries)
    assert {entry.get("analyst") for entry in entries} <= {None, "bob"}
    owners = here.call("GET", "/v1/datasets/views/history", who="olga").json()["entries"]
    assert {"ana", "bob"} <= {entry.get("analyst") for entry in owners}
    head = entries[-1]["hash"]
    sound = here.call("GET", f"/v1/datasets/views/verification?receipt={head}").json()
    assert sound["sound"] is True
    missing = here.call("GET", f"/v1/datasets/views/verification?receipt={'0' * 64}").json()
    assert missing["sound"] is False


def test_budgets_run_out_with_the_librarys_message(here: World) -> None:
    refused = here.call("POST", RELEASES, {"item": "article", "k": 10, "epsilon": "4"})
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    body = refused.json()
    assert body["error"] == "BudgetExceeded"
    # What is left depends on which answers came before, and on what they happened to cost.
    assert re.match(r"This answer may cost 155 % of the budget of 'views', and \d+ % is left\.", body["detail"])
    assert body["title"] == "Conflict"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"item": "articel"}, ("item='articel' is not a column. The columns are: user_id, article, weekday, country. "
                              "Did you mean 'article'?")),
        ({"item": "article", "sql": "SELECT 1"},
         "item='article' is not valid. Allowed: either item and k, or sql, and not both."),
        ({}, "item=None is not valid. Allowed: either item and k, or sql, and not both."),
        ({"sql": "SELECT article FROM views GROUP BY article ORDER BY COUNT(*) DESC LIMIT 5", "k": 3},
         "k=3 is not valid. Allowed: what the statement says (5), or nothing. Say it in the SQL, or beside it."),
        ({"item": "article", "where": "country = 1"},
         ("'1' is not allowed: column 'country' is text, so it is compared with a text in single quotes, like 'DE'. "
         "A column of a CSV or JSON file is text unless its type is declared: --types country=integer.")),
    ],
)  # fmt: skip
def test_mistakes_get_the_librarys_words(here: World, body: dict[str, object], detail: str) -> None:
    before = questions_asked(here)
    for place in ("/v1/datasets/views/plan", RELEASES):
        refused = here.call("POST", place, body)
        assert refused.status_code == 422
        assert refused.json()["detail"] == detail
    assert questions_asked(here) == before


def test_a_path_on_the_server_is_not_a_domain(here: World) -> None:
    refused = here.call("POST", "/v1/datasets/views/plan", {"item": "article", "domain": "/etc/passwd"})
    assert refused.status_code == 422
    assert "passwd" not in refused.text


def test_known_items_may_be_listed(here: World) -> None:
    answer = here.call("POST", RELEASES, {"item": "article", "k": 2, "domain": ["a0", "a1", "zz"]})
    assert set(Release.from_json(answer.text).items) <= {"a0", "a1", "zz"}


def test_probes_need_no_token_and_metrics_do(here: World) -> None:
    assert here.call("GET", "/health", who=None).json() == {"status": "alive"}
    assert here.call("GET", "/ready", who=None).json() == {"status": "ready", "state": "ready", "ledger": "ready"}
    assert here.call("GET", "/metrics", who=None).status_code == 401
    assert here.call("GET", "/metrics", who="ana").status_code == 403
    here.give("olga", "owner")
    text = here.call("GET", "/metrics", who="olga").text
    assert 'route="/v1/datasets/{dataset}/releases",status="200"' in text
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert {line.partition("{")[0] for line in samples} == {"podium_build_info", "podium_requests_total"}
    assert not any("views" in line for line in samples)


def test_errors_of_the_frame_are_problems_too(here: World) -> None:
    for method, path, status, error in (
        ("GET", "/v1/nothing", 404, "NotFound"),
        ("DELETE", "/v1/datasets", 405, "MethodNotAllowed"),
        ("GET", "/v1/datasets/a%00b", 422, "InvalidRequest"),
        ("GET", "/v1/datasets/absent", 404, "NotFound"),
    ):
        answer = here.call(method, path)
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["instance"].startswith("urn:podium:request:")


def test_every_answer_has_the_headers_that_browsers_heed(here: World) -> None:
    for path in ("/health", "/v1/datasets", "/v1/nothing", "/sign-in", "/static/style.css"):
        headers = here.call("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert len(headers["x-request-id"]) == 32


def test_logs_hold_no_question_and_no_row(here: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="podium.service"):
        here.call("POST", RELEASES, {"item": "article", "k": 1, "where": "country = 'secret-literal'"})
    lines = [json.dumps(getattr(record, "facts", {})) for record in caplog.records]
    assert any('"route": "/v1/datasets/{dataset}/releases"' in line for line in lines)
    assert not any("secret-literal" in line or '"a0"' in line for line in lines)


def test_an_unexpected_failure_says_nothing(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("row of user u17")

    monkeypatch.setattr(here.service.records, "budget", broken)
    answer = here.call("GET", "/v1/datasets/views/budget")
    assert answer.status_code == 500
    assert answer.json()["error"] == "UnexpectedFailure"
    assert "u17" not in answer.text


def test_openapi_has_examples(here: World) -> None:
    spec = here.call("GET", "/openapi.json", who=None).json()
    assert spec["components"]["schemas"]["QuestionBody"]["examples"][0]["item"] == "article"
    ask = spec["paths"]["/v1/datasets/{dataset}/releases"]["post"]
    assert ask["responses"]["409"]["content"]["application/problem+json"]["example"]["error"] == "BudgetExceeded"
    assert not any(path.startswith(("/sign-in", "/datasets", "/owner")) for path in spec["paths"])


def test_one_question_at_a_time_is_paid_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with world(tmp_path) as fresh:
        fresh.give("ana")
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: fresh.call("POST", RELEASES, QUESTION), range(8)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["entry"] for answer in answers}) == 1
        assert questions_asked(fresh) == 1

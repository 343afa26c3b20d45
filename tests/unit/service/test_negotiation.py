"""Programs get JSON at every address, and browsers pages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.serving import World
from tests.unit.service.test_pages import HTML, MATRIX, Browser, _path, signed_in

from podium.service.http.negotiation import prefers_page


@pytest.mark.parametrize(
    ("headers", "page"),
    [
        (HTML, True),
        ({"accept": "text/html"}, True),
        ({"accept": "TEXT/HTML; charset=utf-8"}, True),
        ({"accept": "application/json, text/html;q=0.1"}, True),
        ({}, False),
        ({"accept": "*/*"}, False),
        ({"accept": "application/json"}, False),
        ({"accept": "text/html;q=0, */*"}, False),
        ({"accept": "text/html; q=0.000"}, False),
        ({**HTML, "authorization": "Bearer podium_x"}, False),
    ],
)
def test_who_wants_a_page(headers: dict[str, str], page: bool) -> None:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    assert prefers_page({"type": "http", "headers": raw}) is page


@pytest.mark.parametrize("accept", ["*/*", "application/json", None])
def test_errors_of_programs_are_json_at_every_address(here: World, accept: str | None) -> None:
    browser = Browser(here)
    del browser.client.headers["accept"]
    if accept is not None:
        browser.client.headers["accept"] = accept
    paths = [(method, _path(route)) for method, route, least, _ in MATRIX if least is not None]
    for method, path in [*paths, ("GET", "/nothing"), ("PUT", "/datasets"), ("GET", "/datasets/%20")]:
        answer = browser.client.request(method, path)
        assert answer.status_code in (401, 404, 405, 422), path
        assert answer.headers["content-type"] == "application/problem+json", path
        assert answer.json()["error"], path


def test_the_address_of_the_api_has_a_page_for_people(here: World) -> None:
    visitor = Browser(here).get("/v1")
    assert visitor.status_code == 200
    document: dict[str, Any] = here.app.openapi()
    for path in document["paths"]:
        assert (f"<code>{path}</code>" in visitor.text) == path.startswith("/v1"), path
    assert "/v1/datasets/DATASET/releases" in visitor.text
    assert "/v1/datasets/views/releases" in signed_in(here, "viewer").get("/v1").text
    # What programs get there does not change.
    assert here.call("GET", "/v1", who=None).status_code == 401
    assert here.call("GET", "/v1").json()["service"] == "podium"
    assert here.call("GET", "/v1", Accept="text/html").json()["service"] == "podium"
    assert "/v1" in document["paths"]
    assert Browser(here).client.post("/v1").status_code == 405


def test_a_live_plan_is_a_part_of_a_page(here: World) -> None:
    browser = signed_in(here, "analyst")
    shown = browser.get("/datasets/views/live?item=article&k=3").text
    assert "<html" not in shown
    assert "uses 5 % · 95 % left" in shown
    assert "You could still afford k = " in shown
    assert "is not a column" in browser.get("/datasets/views/live?item=articel&k=3").text
    assert "<script" not in browser.get("/datasets/views/live?item=%3Cscript%3E&k=3").text
    assert browser.get("/datasets/views/live?item=article&k=3&epsilon=1").text.count("afford") == 0
    here.service.live_plans._per_minute = 2
    codes = {browser.get("/datasets/views/live?item=article&k=3").status_code for _ in range(4)}
    assert codes == {200, 429}
    # Who typed too fast may still see the next page.
    assert browser.get("/datasets/views/preview?item=article&k=3").status_code == 200


def test_a_token_for_several_data_sets_and_a_question_before_it_is_revoked(here: World) -> None:
    browser = signed_in(here, "owner")
    form = {"csrf": browser.csrf, "token_name": "both", "role": "viewer", "days": "3"}
    scopes = "&scope=views&scope=%2A"
    made = browser.client.post(
        "/owner/tokens", content="&".join(f"{name}={value}" for name, value in form.items()) + scopes,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )  # fmt: skip
    assert made.status_code == 201
    token = next(one for one in here.service.tokens.all() if one.name == "both")
    assert token.datasets == ("views", "*")
    none = browser.post("/owner/tokens", browser.csrf, token_name="none", role="viewer", days="3")
    assert none.status_code == 422
    place = f"/owner/tokens/{token.id}/revoke"
    assert f'href="{place}"' in browser.get("/owner").text
    assert "Revoke the token of both?" in browser.get(place).text
    assert here.service.tokens.get(token.id).valid  # type: ignore[union-attr]
    assert browser.post(place, browser.csrf).status_code == 303
    assert not here.service.tokens.get(token.id).valid  # type: ignore[union-attr]

"""The pages without a browser: every page for every role, forms that others planted, sessions that ended."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from tests.support.serving import BUDGET, RANKING, World, views, votes, world

from podium.service.pages import answer_pages, api_pages, ask_pages, job_pages, link_pages, main_pages, owner_pages
from podium.service.store.tokens import Role

ID = "0" * 32
ENTRY = "0" * 64
HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

# method, route, the least role (None: no session is needed), and what somebody with that role gets.
MATRIX: list[tuple[str, str, Role | None, int]] = [
    ("GET", "/", None, 303),
    ("GET", "/sign-in", None, 200),
    ("POST", "/sign-in", None, 403),
    # From this computer only; a test client is not on it.
    ("GET", "/sign-in/link", None, 403),
    ("POST", "/sign-in/link", None, 403),
    ("GET", "/about", None, 200),
    ("GET", "/v1", None, 200),
    ("POST", "/sign-out", Role.VIEWER, 303),
    ("GET", "/about.json", Role.VIEWER, 200),
    ("GET", "/datasets", Role.VIEWER, 200),
    ("GET", "/datasets.json", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}.json", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}/ledger", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}/ledger.json", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}/ledger.svg", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}/verify", Role.VIEWER, 200),
    ("GET", "/datasets/{dataset}/ask", Role.ANALYST, 200),
    ("GET", "/datasets/{dataset}/rank", Role.ANALYST, 200),
    ("GET", "/datasets/{dataset}/preview", Role.ANALYST, 422),
    ("GET", "/datasets/{dataset}/live", Role.ANALYST, 200),
    ("POST", "/datasets/{dataset}/ask", Role.ANALYST, 422),
    ("GET", "/datasets/{dataset}/releases/{entry}", Role.VIEWER, 404),
    ("GET", "/datasets/{dataset}/releases/{entry}.card.json", Role.VIEWER, 404),
    ("GET", "/datasets/{dataset}/releases/{entry}.{suffix}", Role.VIEWER, 404),
    ("GET", "/jobs/{id_}", Role.VIEWER, 404),
    ("GET", "/jobs/{id_}.json", Role.VIEWER, 404),
    ("GET", "/jobs/{id_}/events", Role.VIEWER, 404),
    ("POST", "/jobs/{id_}/cancel", Role.ANALYST, 404),
    ("GET", "/owner", Role.OWNER, 200),
    ("GET", "/owner/datasets/{dataset}", Role.OWNER, 200),
    ("POST", "/owner/datasets", Role.OWNER, 422),
    ("POST", "/owner/datasets/{dataset}/total", Role.OWNER, 422),
    ("POST", "/owner/datasets/{dataset}/data-version", Role.OWNER, 422),
    ("POST", "/owner/datasets/{dataset}/unlock", Role.OWNER, 303),
    ("POST", "/owner/tokens", Role.OWNER, 422),
    ("GET", "/owner/tokens/{id_}/revoke", Role.OWNER, 404),
    ("POST", "/owner/tokens/{id_}/revoke", Role.OWNER, 404),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "more").mkdir()
    views(folder / "more" / "more.parquet", users=500)
    with world(folder, registration="more") as made:
        yield made


class Browser:
    """Cookies and forms, as a browser without scripts has them."""

    def __init__(self, here: World) -> None:
        self.client = TestClient(here.app, base_url="http://testserver", follow_redirects=False, headers=HTML)

    def get(self, path: str) -> Any:
        return self.client.get(path)

    def token_in(self, page: str) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)
        return "" if found is None else found[1]

    def post(self, path: str, csrf: str, **fields: str) -> Any:
        return self.client.post(path, content=urlencode({"csrf": csrf, **fields}), headers=FORM)

    def sign_in(self, secret: str, target: str = "/") -> Any:
        return self.post("/sign-in", self.token_in(self.get("/sign-in").text), token=secret, next=target)

    @property
    def csrf(self) -> str:
        return self.token_in(self.get("/about").text)

    @property
    def session(self) -> str | None:
        return self.client.cookies.get("podium_session")


def signed_in(here: World, role: str) -> Browser:
    browser = Browser(here)
    assert browser.sign_in(here.give(f"page {role}", role)).status_code == 303
    return browser


def _path(route: str) -> str:
    return route.format(dataset="views", id_=ID, entry=ENTRY, suffix="csv")


def test_the_matrix_knows_every_page() -> None:
    all_pages = (main_pages, link_pages, ask_pages, job_pages, answer_pages, owner_pages, api_pages)
    routes = [route for pages in all_pages for route in pages.router.routes]
    real = {(method, route.path) for route in routes if isinstance(route, APIRoute) for method in route.methods or ()}
    assert {(method, route) for method, route, *_ in MATRIX} == real


@pytest.mark.parametrize("role", list(Role))
def test_each_role_sees_its_pages(here: World, role: Role) -> None:
    for method, route, least, status in MATRIX:
        browser = signed_in(here, role.value)
        path = _path(route)
        answer = browser.get(path) if method == "GET" else browser.post(path, browser.csrf)
        wanted = status if least is None or role.covers(least) else 403
        assert answer.status_code == wanted, (method, route, answer.text[:500])


def test_without_a_session_pages_lead_to_the_sign_in(here: World) -> None:
    for method, route, least, _ in MATRIX:
        if least is None:
            continue
        browser = Browser(here)
        answer = browser.get(_path(route)) if method == "GET" else browser.post(_path(route), "0" * 64)
        if method == "GET" and not re.search(r"\.(json|svg|csv)$|/events$", _path(route)):
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/sign-in?next=")
        else:
            assert answer.status_code == 401


def test_out_of_scope_pages_do_not_exist(here: World) -> None:
    browser = Browser(here)
    browser.sign_in(here.give("elsewhere", "owner", "elsewhere"))
    for method, route, _, _ in MATRIX:
        if "{dataset}" in route:
            answer = browser.get(_path(route)) if method == "GET" else browser.post(_path(route), browser.csrf)
            assert answer.status_code == 404, route


def test_every_form_needs_its_token(here: World) -> None:
    for method, route, least, _ in MATRIX:
        if method == "GET" or least is None:
            continue
        browser = signed_in(here, "owner")
        other = signed_in(here, "owner")
        for wrong in ("", "0" * 64, other.csrf, "\x00"):
            answer = browser.post(_path(route), wrong)
            assert answer.status_code == 403, route
            assert "The form was not sent from a page of this session." in answer.text
        headers = {**FORM, "Sec-Fetch-Site": "cross-site"}
        foreign = browser.client.post(_path(route), content=urlencode({"csrf": browser.csrf}), headers=headers)
        assert foreign.status_code == 403
        assert browser.get("/datasets").status_code == 200


def test_signing_in_needs_a_form_of_this_browser(here: World) -> None:
    victim, attacker = Browser(here), Browser(here)
    planted = attacker.token_in(attacker.get("/sign-in").text)
    victim.get("/sign-in")
    assert victim.post("/sign-in", planted, token=here.give("page owner", "owner")).status_code == 403
    assert victim.session is None


def test_a_planted_session_is_not_taken_over(here: World) -> None:
    browser = Browser(here)
    browser.client.cookies.set("podium_session", "f" * 64, domain="testserver.local", path="/")
    browser.sign_in(here.give("page analyst", "analyst"))
    first = browser.session
    assert first not in (None, "f" * 64)
    assert browser.get("/datasets").status_code == 200
    browser.sign_in(here.give("page analyst", "analyst"))
    # A second sign-in ends the first session, also for whoever copied its cookie.
    thief = Browser(here)
    thief.client.cookies.set("podium_session", str(first))
    assert thief.get("/datasets").status_code == 303


def test_signing_out_ends_the_session_everywhere(here: World) -> None:
    browser = signed_in(here, "viewer")
    copied = browser.session
    assert browser.post("/sign-out", browser.csrf).status_code == 303
    thief = Browser(here)
    thief.client.cookies.set("podium_session", str(copied))
    assert thief.get("/datasets").status_code == 303


def test_revoking_a_token_ends_its_sessions(here: World) -> None:
    secret, token = here.service.tokens.create("leaver", role="analyst", datasets=["*"])
    browser = Browser(here)
    browser.sign_in(secret)
    assert browser.get("/datasets").status_code == 200
    here.service.tokens.revoke(token.id)
    assert browser.get("/datasets").status_code == 303
    assert browser.sign_in(secret).status_code == 401
    assert here.client.get("/v1", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_cookies_are_out_of_reach_of_scripts(here: World) -> None:
    browser = Browser(here)
    cookies = browser.sign_in(here.give("page viewer", "viewer")).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("podium_session="))
    assert "HttpOnly" in session
    assert "samesite=lax" in session.lower()


def test_with_https_cookies_stay_with_https(tmp_path_factory: pytest.TempPathFactory) -> None:
    server = {"public_url": "https://podium.example"}
    with world(tmp_path_factory.mktemp("secure"), server=server) as here:
        answer = here.client.get("https://testserver/sign-in")
        assert "__Host-podium_sign_in=" in answer.headers["set-cookie"]
        assert "Secure" in answer.headers["set-cookie"]
        assert "strict-transport-security" in answer.headers


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "x", "/a\nb"])
def test_signing_in_leads_nowhere_else(here: World, target: str) -> None:
    assert Browser(here).sign_in(here.give("page viewer", "viewer"), target).headers["location"] == "/"


def test_what_callers_write_is_text(here: World) -> None:
    browser = signed_in(here, "analyst")
    answer = browser.get("/datasets/views/preview?item=%3Cscript%3Ealert(1)%3C/script%3E&k=3")
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_a_release_can_be_taken_along_in_every_form(here: World) -> None:
    asked = here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": 2}).json()
    browser = signed_in(here, "analyst")
    place = f"/datasets/views/releases/{asked['entry']}"
    links = re.findall(r'href="([^"]+)" download', browser.get(place).text)
    assert [link.removeprefix(f"{place}.") for link in links] == ["json", "csv", "parquet", "card.json"]
    assert [browser.get(link).status_code for link in links] == [200] * 4
    assert browser.get(links[-1]).json()["card"] == "podium release card"
    wrong = browser.get(f"{place}.pdf")
    assert wrong.status_code == 422
    assert "json, csv, parquet, svg or card.json" in wrong.text


def test_a_page_offers_to_ask_again_only_what_is_free(here: World) -> None:
    """What was requested is said in what is offered; where the entry does not tell all of it, nothing is offered."""
    browser = signed_in(here, "analyst")
    for body, offered in (
        ({"item": "article", "k": 3}, '"article", k=3)'),
        ({"item": "article", "k": 3, "k_bar": 40}, '"article", k=3, k_bar=40)'),
        ({"item": "article", "k": 3, "mechanism": "adaptive"}, '"article", k=3, mechanism="adaptive")'),
        (
            {"item": "weekday", "k": 2, "domain_size": 7, "ordered": False},
            '"weekday", k=2, domain_size=7)',
        ),
        ({"item": "article", "k": 3, "epsilon": "0.1"}, '"article", k=3, epsilon="1/10")'),
        ({"item": "article", "k": 2, "domain": ["a0", "a1", "a2"]}, None),
    ):
        asked = here.call("POST", "/v1/datasets/views/releases", body).json()
        page = html.unescape(browser.get(f"/datasets/views/releases/{asked['entry']}").text).replace("'", '"')
        assert ("Repeating the question is free" in page) == (offered is not None)
        if offered is not None:
            assert offered in page
            sent = json.loads(re.findall(r"-d \"(\{.*\})\"", page)[0])
            assert here.call("POST", "/v1/datasets/views/releases", sent).json()["paid"] == []


def test_a_ranking_has_a_page_and_files(tmp_path: Path) -> None:
    """Its column is called item: it is neither of the two that are compared."""
    votes(tmp_path / "votes.parquet")
    stated = {"votes": {"source": "votes.parquet", "user": "voter", "budget": {**BUDGET, "epsilon": 40}}}
    with world(tmp_path, datasets=stated) as here:
        asked = here.call("POST", "/v1/datasets/votes/releases", {**RANKING, "epsilon": "20"}).json()
        assert asked["outcome"] == ["f0", "f1"]
        place = f"/datasets/votes/releases/{asked['entry']}"
        browser = signed_in(here, "analyst")
        page = browser.get(place)
        assert page.status_code == 200
        assert "top 2 of a ranking of better over worse" in page.text
        assert "Repeating the question is free" not in page.text
        assert browser.get(f"{place}.csv").text.splitlines() == ['"rank","item"', '1,"f0"', '2,"f1"']
        assert here.call("GET", f"/v1{place}?format=csv").text == browser.get(f"{place}.csv").text
        for suffix in ("json", "parquet", "svg", "card.json"):
            assert browser.get(f"{place}.{suffix}").status_code == 200


def test_what_is_previewed_can_be_confirmed(here: World) -> None:
    browser = signed_in(here, "analyst")
    blank = browser.get("/datasets/views/preview?item=article&k=2&epsilon=%200.5%20")
    assert blank.status_code == 200
    question = re.search(r'name="question" value="([^"]+)"', blank.text)
    assert question is not None
    assert json.loads(html.unescape(question[1]))["epsilon"] == "0.5"
    signed = browser.get("/datasets/views/preview?item=article&k=2&epsilon=%2B1")
    assert signed.status_code == 422
    assert "a number without a sign" in signed.text


def test_an_account_with_a_gaussian_filter_has_pages_like_any_other(tmp_path: Path) -> None:
    with world(tmp_path, budget={**BUDGET, "filter": "gaussian"}) as here:
        browser = signed_in(here, "owner")
        asked = browser.get("/datasets/views/preview?item=article&k=2")
        assert re.search(r"<dt>charged at most</dt><dd>mu\^2 [0-9.e-]+ and delta [0-9.e-]+</dd>", asked.text)
        assert re.search(r"<dt>left now</dt><dd>mu\^2 [0-9.e-]+ and delta ", asked.text)
        answer = here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": 2})
        assert answer.status_code == 200
        status = here.call("GET", "/v1/datasets/views/budget", who="olga").json()
        assert set(status["spent"]) == {"mu_squared", "delta"}
        assert "mu^2" in browser.get("/datasets/views/ledger").text
        fields = {name: str(value) for name, value in BUDGET.items()}
        raised = browser.post("/owner/datasets/views/total", browser.csrf, **{**fields, "epsilon": "9"})
        assert raised.status_code == 303
        assert "gaussian" in json.dumps(here.call("GET", "/v1/datasets/views/budget", who="olga").json()["total"])


def test_one_data_set_that_cannot_be_opened_does_not_hide_the_others(tmp_path: Path) -> None:
    """The totals in the file were changed by hand: its registration says otherwise."""
    datasets = {"views": {"source": "views.parquet", "user": "user_id", "budget": BUDGET}}
    with world(tmp_path, datasets=datasets):
        pass
    views(tmp_path / "others.parquet")
    changed = {
        "views": {**datasets["views"], "budget": {**BUDGET, "epsilon": 2}},
        "others": {**datasets["views"], "source": "others.parquet"},
    }
    with world(tmp_path, datasets=changed) as here:
        listed = here.call("GET", "/v1/datasets").json()["datasets"]
        assert [one["name"] for one in listed] == ["views", "others"]
        assert "is registered" in listed[0]["unavailable"]
        assert listed[1]["budget"]


def test_an_owner_registers_raises_relabels_and_gives_tokens(here: World) -> None:
    browser = signed_in(here, "owner")
    fields = {name: str(value) for name, value in BUDGET.items()}
    made = browser.post("/owner/datasets", browser.csrf, name="more", source="more.parquet", user="user_id", **fields)
    assert made.headers["location"] == "/datasets/more"
    assert "everything released about &#39;more&#39; together is" in browser.get("/datasets/more").text
    for name, source in (("again", "../views.parquet"), ("more", "more.parquet"), ("bad name", "more.parquet")):
        refused = browser.post("/owner/datasets", browser.csrf, name=name, source=source, user="user_id", **fields)
        assert refused.status_code == 422
    raised = browser.post("/owner/datasets/more/total", browser.csrf, **{**fields, "epsilon": "5"})
    assert raised.status_code == 303
    lowered = browser.post("/owner/datasets/more/total", browser.csrf, **fields)
    assert "A total can be raised, never lowered" in lowered.text
    assert browser.post("/owner/datasets/more/data-version", browser.csrf, data_version="2026-11").status_code == 303
    page = browser.get("/owner/datasets/more").text
    assert "version 2026-11" in page
    assert "the total was raised 1 time" in page
    token = browser.post("/owner/tokens", browser.csrf, token_name="newcomer", role="viewer", scope="more", days="3")
    secret = re.search(r"podium_[A-Za-z0-9_-]{43}", token.text)
    assert secret is not None
    newcomer = Browser(here)
    newcomer.sign_in(secret[0])
    assert newcomer.get("/datasets/more").status_code == 200
    assert newcomer.get("/datasets/views").status_code == 404
    assert secret[0] not in browser.get("/owner").text

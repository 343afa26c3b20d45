"""Sign-in links: once, for ten minutes, on this computer, and nobody else learns the code."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests.support.serving import World, settings_for
from tests.unit.service.test_pages import FORM, HTML, Browser

from podium.service.app import create_app
from podium.service.store.database import now
from podium.service.store.sign_in_links import LINK_SECONDS
from podium.service.store.tokens import Token

HERE = "http://127.0.0.1:8000"


def _owner(here: World) -> Token:
    here.give("olga", "owner")
    return next(one for one in here.service.tokens.all() if one.name == "olga" and one.valid)


def _code(here: World, target: str = "/datasets/views/ask") -> str:
    return here.service.links.create(_owner(here), target)


class Local(Browser):
    """A browser on the computer where the service runs."""

    def __init__(self, here: World, *, host: str = HERE, caller: str = "127.0.0.1", **headers: str) -> None:
        self.client = TestClient(here.app, base_url=host, client=(caller, 50_000), follow_redirects=False,
                                 headers={**HTML, **headers})  # fmt: skip

    def open(self, code: str) -> Any:
        return self.get(f"/sign-in/link?code={code}")

    def use(self, code: str) -> Any:
        return self.post("/sign-in/link", self.token_in(self.open(code).text), code=code)


def test_a_link_signs_in_once_and_leads_on(here: World) -> None:
    code = _code(here)
    first = Local(here)
    assert first.use(f"{int(code, 16) ^ 1:064x}").status_code == 401
    answer = first.use(code)
    assert (answer.status_code, answer.headers["location"]) == (303, "/datasets/views/ask")
    assert first.get("/owner").status_code == 200
    again = Local(here).use(code)
    assert again.status_code == 401
    assert "works once, for ten minutes" in again.text


def test_opening_a_link_uses_nothing_up_and_tells_nothing(here: World) -> None:
    code = _code(here)
    pages = {one: Local(here).open(one) for one in (code, "0" * 64)}
    shown = {
        one: page.text.replace(one, "").replace(Local(here).token_in(page.text), "") for one, page in pages.items()
    }
    assert shown[code] == shown["0" * 64]
    assert "no-store" in pages[code].headers["cache-control"]
    assert pages[code].headers["referrer-policy"] == "no-referrer"
    assert Local(here).use(code).status_code == 303


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"caller": "192.0.2.7"},
        {"host": "http://podium.example:8000"},
        # A name of the attacker's that is given the address of this computer.
        {"host": "http://127.0.0.1.evil.example:8000"},
        {"X-Forwarded-For": "192.0.2.7"},
        {"Forwarded": "for=192.0.2.7"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9000"},
    ],
)
def test_a_link_works_on_this_computer_only(here: World, elsewhere: dict[str, str]) -> None:
    code = _code(here)
    other = Local(here, **elsewhere)
    refused = other.open(code)
    assert refused.status_code == 403
    assert "on the computer where the service runs" in refused.text
    assert code not in refused.text
    assert other.post("/sign-in/link", "0" * 64, code=code).status_code == 403
    assert Local(here).use(code).status_code == 303


@pytest.mark.parametrize("host", ["http://localhost:8000", "http://[::1]:8000", HERE])
def test_the_names_of_this_computer(here: World, host: str) -> None:
    assert Local(here, host=host).use(_code(here)).status_code == 303


def test_another_page_cannot_use_a_link(here: World) -> None:
    code = _code(here)
    victim = Local(here)
    planted = Local(here)
    form = planted.token_in(planted.open(code).text)
    assert victim.post("/sign-in/link", form, code=code).status_code == 403
    victim.open(code)
    assert victim.post("/sign-in/link", form, code=code).status_code == 403
    own = victim.token_in(victim.open(code).text)
    headers = {**FORM, "Sec-Fetch-Site": "cross-site"}
    content = urlencode({"csrf": own, "code": code})
    assert victim.client.post("/sign-in/link", content=content, headers=headers).status_code == 403
    assert victim.use(code).status_code == 303


def test_a_link_ends(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    code, later = _code(here), now() + LINK_SECONDS + 1
    monkeypatch.setattr("podium.service.store.sign_in_links.now", lambda: later)
    assert here.service.links.use(code) is None
    monkeypatch.undo()
    code, following = _code(here), _code(here)
    # A new link for the same token voids the one before.
    assert here.service.links.use(code) is None
    here.service.tokens.revoke(_owner(here).id)
    assert here.service.links.use(following) is None
    del here.secrets["olga"]


def test_of_two_requests_at_once_one_signs_in(here: World) -> None:
    for _ in range(5):
        code = _code(here)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _, code=code: here.service.links.use(code), range(8)))
        assert sum(one is not None for one in found) == 1


def test_a_code_is_nowhere_but_in_the_link(here: World, caplog: pytest.LogCaptureFixture) -> None:
    code = _code(here)
    logger = logging.getLogger("podium.service")
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.INFO, "podium.service"):
            assert Local(here).use(code).status_code == 303
            assert Local(here).use(code).status_code == 401
    finally:
        logger.removeHandler(caplog.handler)
    assert caplog.records
    assert all(code not in str(vars(record)) for record in caplog.records)
    stored = here.service.state.rows("SELECT hash FROM service_links")
    assert all(code not in row for row in stored)
    assert code not in here.service.metrics.text()


def test_guessing_is_limited(tmp_path: Path) -> None:
    limits = {"failures_per_minute": 3}
    app = create_app(settings_for(tmp_path, limits=limits))
    with TestClient(app, base_url=HERE):
        made = World(app, TestClient(app))
        codes = [Local(made).use(f"{number:064x}").status_code for number in range(4)]
        assert codes == [401, 401, 401, 429]

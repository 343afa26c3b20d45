"""Who may do what: every route of the API, for every role, in and out of scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from tests.support.serving import BUDGET, World, views, world

from podium.service.api import job_routes, owner_routes, routes
from podium.service.store.database import now
from podium.service.store.tokens import Role

ENTRY = "0" * 64
ID = "0" * 32
BATCH = {"questions": [{"item": "article", "k": 2}]}
OUTSIDE, FORBIDDEN, NO_TOKEN = 404, 403, 401

# method, route, body, the least role, and what somebody with that role gets.
MATRIX: list[tuple[str, str, Any, Role, int]] = [
    ("GET", "/v1", None, Role.VIEWER, 200),
    ("GET", "/v1/datasets", None, Role.VIEWER, 200),
    ("GET", "/v1/datasets/{dataset}", None, Role.VIEWER, 200),
    ("POST", "/v1/datasets/{dataset}/plan", {"item": "article", "k": 2}, Role.ANALYST, 200),
    ("POST", "/v1/datasets/{dataset}/releases", {"item": "article", "k": 2}, Role.ANALYST, 200),
    ("POST", "/v1/datasets/{dataset}/batch/plan", BATCH, Role.ANALYST, 200),
    ("POST", "/v1/datasets/{dataset}/batch", BATCH, Role.ANALYST, 200),
    ("GET", "/v1/datasets/{dataset}/releases", None, Role.VIEWER, 200),
    ("GET", "/v1/datasets/{dataset}/releases/{entry}", None, Role.VIEWER, 404),
    ("GET", "/v1/datasets/{dataset}/budget", None, Role.VIEWER, 200),
    ("GET", "/v1/datasets/{dataset}/history", None, Role.VIEWER, 200),
    ("GET", "/v1/datasets/{dataset}/verification", None, Role.VIEWER, 200),
    ("GET", "/v1/jobs/{id_}", None, Role.ANALYST, 404),
    ("DELETE", "/v1/jobs/{id_}", None, Role.ANALYST, 404),
    ("GET", "/v1/jobs/{id_}/events", None, Role.ANALYST, 404),
    ("POST", "/v1/datasets/{dataset}/total", BUDGET, Role.OWNER, 200),
    ("POST", "/v1/datasets/{dataset}/data-version", {"data_version": "2"}, Role.OWNER, 200),
    ("POST", "/v1/datasets/{dataset}/unlock", None, Role.OWNER, 200),
    ("GET", "/v1/tokens", None, Role.OWNER, 200),
    ("POST", "/v1/tokens", {"name": "x", "role": "viewer", "datasets": ["views"]}, Role.OWNER, 201),
    ("DELETE", "/v1/tokens/{id_}", None, Role.OWNER, 404),
    # An owner of some data sets may not add others; the scope * is tried below.
    ("POST", "/v1/datasets", {"name": "n", "source": "s", "user": "u", "budget": BUDGET}, Role.OWNER, 403),
]
ROWS = pytest.mark.parametrize(("method", "route", "body", "least", "status"), MATRIX)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("service")
    views(folder / "other.parquet", users=10)
    datasets = {
        "views": {"source": "views.parquet", "user": "user_id", "budget": BUDGET},
        "other": {"source": "other.parquet", "user": "user_id", "budget": BUDGET},
    }
    with world(folder, datasets=datasets) as made:
        for role in Role:
            made.give(role.value, role.value, "views")
            made.give(f"outside {role.value}", role.value, "other")
        made.give("all", "owner", "*")
        yield made


def _path(route: str) -> str:
    return route.format(dataset="views", entry=ENTRY, id_=ID)


def test_the_matrix_knows_every_route() -> None:
    served = [*routes.router.routes, *job_routes.router.routes, *owner_routes.router.routes]
    real = {(method, route.path) for route in served if isinstance(route, APIRoute) for method in route.methods or ()}
    assert {(method, route) for method, route, *_ in MATRIX} == real


@ROWS
def test_nobody_gets_in_without_a_valid_token(
    here: World, method: str, route: str, body: Any, least: Role, status: int
) -> None:
    for headers in ({}, {"Authorization": "Bearer podium_wrong"}, {"Authorization": "Basic YTpi"}):
        answer = here.client.request(method, _path(route), json=body, headers=headers)
        assert answer.status_code == NO_TOKEN
        assert answer.headers["www-authenticate"] == 'Bearer realm="podium"'
        assert answer.json()["detail"] == (
            "The request has no valid token. A token is sent as 'Authorization: Bearer podium_...'. "
            "Ask the owner for one, or for a new one if it has expired."
        )


@ROWS
def test_each_role_may_do_what_it_should(
    here: World, method: str, route: str, body: Any, least: Role, status: int
) -> None:
    for role in Role:
        answer = here.call(method, _path(route), body, who=role.value)
        assert answer.status_code == (status if role.covers(least) else FORBIDDEN), (role, answer.text)


@pytest.mark.parametrize(("method", "route", "body"), [row[:3] for row in MATRIX if "{dataset}" in row[1]])
def test_outside_its_scope_a_token_sees_nothing(here: World, method: str, route: str, body: Any) -> None:
    absent = here.call(method, route.format(dataset="absent", entry=ENTRY, id_=ID), body, who="all")
    for role in Role:
        answer = here.call(method, _path(route), body, who=f"outside {role.value}")
        assert answer.status_code == OUTSIDE
        # As if it did not exist: the same words, but for its name.
        assert answer.json()["detail"].replace("'views'", "'absent'") == absent.json()["detail"]


def test_lists_hold_what_is_in_scope(here: World) -> None:
    assert here.call("GET", "/v1", who="outside viewer").json()["datasets"] == ["other"]
    names = [one["name"] for one in here.call("GET", "/v1/datasets", who="viewer").json()["datasets"]]
    assert names == ["views"]
    scopes = {tuple(one["datasets"]) for one in here.call("GET", "/v1/tokens", who="outside owner").json()["tokens"]}
    assert scopes == {("other",)}


def test_an_owner_gives_and_revokes_within_the_own_scope(here: World) -> None:
    wide = {"name": "x", "role": "viewer", "datasets": ["views", "other"]}
    assert here.call("POST", "/v1/tokens", wide, who="owner").status_code == FORBIDDEN
    star = here.call("POST", "/v1/tokens", {**wide, "datasets": ["*"]}, who="owner")
    assert star.json()["detail"] == (
        "This token may not give access to *. Allowed: tokens for views, or for some of these. Ask the owner."
    )
    made = here.call("POST", "/v1/tokens", wide, who="all").json()
    assert here.call("DELETE", f"/v1/tokens/{made['id']}", who="owner").status_code == OUTSIDE
    assert here.client.get("/v1", headers={"Authorization": f"Bearer {made['secret']}"}).status_code == 200
    assert here.call("DELETE", f"/v1/tokens/{made['id']}", who="all").status_code == 200
    assert here.client.get("/v1", headers={"Authorization": f"Bearer {made['secret']}"}).status_code == NO_TOKEN


def test_an_expired_token_opens_nothing(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    here.give("short", "viewer", "views", days=1)
    assert here.call("GET", "/v1", who="short").status_code == 200
    later = now() + 86_401
    monkeypatch.setattr("podium.service.store.tokens.now", lambda: later)
    assert here.call("GET", "/v1", who="short").status_code == NO_TOKEN


def test_jobs_belong_to_their_asker(here: World) -> None:
    here.give("second", "analyst", "views")
    started = here.call(
        "POST", "/v1/datasets/views/releases", {"item": "country", "k": 1}, who="analyst", Prefer="respond-async"
    )
    place = started.headers["location"]
    for method, path in (("GET", place), ("DELETE", place), ("GET", f"{place}/events")):
        assert here.call(method, path, who="second").status_code == OUTSIDE
        assert here.call(method, path, who="all").status_code == OUTSIDE


def test_secrets_are_not_stored(here: World) -> None:
    secret = here.give("analyst")
    stored = here.service.state.rows("SELECT * FROM service_tokens")
    assert stored
    assert not any(
        secret in str(value) or secret.removeprefix("podium_") in str(value) for row in stored for value in row
    )


def test_a_token_is_not_given_for_what_is_not_there(here: World) -> None:
    here.give("olga", "owner")
    body = {"name": "ben", "role": "analyst", "datasets": ["nope"], "days": 3}
    refused = here.call("POST", "/v1/tokens", body, who="olga")
    assert (refused.status_code, refused.json()["name"]) == (422, "dataset")
    assert refused.json()["allowed"].startswith("* for all, or one of: views")
    assert all(one.name != "ben" for one in here.service.tokens.all())

"""Whatever the OpenAPI document allows, and much that it does not, is answered without a failure of the server."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok
from tests.support.serving import World, world

EXAMPLES = 18


def test_no_request_makes_the_server_fail(tmp_path: Path) -> None:
    with world(tmp_path, budget={"epsilon": 20, "delta": "1e-4", "items": 2_000, "questions": 500}) as here:
        here.give("olga", "owner")
        schema = schemathesis.openapi.from_asgi("/openapi.json", here.app)
        seen: Counter[int] = Counter()
        for operation in schema.get_all_operations():
            assert isinstance(operation, Ok)
            _try(here, operation.ok(), seen)
        assert sum(seen.values()) > 300
        # Requests got through to the routes, not only to the guard at the door.
        assert seen[200] > 20
        assert seen[422] > 20
        assert max(seen) < 500


def _try(here: World, operation: Any, seen: Counter[int]) -> None:
    strategy = operation.as_strategy()

    @given(case=strategy)
    @settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def check(case: Any) -> None:
        headers = {
            name: str(value)
            for name, value in (case.headers or {}).items()
            if _sendable(name) and _sendable(str(value))
        }
        headers["Authorization"] = f"Bearer {here.give('olga')}"
        path = case.formatted_path.replace("{dataset}", "views")
        for made_up in _datasets(case):
            path = path.replace(f"/datasets/{made_up}", "/datasets/views") if made_up else path
        body = case.body if isinstance(case.body, (dict, list, str, int, float, bool, type(None))) else None
        try:
            content = json.dumps(body).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError):
            content = b"null"
        headers["Content-Type"] = "application/json"
        answer = here.client.request(case.method, path, content=content, params=_plain(case.query), headers=headers)
        seen[answer.status_code] += 1
        assert answer.status_code < 500, (case.method, path, body, answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"]

    check()


def _datasets(case: Any) -> list[str]:
    """Half of the requests go to the data set there is, the others to what was made up."""
    name = (case.path_parameters or {}).get("dataset")
    return [str(name)] if name is not None and len(str(name)) % 2 else []


def _plain(query: Any) -> dict[str, Any]:
    return {str(name): value for name, value in (query or {}).items() if not isinstance(value, dict)}


def _sendable(text: str) -> bool:
    return text.isascii() and text.isprintable() and bool(text)

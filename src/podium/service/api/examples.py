"""Example responses for OpenAPI."""

from __future__ import annotations

from typing import Any, Final

from podium.wire.problems import MEDIA_TYPE

__all__ = ["PROBLEMS", "RELEASE", "example"]

_PROBLEM_SCHEMA: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "error"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "error": {"type": "string"},
    },
}
_EXCEEDED: Final = {
    "type": "urn:podium:error:BudgetExceeded",
    "title": "Conflict",
    "status": 409,
    "detail": "this release may cost rho=0.05 but 'views' has rho=0.031 left (short by 0.019). Only 6 of the 10 items "
    "would fit: ask for fewer, or lower epsilon; 'podium budget show views' lists what was spent.",
    "instance": "urn:podium:request:8d1f0c55a2f04c58b1a6f7f0b6f2c0a1",
    "error": "BudgetExceeded",
    "measure": "rho",
    "requested": "1/20",
    "remaining": "31/1000",
}
_TEXTS: Final = {
    401: "No valid token.",
    403: "The role or scope of the token does not permit it.",
    404: "Not found, or outside the token's scope.",
    409: "Refused by the budget, or in conflict with an idempotency key.",
    413: "The body is too large.",
    422: "The question is not valid; nothing was charged.",
    423: "Locked after too many failed questions; the owner must unlock it.",
    429: "Too many requests.",
    500: "The question failed after rows may have been read; its reservation is forfeited.",
    503: "The ledger, the data or the service is not available; nothing was charged.",
}


def _problem(text: str, shown: dict[str, Any] | None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": _PROBLEM_SCHEMA}
    if shown is not None:
        content["example"] = shown
    return {"description": text, "content": {MEDIA_TYPE: content}}


PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: _problem(text, _EXCEEDED if status == 409 else None) for status, text in _TEXTS.items()
}


def example(shown: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """A successful response with this example."""
    return {200: {"content": {"application/json": {"example": shown}}}}


RELEASE: Final = example(
    {
        "format": 1,
        "mechanism": "LimitedDomain",
        "parameters": {"k": "3", "k_bar": "60", "epsilon_per_item": "1/20", "delta": "1/100000000"},
        "k": 3,
        "ordered": True,
        "outcome": ["alps", "bears", {"bottom": True}],
        "complete": False,
        "values": None,
        "value_kind": None,
        "paid": [],
        "guarantee": {},
        "theorem": "...",
        "entry": "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
    }
)

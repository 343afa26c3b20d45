"""Plans and releases as JSON objects, the same from the command line and from the service; exact numbers are text."""

from __future__ import annotations

import json
from typing import Any

from podium.curator import Preview
from podium.mechanisms.base import describe
from podium.planning.planner import Plan
from podium.privacy import worst_case
from podium.release import Release

__all__ = ["json_text", "plan_document", "preview_document", "release_document"]


def json_text(document: object, *, indent: int | None = None) -> str:
    """JSON that a terminal shows and does not obey: signs that cannot be seen are written as their numbers."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if all(sign.isprintable() or sign == "\n" for sign in text):
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def release_document(release: Release) -> dict[str, Any]:
    """What ``Release.to_dict`` says, and the ledger's entry that settled it, also where there is none."""
    return {**release.to_dict(), "entry": release.paid.entry}


def plan_document(plan: Plan) -> dict[str, Any]:
    """A plan for other programs."""
    most = worst_case(plan.worst_case)
    return {
        "mechanism": type(plan.mechanism).__name__,
        "parameters": describe(plan.mechanism),
        "counts": None if plan.measure is None else describe(plan.measure),
        "why": plan.why,
        "k": plan.facts.k,
        "rows": plan.rows,
        "promise": plan.promise.sentence(),
        "guarantee": plan.promise.to_dict(),
        "at_most": {
            "epsilon": None if most.epsilon is None else str(most.epsilon),
            "rho": str(most.rho),
            "delta": str(most.delta),
        },
        "reach": str(plan.reach),
        "reach_sentence": plan.reach_sentence,
    }


def preview_document(preview: Preview) -> dict[str, Any]:
    """A plan with the SQL that would be sent."""
    return {**plan_document(preview.plan), "promise": preview.promise, "queries": list(preview.queries)}

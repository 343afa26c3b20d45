"""Asking again: which questions have the same answer, and how a stored release answers one of them.

Only what was asked decides, never what came out: otherwise the price of a question would tell about rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.curator.prepare import Asked
from podium.histogram import Item, item_order
from podium.ledger import StoredRelease
from podium.ledger.receipts import first_places
from podium.mechanisms import AdaptiveTopK, OneshotLaplace
from podium.mechanisms.base import describe
from podium.planning.facts import Facts
from podium.planning.planner import Plan
from podium.release import Receipt, Release
from podium.sources import Domain, DomainFile, DomainItems, DomainSize

__all__ = ["answered_by", "domain_fingerprint", "question_key", "question_text", "told_again"]


def question_key(asked: Asked) -> str:
    """What two questions must share so that the answer to one may answer the other: all but k and k_bar."""
    return json.dumps(_facts(asked), sort_keys=True)


def question_text(asked: Asked) -> str:
    """The whole question, for the ledger."""
    return json.dumps({**_facts(asked), "k": asked.question.k, "k_bar": asked.plan.rows}, sort_keys=True)


def answered_by(asked: Asked) -> Callable[[str], bool]:
    """Whether the release of a question with the same key, given by its text, contains the answer to this one.

    An ordered top 10 contains the top 5. Where k_bar was not stated, that of the longer list is as good.
    """
    rows, stated = asked.plan.rows, asked.plan.facts.k_bar

    def suits(other: str) -> bool:
        try:
            asked_before: dict[str, Any] = json.loads(other)
            k, k_bar = asked_before["k"], asked_before["k_bar"]
        except (KeyError, RecursionError, TypeError, ValueError):
            return False  # not a question of a curator
        same = k_bar == rows or (stated is None and k_bar == Facts(k=k).rows)
        return bool(k >= asked.question.k and same)

    return suits


def told_again(stored: StoredRelease, k: int, user: str) -> Release:
    """A release seen before, cut to its first k places. It was paid for, unless an analyst pays for a first sight."""
    # Releases that were stored before they named it are about the users of the same data set.
    release = replace(Release.from_json(stored.release), user=user)
    receipt = Receipt(release.paid.events if stored.charged else (), entry=stored.hash)
    return replace(release if k == release.k else first_places(release, k), paid=receipt)


def _facts(asked: Asked) -> dict[str, Any]:
    plan = asked.plan
    return {
        **json.loads(asked.question.subject),
        "user": asked.user,
        "domain": None if asked.domain is None else domain_fingerprint(asked.domain, plan.facts.domain_size),
        "max_items_per_user": plan.facts.max_items_per_user,
        "mechanism": type(plan.mechanism).__name__,
        "epsilon_per_item": str(plan.epsilon_per_item),
        "delta": str(plan.delta_per_call),
        "counts": _counts(plan),
        **_ranking(asked),
    }


def _ranking(asked: Asked) -> dict[str, Any]:
    """How comparisons become scores; a set has no first places that could answer for a smaller k."""
    if asked.ranking is None:
        return {}
    ordered = not isinstance(asked.plan.mechanism, OneshotLaplace)
    return {"ranking": {**asked.ranking.describe(), "set_of": None if ordered else asked.question.k}}


def _counts(plan: Plan) -> dict[str, str] | None:
    """How counts are measured. In rounds that follows from the budget, which is the plan's per item or stated here."""
    if isinstance(plan.mechanism, AdaptiveTopK):
        budget = {} if plan.epsilon_per_item is not None else {"mu_squared": str(plan.mechanism.mu_squared)}
        return {"rounds": str(plan.facts.counts), **budget}
    return None if plan.measure is None else describe(plan.measure)


def domain_fingerprint(domain: Domain, size: int | None) -> str:
    """The same for the same public items, however they are listed; a table is known by its name and size."""
    if isinstance(domain, DomainSize):
        return f"0..{domain.size - 1}"
    if isinstance(domain, DomainItems):
        listed = json.dumps(sorted({_written(item) for item in domain.items}))
        return "items " + hashlib.sha256(listed.encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(domain, DomainFile) and Path(domain.path).is_file():
        with Path(domain.path).open("rb") as file:
            return f"file {hashlib.file_digest(file, 'sha256').hexdigest()} {domain.columns}"
    return f"{domain} of {size}"


def _written(item: Item) -> str:
    if isinstance(item, tuple):
        return json.dumps([_written(part) for part in item])
    return f"{item_order(item)[0]} {item}"

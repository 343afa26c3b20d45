"""A stored question in words, and as a request that can be repeated."""

from __future__ import annotations

import re
from typing import Any

from podium.ledger import Status
from podium.planning.facts import Facts
from podium.planning.question_plan import Plan
from podium.present.text.closing import loss_text, protected
from podium.query import QuestionRecord, RankingQuestion
from podium.wire.request import QuestionRequest

__all__ = ["asked_sentence", "asks_the_same", "condition_text", "headline", "question_sentence", "request_of"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KNOWN = re.compile(r"0\.\.([0-9]+)")
_TYPED = {"date": "DATE", "timestamp": "TIMESTAMP"}


def headline(status: Status) -> str:
    """Who is protected by everything that was ever released, and how well."""
    budget = status.totals.budget
    who, _, note = protected(status.user).removeprefix("private for each ").partition(", of which ")
    caution = f", of which {note}" if note else ""
    return f"Private for every {who}{caution} ({loss_text(budget.epsilon, budget.delta)}), all answers together"


def asked_sentence(request: QuestionRequest) -> str:
    """A question that was not asked yet as a sentence; the other options follow by their names."""
    question, rest = request.question, request.options
    if isinstance(question, RankingQuestion):
        start = f"top {question.k} of a ranking of {question.winner} over {question.loser}"
        scored = ["with scores"] if rest.pop("scores", False) else []
        shown = {name: value for name, value in rest.items() if name not in ("winner", "loser", "items", "pairs")}
        return ", ".join(
            [start, *scored, *(f"{name.replace('_', ' ')} {_brief(value)}" for name, value in shown.items())]
        )
    per = rest.pop("per", None)
    groups = "" if per is None else f" for each {' and '.join([per] if isinstance(per, str) else per)}"
    by, where = rest.pop("by", "users"), rest.pop("where", None)
    measure = "" if by == "users" else f" by {by}"
    condition = "" if where is None else f" where {where if isinstance(where, str) else ' AND '.join(where)}"
    counted = ", with counts" if rest.pop("counts", False) else ""
    start = f"top {question.k} of {request.heading}{groups}{measure}{condition}{counted}"
    return ", ".join([start, *(f"{name.replace('_', ' ')} {_brief(value)}" for name, value in rest.items())])


def _brief(value: object) -> str:
    return f"({len(value)} listed)" if isinstance(value, list) and len(value) > 3 else str(value)


def question_sentence(question: str) -> str:
    """The question of an entry as a sentence."""
    asked = QuestionRecord.from_text(question)
    if asked is None:
        return question
    condition = "" if asked.where is None else f" where {condition_text(asked.where)}"
    measure = "" if asked.by == "users" else f" by {asked.by}"
    counted = f", with {'counts' if asked.ranking is None else 'scores'}" if asked.counts else ""
    groups = f" for each {' and '.join(asked.per)}" if asked.per else ""
    what = ", ".join(asked.items) if asked.ranking is None else f"a ranking of {' over '.join(asked.items)}"
    table = "" if asked.table is None else f" in {asked.table}"
    return f"top {asked.k} of {what}{table}{groups}{measure}{condition}{counted}"


def request_of(question: str, planned: str) -> QuestionRequest | None:
    """The question as a caller writes it; None if the entry does not determine it, as with listed items.

    ``planned`` is the epsilon per item of the owner's plan, the default of a question. Questions of a schedule belong
    to it: nobody else can repeat them for free.
    """
    asked = QuestionRecord.from_text(question)
    if asked is None or asked.ranking is not None or asked.schedule:
        return None
    size = None if asked.domain is None else _KNOWN.fullmatch(asked.domain)
    epsilon = asked.budget.get("epsilon")
    stated = epsilon is None and asked.budget.get("epsilon_per_item") != planned
    if stated or (asked.domain is not None and size is None) or asked.groups is not None:
        return None
    usual = asked.format == 1 and asked.k_bar == Facts(k=asked.k).rows
    return QuestionRequest.of(
        item=list(asked.items),
        k=asked.k,
        ordered=asked.ordered,
        per=list(asked.per) or None,
        groups_per_user=asked.groups_per_user if asked.per else None,
        where=None if asked.where is None else condition_text(asked.where),
        by=asked.by,
        clip=asked.clip,
        unit=asked.unit if asked.by.startswith("sum") else None,
        epsilon=epsilon,
        counts=asked.counts,
        at_least=asked.at_least,
        others=asked.others or None,
        max_items_per_user=asked.max_items_per_user,
        domain_size=None if size is None else int(size[1]) + 1,
        k_bar=None if size is not None or usual else asked.k_bar,
        mechanism=asked.mechanism if asked.format > 1 else None,
        table=asked.table,
    )


def asks_the_same(plan: Plan, question: str) -> bool:
    """Whether the plan asks what the stored question asked, and so is answered by it for free.

    Entries of format 1 name the class of their mechanism: a plan with another mechanism is another question.
    """
    asked = QuestionRecord.from_text(question)
    return asked is not None and (asked.format > 1 or (plan.mechanism, plan.rows) == (asked.mechanism, asked.k_bar))


def condition_text(part: list[Any]) -> str:
    """A condition in the WHERE language, from its canonical form."""
    kind, *rest = part
    if kind in ("and", "or"):
        return f" {kind.upper()} ".join(_parenthesize(inner) for inner in rest)
    if kind == "not":
        return f"NOT ({condition_text(rest[0])})"
    column = _column(rest[0])
    if kind == "missing":
        return f"{column} IS NULL"
    if kind == "in":
        return f"{column} IN ({', '.join(_literal(value) for value in rest[1])})"
    if kind == "between":
        return f"{column} BETWEEN {_literal(rest[1])} AND {_literal(rest[2])}"
    if kind == "like":
        return f"{column} LIKE {_pattern(rest[1])}"
    return f"{column} {kind} {_literal(rest[1])}"


def _parenthesize(part: list[Any]) -> str:
    text = condition_text(part)
    return f"({text})" if part[0] in ("and", "or") else text


def _column(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _pattern(parts: list[Any]) -> str:
    escaped = any(isinstance(part, str) and re.search(r"[%_\\]", part) for part in parts)
    texts = [part["wildcard"] if isinstance(part, dict) else re.sub(r"([%_\\])", r"\\\1", part) for part in parts]
    return _quote("".join(texts)) + (r" ESCAPE '\'" if escaped else "")


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return f"{_TYPED[kind]} {_quote(text)}" if kind in _TYPED else str(text)
    return _quote(value) if isinstance(value, str) else str(value)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

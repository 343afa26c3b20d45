"""A stored question in words, and as a question that can be asked again."""

from __future__ import annotations

import json
import re
from typing import Any

from podium.curator import Preview
from podium.planning.facts import Facts
from podium.wire.question_body import Asking

__all__ = ["asking_of", "asks_the_same", "condition_text", "question_sentence"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KNOWN = re.compile(r"0\.\.([0-9]+)")
_TYPED = {"date": "DATE", "timestamp": "TIMESTAMP"}


def question_sentence(question: str) -> str:
    """The question of an entry, for people."""
    asked: dict[str, Any] = json.loads(question)
    where = asked.get("where")
    condition = "" if where is None else f" where {condition_text(where)}"
    counted = ", with counts" if _counted(asked) else ""
    return f"top {asked['k']} of {', '.join(asked['items'])}{condition}{counted}"


def asking_of(question: str, planned: str) -> Asking | None:
    """The question as a caller writes it; None if the entry does not tell (items that were listed, a stated epsilon).

    ``planned`` is the epsilon per item of the owner's plan, which a question that states none has.
    """
    asked: dict[str, Any] = json.loads(question)
    domain = None if asked["domain"] is None else _KNOWN.fullmatch(asked["domain"])
    stated = asked["epsilon_per_item"] != planned
    if stated or (asked["domain"] is not None and domain is None):
        return None
    where = asked["where"]
    return Asking.of(
        item=asked["items"],
        k=asked["k"],
        where=None if where is None else condition_text(where),
        counts=_counted(asked),
        max_items_per_user=asked["max_items_per_user"],
        domain_size=None if domain is None else int(domain[1]) + 1,
        k_bar=None if domain is not None or asked["k_bar"] == Facts(k=asked["k"]).rows else asked["k_bar"],
    )


def asks_the_same(preview: Preview, question: str) -> bool:
    """Whether what would be asked is planned as the stored question was, and so is answered by it for nothing."""
    asked: dict[str, Any] = json.loads(question)
    return (type(preview.plan.mechanism).__name__, preview.plan.rows) == (asked["mechanism"], asked["k_bar"])


def condition_text(part: list[Any]) -> str:
    """A condition in the WHERE language, from its canonical form."""
    kind, *rest = part
    if kind in ("and", "or"):
        return f" {kind.upper()} ".join(_enclosed(inner) for inner in rest)
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


def _enclosed(part: list[Any]) -> str:
    text = condition_text(part)
    return f"({text})" if part[0] in ("and", "or") else text


def _column(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _pattern(parts: list[Any]) -> str:
    escaped = any(isinstance(part, str) and re.search(r"[%_\\]", part) for part in parts)
    texts = [part["wildcard"] if isinstance(part, dict) else re.sub(r"([%_\\])", r"\\\1", part) for part in parts]
    return _quoted("".join(texts)) + (r" ESCAPE '\'" if escaped else "")


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return f"{_TYPED[kind]} {_quoted(text)}" if kind in _TYPED else str(text)
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _counted(asked: dict[str, Any]) -> bool:
    counts = asked["counts"]
    return bool(counts) and counts.get("rounds") != "False"

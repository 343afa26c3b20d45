"""The same question for the Python client, curl and the command line."""

from __future__ import annotations

import json
import shlex

from podium.query import Question
from podium.wire.request import QuestionRequest

__all__ = ["in_curl", "in_python", "in_shell"]


def in_python(request: QuestionRequest, url: str, dataset: str) -> str:
    """Code for the Python client."""
    stated = request.to_dict()
    method = "sql" if "sql" in stated else "top" if "item" in stated else "rank"
    first = [repr(stated.pop(name)) for name in ("sql", "item") if name in stated]
    call = ", ".join([*first, *(f"{name}={value!r}" for name, value in stated.items())])
    return f'podium.connect("{url}", token=token, dataset="{dataset}").{method}({call})'


def in_curl(request: QuestionRequest, url: str, dataset: str) -> str:
    """A curl command."""
    body = shlex.quote(json.dumps(request.to_dict(), ensure_ascii=False))
    return (
        f"curl -H \"Authorization: Bearer $PODIUM_TOKEN\" -H 'Content-Type: application/json' \\\n"
        f"  -d {body} \\\n  {url}/v1/datasets/{dataset}/releases"
    )


def in_shell(request: QuestionRequest, dataset: str) -> str:
    """A podium command, for a machine that can reach the ledger."""
    question = request.question
    sql = question.sql if isinstance(question, Question) else None
    start = "podium rank SOURCE" if not isinstance(question, Question) else "podium top SOURCE"
    words = [f"podium sql {shlex.quote(sql)} --source SOURCE" if sql is not None else start, "--user USER"]
    if isinstance(question, Question):
        words += [f"--item {shlex.quote(item)}" for item in question.item]
        words += [f"--per {shlex.quote(name)}" for name in question.per]
    words += [] if question.k is None else [f"-k {question.k}"]
    for name, value in request.options.items():
        flag = f"--{name.replace('_', '-')}"
        if name in ("per", "table"):
            # The source says which table it is.
            continue
        if name in ("domain", "groups", "items", "pairs"):
            words.append(f"{flag} {shlex.quote('@' + value) if isinstance(value, str) else 'FILE'}")
        elif name == "ordered":
            words.append("--unordered")
        elif name == "clip" and isinstance(value, list):
            words.append(f"{flag}={','.join(value)}")
        elif name == "where":
            words += [f"{flag} {shlex.quote(one)}" for one in ([value] if isinstance(value, str) else value)]
        else:
            words.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
    return " ".join([*words, "--ledger LEDGER", f"--dataset {dataset}"])

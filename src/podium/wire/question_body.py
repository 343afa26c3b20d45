"""A question as it is sent: a form of the page, a JSON body, a line of SQL; checked for its shape, not its meaning."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any, TypeAlias

from podium.curator import Curator, Preview
from podium.errors import InvalidArgument
from podium.release import Release

__all__ = ["OPTIONS", "Asking", "Scalar"]

Scalar: TypeAlias = str | int

OPTIONS = ("where", "epsilon", "counts", "max_items_per_user", "domain", "domain_size", "k_bar", "mechanism")
"""What may be added to the items and k of a question; SQL says some of it by itself."""

_WITH_SQL = ("epsilon", "max_items_per_user")
_DEFAULTS: dict[str, object] = {"counts": False, "mechanism": "auto"}


@dataclass(frozen=True, slots=True)
class Asking:
    """The items and k, or SQL; ``options`` holds only what differs from its default."""

    items: tuple[str, ...] = ()
    k: int = 10
    sql: str | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(
        cls, *, item: str | list[str] | None = None, k: int | None = None, sql: str | None = None, **options: Any
    ) -> Asking:
        """Check that it is one question, written one way."""
        chosen = {name: value for name, value in options.items() if value not in (None, _DEFAULTS.get(name))}
        if (item is None) == (sql is None):
            raise InvalidArgument("item", item, allowed="either item and k, or sql, and not both")
        if sql is None:
            named = (item,) if isinstance(item, str) else tuple(item or ())
            if not all(isinstance(name, str) for name in named):
                raise InvalidArgument("item", item, allowed="the name of a column, or a list of names")
            return cls(named, 10 if k is None else k, None, tuple(sorted(chosen.items())))
        for name in (*(["k"] if k is not None else []), *chosen):
            if name not in _WITH_SQL:
                raise InvalidArgument(
                    name, chosen.get(name, k), allowed="None where the question is SQL", hint="Say it in the SQL."
                )
        return cls((), 0, sql, tuple(sorted(chosen.items())))

    @property
    def heading(self) -> str:
        """What the column of the items is called, where the question names it."""
        return ", ".join(self.items) or "item"

    def to_text(self) -> str:
        """One text for equal questions."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> dict[str, Any]:
        """The JSON body that asks it."""
        asked: dict[str, Any] = {"sql": self.sql}
        if self.sql is None:
            asked = {"item": self.items[0] if len(self.items) == 1 else list(self.items), "k": self.k}
        return {**asked, **dict(self.options)}

    @classmethod
    def from_text(cls, text: str) -> Asking:
        """The question that ``to_text`` wrote."""
        try:
            found = json.loads(text)
            if {"item", "k", "sql", *OPTIONS}.issuperset(found):
                return cls.of(**found)
        except (RecursionError, TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
        raise InvalidArgument("question", text, allowed="what Asking.to_text wrote")

    def plan(self, curator: Curator) -> Preview:
        """What it would do; free."""
        found = self._run(curator, dry_run=True)
        if not isinstance(found, Preview):
            raise TypeError("a dry run must not release anything")
        return found

    def ask(self, curator: Curator, *, analyst: str, idempotency_key: str | None) -> Release:
        """The answer, paid from the budget."""
        found = self._run(curator, analyst=analyst, idempotency_key=idempotency_key)
        if isinstance(found, Preview):
            raise TypeError("a question must be answered with a release")
        return found

    def _run(self, curator: Curator, **how: Any) -> Release | Preview:
        options = dict(self.options)
        if self.sql is not None:
            answered: Release | Preview = curator.sql(self.sql, **options, **how)
            return answered
        if "domain" in options:
            if not isinstance(options["domain"], list):
                # A text would be the path of a file on the server.
                raise InvalidArgument("domain", options["domain"], allowed="a list of items")
            options["domain"] = [tuple(item) if isinstance(item, list) else item for item in options["domain"]]
        found: Release | Preview = curator.top(self.items, k=self.k, **options, **how)
        return found

    def in_python(self, url: str, dataset: str) -> str:
        """The same question with the client."""
        how = [f"{name}={value!r}" for name, value in self.options]
        if self.sql is not None:
            call = f"sql({', '.join([repr(self.sql), *how])})"
        else:
            item = repr(self.items[0]) if len(self.items) == 1 else repr(list(self.items))
            call = f"top({', '.join([item, f'k={self.k}', *how])})"
        return f'podium.connect("{url}", token=token, dataset="{dataset}").{call}'

    def in_curl(self, url: str, dataset: str) -> str:
        """The same question with curl."""
        body = shlex.quote(json.dumps(self.to_json(), ensure_ascii=False))
        return (
            f"curl -H \"Authorization: Bearer $PODIUM_TOKEN\" -H 'Content-Type: application/json' \\\n"
            f"  -d {body} \\\n  {url}/v1/datasets/{dataset}/releases"
        )

    def in_shell(self, dataset: str) -> str:
        """The same question with the command line, on the machine of the ledger."""
        start = f"podium sql {shlex.quote(self.sql)} --source SOURCE" if self.sql is not None else "podium top SOURCE"
        words = [f"--item {shlex.quote(item)}" for item in self.items]
        words += [f"-k {self.k}"] if self.sql is None else []
        for name, value in self.options:
            flag = f"--{name.replace('_', '-')}"
            if name == "domain":
                words.append(f"{flag} FILE")
            else:
                words.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
        return " ".join([start, "--user USER", *words, "--ledger LEDGER", f"--dataset {dataset}"])

"""What ``top`` and ``sql`` share: with a ledger a question is the curator's, without one it is asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import podium
from podium.cli.console import progress, say
from podium.cli.options import declared_types
from podium.cli.output import Output, print_preview
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium import Curator, Preview, Release

__all__ = ["Place", "answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the data is, and where its budget is kept, as written on the command line."""

    source: str
    user: str
    table: str | None
    types: list[str] | None
    bad_lines: str
    encoding: str
    ledger: str | None
    dataset: str | None
    analyst: str | None
    force: bool
    epsilon: str | None
    delta: str | None
    answer_every: str | None = None

    def check(self) -> None:
        """Raise unless there is either a ledger with a data set, or an epsilon for a single question."""
        if self.ledger is None:
            if self.epsilon is None:
                raise InvalidArgument(
                    "epsilon",
                    None,
                    allowed="a number above 0, unless --ledger and --dataset name a budget",
                    hint="A usual choice is --epsilon 1.",
                )
            return
        if self.dataset is None:
            raise InvalidArgument(
                "dataset",
                None,
                allowed="the name of a data set in the ledger",
                hint="Name it with --dataset, or leave out --ledger (and the variable PODIUM_LEDGER) to ask only once.",
            )
        if self.delta is not None:
            raise InvalidArgument(
                "delta", self.delta, allowed="none with --ledger", hint="The budget says how much delta a question has."
            )

    @property
    def declared(self) -> dict[str, str] | None:
        """The types of columns."""
        return declared_types(self.types)

    def hint(self, items: Sequence[str]) -> str | None:
        """What a short list from JSON may mean, found out from the command line and not from rows."""
        undeclared = [item for item in items if item not in (self.declared or {})]
        if not undeclared or not self.source.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson")):
            return None
        return (
            f"In JSON any name is a column, and a list is one item as a whole: check {', '.join(undeclared)}, "
            f"or declare a list with --types '{undeclared[0]}=list(text)'."
        )

    @contextmanager
    def curator(self) -> Iterator[Curator]:
        """The curator of a data set that is registered already: a mistyped ledger is not made."""
        from podium.ledger import open_ledger

        with (
            open_ledger(self.ledger or "", create=False) as ledger,
            podium.Curator(
                self.source,
                dataset=self.dataset or "",
                user=self.user,
                ledger=ledger,
                table=self.table,
                types=self.declared,
                bad_lines=self.bad_lines,
                encoding=self.encoding,
                analyst=self.analyst,
                force=self.force,
                answer_every=self.answer_every,
            ) as curator,
        ):
            yield curator


def answer(
    place: Place,
    output: Output,
    *,
    once: Callable[[], Release | Preview],
    budgeted: Callable[[Curator], Release | Preview],
    items: Sequence[str] | None,
    dry_run: bool,
) -> None:
    """Ask, once or under a budget, and show what came out."""
    place.check()
    output.check()
    with progress("planning" if dry_run else "asking"):
        if place.ledger is None:
            from podium.curator.timing import on_schedule, period_of

            result, left = on_schedule(None if dry_run else period_of(place.answer_every), once), None
        else:
            with place.curator() as curator:
                result = budgeted(curator)
                left = curator.status
    if isinstance(result, podium.Preview):
        print_preview(result, output.format)
        return
    output.write(result, items=items)
    if not result.complete and (hint := place.hint(items or ())):
        say(hint)
    if left is not None:
        from podium.present.text.accounts import left_sentence

        say(f"{left.dataset}: {left_sentence(left)}")

"""Writing a release: the destination is checked before anything is paid."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from podium.cli.console import on_terminal, print_result, say, settings
from podium.cli.options import Format, ReleaseFormat
from podium.errors import InvalidArgument, MissingLibrary, OutputFailed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from podium import Plan, Release
    from podium.ledger import Status

__all__ = [
    "Output", "check_picture", "format_of", "json_text", "print_document", "print_facts", "print_plan",
    "release_document", "replace_file",
]  # fmt: skip

F = TypeVar("F", bound=StrEnum)

_ENDINGS = {
    ".csv": ReleaseFormat.CSV,
    ".json": ReleaseFormat.JSON,
    ".md": ReleaseFormat.MARKDOWN,
    ".parquet": ReleaseFormat.PARQUET,
    ".pq": ReleaseFormat.PARQUET,
    ".txt": ReleaseFormat.TABLE,
    "": ReleaseFormat.TABLE,
}
_MORE = "podium explain"
_PICTURES = (".png", ".svg", ".pdf")


def format_of(form: F | None, path: Path | None, endings: Mapping[str, F]) -> F:
    """The format that was named, or else that of the file's ending; no file ends like one without an ending."""
    ending = "" if path is None else path.suffix.lower()
    if form is None and ending not in endings:
        raise InvalidArgument(
            "output", str(path), allowed=f"a file that ends in {', '.join(filter(None, endings))}",
            hint="Or say with --format what to write into it.",
        )  # fmt: skip
    return form or endings[ending]


@dataclass(frozen=True, slots=True)
class Output:
    """A format, and the output files that the user named."""

    format: ReleaseFormat
    path: Path | None = None
    plot: Path | None = None

    @classmethod
    def at(cls, form: ReleaseFormat | None, path: Path | None, *, plot: Path | None = None) -> Output:
        """In the format that was named, or that the ending of the file names, or else as a table."""
        return cls(format_of(form, path, _ENDINGS), path, plot)

    @property
    def is_closed(self) -> bool:
        """Whether the answer ends with a line that says what is left of the budget."""
        return self.format is ReleaseFormat.TABLE and self.path is None and not settings().verbose

    def check(self, *, overwrite: bool = True) -> None:
        """Raise before anything is charged: an answer that cannot be written would be paid for in vain.

        Unless ``overwrite``, a file that is there is kept; a person at a terminal is asked.
        """
        if self.format is ReleaseFormat.PARQUET and self.path is None:
            raise InvalidArgument(
                "format",
                "parquet",
                allowed="table, json and csv on stdout",
                hint="Name a file: --output answer.parquet",
            )
        if self.path is not None:
            _check_writable("output", self.path)
            if not overwrite and self.path.is_file():
                _ask_to_overwrite(self.path)
        if self.plot is not None:
            check_picture(self.plot)

    def write(
        self,
        release: Release,
        *,
        items: Sequence[str] | None = None,
        heading: str | None = None,
        status: Status | None = None,
    ) -> None:
        """Write the release; item columns have their own names, unless it does not know them or a heading is given.

        With the ``status`` of its budget, a table ends with what is left of it.
        """
        if release.columns is None and heading is None:
            heading = ", ".join(items or ["item"])
        if self.path is None:
            told = self._drawing(release, heading, status) if self._is_drawing() else None
            print_result(told or self._text(release, heading, items, status))
        else:
            try:
                with replace_file(self.path) as file:
                    self._write_file(file, release, heading, items)
            except OSError:
                # The answer is paid for and must not be lost; Parquet is of no use on a terminal, so print JSON.
                print_result(json_text(release_document(release)))
                raise OutputFailed(str(self.path)) from None
        if self.plot is not None:
            from podium.present.plots import plot_release

            plot_release(release, self.plot)
        for path in filter(None, (self.path, self.plot)):
            say(f"wrote {path}")

    def _write_file(self, file: Path, release: Release, heading: str | None, items: Sequence[str] | None) -> None:
        if self.format is ReleaseFormat.PARQUET:
            from podium.present.tables import write_parquet

            write_parquet(release, file, item=items)
        else:
            file.write_text(f"{self._text(release, heading, items).rstrip()}\n", encoding="utf-8")

    def _is_drawing(self) -> bool:
        return self.format is ReleaseFormat.TABLE and on_terminal()

    def _drawing(self, release: Release, heading: str | None, status: Status | None) -> RenderableType:
        from podium.present.text.terminal import answer_drawing, release_drawing

        if settings().verbose:
            return release_drawing(release, heading=heading)
        return answer_drawing(release, heading=heading, status=status, more=_MORE)

    def _text(
        self, release: Release, heading: str | None, items: Sequence[str] | None, status: Status | None = None
    ) -> str:
        if self.format is ReleaseFormat.JSON:
            return json_text(release_document(release))
        if self.format in (ReleaseFormat.CSV, ReleaseFormat.CSV_RAW):
            from podium.present.tables import csv_text

            return csv_text(release, item=items, spreadsheet_safe=self.format is ReleaseFormat.CSV)
        if self.format is ReleaseFormat.MARKDOWN:
            from podium.present.text.markdown import answer_markdown

            return answer_markdown(release, heading=heading)
        from podium.present.text.release_text import answer_text, release_text

        return (
            release_text(release, heading=heading)
            if settings().verbose
            else answer_text(release, heading=heading, status=status, more=_MORE)
        )


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Write to a temporary file that replaces this one on success; anything but a regular file is written directly."""
    if path.exists() and not path.is_file():
        yield path
        return
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def check_picture(path: Path) -> None:
    """Raise unless a plot can be drawn and written there."""
    if path.suffix.lower() not in _PICTURES:
        raise InvalidArgument("plot", str(path), allowed=f"a file that ends in {', '.join(_PICTURES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingLibrary("matplotlib", purpose="--plot", extra="plot")
    _check_writable("plot", path)


def _ask_to_overwrite(path: Path) -> None:
    if sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm(f"{path} exists. Overwrite it?", err=True):
        return
    raise InvalidArgument(
        "output", str(path), allowed="a file that does not exist yet", hint="To overwrite this one, add --force."
    )


def _check_writable(name: str, path: Path) -> None:
    try:
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError:
        raise InvalidArgument(name, str(path), allowed="a file in a folder that exists and can be written to") from None


def release_document(release: Release) -> dict[str, Any]:
    """What ``Release.to_json`` says, and the ledger's entry that settled it."""
    from podium.present import json

    return json.release_document(release)


def json_text(document: object, *, indent: int | None = None) -> str:
    """JSON without terminal control characters."""
    from podium.present import json

    return json.json_text(document, indent=indent)


def print_document(document: object) -> None:
    """Print indented JSON on stdout."""
    print_result(json_text(document, indent=2))


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and texts, wrapped on a terminal."""
    from podium.present.text.terminal import fact_lines, facts_table

    print_result(facts_table(facts) if on_terminal() else fact_lines(facts))


def print_plan(plan: Plan, form: Format | ReleaseFormat, *, status: Status | None = None) -> None:
    """Print the plan and its SQL, as text or JSON; ``status`` is that of the budget that would pay, if any."""
    if form == ReleaseFormat.JSON:
        print_document(plan.to_dict())
        return
    if form != ReleaseFormat.TABLE:
        raise InvalidArgument("format", form.value, allowed="table or json with --dry-run")
    from podium.present.text.plain import plain_plan
    from podium.sources import pretty_sql

    full = [(label, text) for label, text in plan.facts if label != "sql"]
    print_facts(full if settings().verbose else plain_plan(plan, status))
    if plan.queries:
        print_result("".join(f"\n{pretty_sql(query)};\n" for query in plan.queries))

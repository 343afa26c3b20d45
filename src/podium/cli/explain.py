"""``podium explain``: what a release means."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import podium
from podium.cli.console import print_result
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium import Release

__all__ = ["explain"]

_WIDTH = 88


def explain(
    *,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A release as JSON, or - for stdin. Without it, explain releases in general."
        ),
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Explain a release: who is protected, and from what.

    It also says how strong the protection is, which theorem proves it, and what that theorem assumes.

    \b
    Examples:
      podium explain
      podium explain answer.json
      podium top views.parquet --item article --user user_id --epsilon 1 --delta 1e-8 -f json | podium explain -
    """
    from podium.present.explanation import explanation

    sections = explanation(None if file is None else _release(file))
    if form is Format.JSON:
        print_document({"sections": [{"title": section.title, "text": section.text} for section in sections]})
        return
    print_result("\n\n".join(f"{section.title}\n{_wrap(section.text)}" for section in sections))


def _release(file: str) -> Release:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        return podium.Release.from_json(text)
    except (OSError, UnicodeDecodeError, InvalidArgument):
        raise InvalidArgument(
            "file",
            file,
            allowed="a file with a release as JSON, or - for stdin",
            hint="'podium top -f json' writes one.",
        ) from None


def _wrap(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)

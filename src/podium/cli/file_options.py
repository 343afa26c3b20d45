"""How a file is read, on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podium.cli.options import BadLines, BadLinesOption, Encoding, NoHeader, Types
from podium.errors import InvalidArgument

__all__ = ["FileOptions", "parse_types"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Options of every command that reads a file of any format."""

    types: Types = None
    bad_lines: BadLinesOption = BadLines.REFUSE
    encoding: Encoding = "utf-8"
    no_header: NoHeader = False

    def reading(self) -> dict[str, Any]:
        """The options as ``Curator`` and ``open_source`` take them."""
        return {
            "types": parse_types(self.types),
            "bad_lines": self.bad_lines.value,
            "encoding": self.encoding,
            "header": not self.no_header,
        }


def parse_types(types: list[str] | None) -> dict[str, str] | None:
    """Parse the columns and types of --types, repeated or separated by commas."""
    if not types:
        return None
    declared = {}
    for part in (part for text in types for part in text.split(",")):
        column, equals, type_ = part.partition("=")
        if not (equals and column.strip() and type_.strip()):
            raise InvalidArgument("types", part, allowed="COL=TYPE", hint="For example: --types user_id=integer")
        declared[column.strip()] = type_.strip()
    return declared

"""What the owner states about text files: how they are encoded, and what becomes of lines that cannot be read."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum

from podium.errors import InvalidArgument

__all__ = ["BadLines", "FileRules"]

# Encodings in which the bytes of ASCII mean themselves wherever they stand, so that lines can be told apart unread.
_LINE_SAFE = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp(?!037|273|424|500|864|875|1026|1140)\d+|koi8-[rtu]|mac-\w+")
_ASCII = "".join(map(chr, range(128)))


class BadLines(StrEnum):
    """What becomes of lines that are not records: the whole file is refused, or they are left out."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class FileRules:
    """The rules of CSV and JSON files. Nothing about them is found out from rows."""

    bad_lines: str = BadLines.REFUSE
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.bad_lines not in tuple(BadLines):
            raise InvalidArgument("bad_lines", self.bad_lines, allowed="'refuse' or 'drop'")
        object.__setattr__(self, "encoding", _codec(self.encoding))

    @property
    def drop(self) -> bool:
        """Whether lines that are not records are left out."""
        return self.bad_lines == BadLines.DROP

    @property
    def needs_copy(self) -> bool:
        """Whether the engine reads a copy: it is given neither bad lines nor other encodings."""
        return self.drop or self.encoding != "utf-8"

    @property
    def has_mark(self) -> bool:
        """Whether the file is said to begin with a byte order mark."""
        return self.encoding == "utf-8-sig"

    @property
    def codec(self) -> str:
        """The encoding of a part of a file."""
        return "utf-8" if self.has_mark else self.encoding


def _codec(encoding: object) -> str:
    """The name of an encoding that podium reads, as Python spells it."""
    allowed = "utf-8, or a single-byte encoding such as 'windows-1252' or 'latin-1'"
    try:
        name = codecs.lookup(str(encoding)).name
        plain = _LINE_SAFE.fullmatch(name) is not None and _ASCII.encode().decode(name) == _ASCII
    except (LookupError, ValueError):
        plain = False
    if not plain or not isinstance(encoding, str):
        raise InvalidArgument("encoding", encoding, allowed=allowed, hint="Or convert the file to UTF-8.")
    return name

"""What the owner states about text files: their encoding, and what to do with lines that cannot be read."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum

from podium.errors import InvalidArgument

__all__ = ["BadLines", "FileRules"]

# Encodings in which ASCII bytes always mean ASCII characters, so that lines can be split without decoding.
_LINE_SAFE = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp(?!037|273|424|500|864|875|1026|1140)\d+|koi8-[rtu]|mac-\w+")
_ASCII = "".join(map(chr, range(128)))


class BadLines(StrEnum):
    """What to do with lines that are not records: refuse the whole file, or drop them."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class FileRules:
    """The rules for CSV and JSON files. Nothing about them is inferred from rows."""

    bad_lines: str = BadLines.REFUSE
    encoding: str = "utf-8"
    header: bool = True

    def __post_init__(self) -> None:
        if self.bad_lines not in tuple(BadLines):
            raise InvalidArgument("bad_lines", self.bad_lines, allowed="'refuse' or 'drop'")
        if type(self.header) is not bool:
            raise InvalidArgument("header", self.header, allowed="True or False")
        object.__setattr__(self, "encoding", _codec(self.encoding))

    @property
    def drop(self) -> bool:
        """Whether lines that are not records are dropped."""
        return self.bad_lines == BadLines.DROP

    @property
    def needs_copy(self) -> bool:
        """Whether the engine reads a copy: without bad lines, in UTF-8, and with a header."""
        return self.drop or self.encoding != "utf-8" or not self.header

    def refuse(self) -> None:
        """Raise for rules of text files that were stated for something else."""
        stated = {"bad_lines": self.bad_lines, "encoding": self.encoding, "header": self.header}
        for name, value in stated.items():
            if value not in (BadLines.REFUSE, "utf-8", True):
                raise InvalidArgument(name, value, allowed="only its default, unless the source is a CSV or JSON file")

    @property
    def has_mark(self) -> bool:
        """Whether the owner states that the file begins with a byte order mark."""
        return self.encoding == "utf-8-sig"

    @property
    def codec(self) -> str:
        """The encoding without the byte order mark."""
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

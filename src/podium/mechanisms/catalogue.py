"""The catalogue: every mechanism with what its own docstring says of it."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

from podium.privacy.documents import Document

__all__ = ["Description", "catalogue"]

_SECTION = re.compile(r"^(?P<name>[A-Z][a-z]+)\n(?P<text>(?:[ ]{4}.*\n?|\n)+)", flags=re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[^.][.]) (?=[A-Z`])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description(Document):
    """A mechanism in a few words: what it returns, when to use it, what holds, and the theorem behind it."""

    name: str
    what: str
    use: str
    domain: str
    result: str
    values: str
    guarantee: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def catalogue() -> tuple[Description, ...]:
    """What ``podium.mechanisms`` offers for releasing, in the order of the alphabet."""
    home = importlib.import_module("podium.mechanisms")
    found = (getattr(home, name) for name in home.__all__)
    return tuple(_describe(cls) for cls in found if hasattr(cls, "guarantee") and not inspect.isabstract(cls))


def _describe(cls: type) -> Description:
    text = inspect.getdoc(cls) or ""
    sections = {match["name"]: " ".join(match["text"].split()) for match in _SECTION.finditer(text)}
    domain, result, values = (sections.get("Shape", "") + "; ; ").split("; ")[:3]
    return Description(
        name=cls.__name__,
        what=text.partition("\n")[0],
        use=sections.get("Use", ""),
        domain=domain,
        result=result,
        values=values,
        guarantee=_SENTENCE.split(sections.get("Guarantee", ""))[0],
        source=sections.get("Source", ""),
    )

"""Values with a JSON form: ``to_dict`` gives the object, ``to_json`` its text, everywhere in podium."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from podium.errors import InvalidArgument

__all__ = ["Document", "StoredDocument", "read_object"]


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None if it is something else."""
    try:
        document = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        return None
    return document if isinstance(document, dict) else None


class Document:
    """A value that can be written as JSON; exact numbers are text."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The value as a JSON object."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


class StoredDocument(Document):
    """A value that can also be read back."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """The value that ``to_dict`` wrote."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The value that ``to_json`` wrote."""
        document = read_object(text)
        if document is None:
            raise InvalidArgument("text", "not a JSON object", allowed=f"what {cls.__name__}.to_json wrote")
        return cls.from_dict(document)

"""What a release is the answer to: the question as its asker put it, where it was asked of, and when."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.release.item_json import of_type

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as plain data, the name of what it was asked about, and the second in which it was planned, in UTC.

    All of it was known before a row was read. The name of a source has no folders: paths belong to its owner.
    """

    question: Mapping[str, Any]
    source: str
    at: str

    @classmethod
    def now(cls, question: Mapping[str, Any], source: str) -> Asked:
        """A question that is asked at this moment."""
        return cls(question, source, dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat())

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {"question": dict(self.question), "source": self.source, "at": self.at}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any] | None) -> Asked | None:
        """What ``to_dict`` wrote; its errors are those of a parser."""
        if raw is None:
            return None
        question = {of_type(name, str): _part(value) for name, value in of_type(raw["question"], dict).items()}
        at = of_type(raw["at"], str)
        dt.datetime.fromisoformat(at)
        return cls(question, of_type(raw["source"], str), at)


def _part(value: Any, depth: int = 0) -> Any:
    """A text, an integer, true or false, or a list of these or of lists of these."""
    if type(value) is list and depth < 2:
        return [_part(one, depth + 1) for one in value]
    if type(value) not in (str, int, bool):
        raise TypeError
    return value

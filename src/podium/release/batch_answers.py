"""The answers of a batch: each question has a release or an error, whatever became of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.errors import PodiumError
from podium.release.release import Release

__all__ = ["BatchAnswers"]


@dataclass(frozen=True, slots=True)
class BatchAnswers:
    """What came of each question of a batch, in their order. ``answers[i]`` is a release, or raises its error."""

    outcomes: tuple[Release | PodiumError, ...]

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases of the questions that were answered."""
        return tuple(one for one in self.outcomes if isinstance(one, Release))

    @property
    def errors(self) -> dict[int, PodiumError]:
        """The errors of the others, by their places."""
        return {place: one for place, one in enumerate(self.outcomes) if isinstance(one, PodiumError)}

    def to_dict(self) -> dict[str, Any]:
        """A JSON object: a release, or the text of an error, for each question."""
        return {
            "answers": [
                {"error": type(one).__name__, "detail": str(one)} if isinstance(one, PodiumError)
                else {"release": json.loads(one.to_json())}
                for one in self.outcomes
            ]
        }  # fmt: skip

    def __getitem__(self, place: int) -> Release:
        found = self.outcomes[place]
        if isinstance(found, PodiumError):
            raise found
        return found

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Release]:
        return (self[place] for place in range(len(self)))

    def _repr_html_(self) -> str:
        from podium.present.notebook import batch_html  # noqa: PLC0415 - presenting is above this package

        return batch_html(self)

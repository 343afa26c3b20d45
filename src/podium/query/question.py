"""A question in canonical form: two texts that mean the same become the same question."""

from __future__ import annotations

import json
from dataclasses import dataclass

from podium.exact import positive_integer
from podium.query.canonical import predicate_to_json
from podium.query.predicate import Predicate

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """Top ``k`` of the item columns by number of distinct users, among rows that satisfy ``where``.

    ``items`` are the columns whose values together are one item; a list column is unnested. The user column belongs to
    the data set, not to the question.
    """

    items: tuple[str, ...]
    k: int
    where: Predicate | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive_integer(self.k, "k"))

    @property
    def subject(self) -> str:
        """Canonical text of what is asked, without how many: the same for a top 5 and a top 10."""
        return json.dumps({"items": list(self.items), "where": predicate_to_json(self.where)}, sort_keys=True)

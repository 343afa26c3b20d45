"""The cells of the known-domain bench, and the goals that are read off them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.known.recall import Estimate

__all__ = ["DEFAULT", "HINDSIGHT", "LIMIT", "SET", "Cell", "GroupGoal", "block_goals", "blocks", "goals"]

HINDSIGHT = (
    "peeling", "oneshot", "canonical 1/2", "canonical 1/2 exp.", "canonical 1", "canonical 1 exp.", "joint",
)  # fmt: skip
"""Who may be the best by hindsight, once per cell. "exp." is exponential noise instead of Gumbel."""
DEFAULT = "default"
SET = "set"
LIMIT = 0.01
"""How far below the best by hindsight still counts as not worse."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One question on one data set: the recall of everybody at the same guarantee."""

    data: str
    held_out: bool
    k: int
    epsilon: str
    delta: str
    at_cliff: bool
    recall: dict[str, Estimate]
    chance_at_once: float

    @property
    def name(self) -> str:
        """How the goals refer to this cell."""
        return f"{self.data} epsilon={self.epsilon}"

    @property
    def best(self) -> str:
        """The best by hindsight. The largest of several estimates: if anything too good."""
        return max(HINDSIGHT, key=lambda name: self.recall[name].mean)

    def regret(self, name: str) -> Estimate:
        """Recall minus that of the best by hindsight."""
        return self.recall[name].minus(self.recall[self.best])

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **asdict(self),
            "recall": {name: estimate.mean for name, estimate in self.recall.items()},
            "standard_error": {name: estimate.error for name, estimate in self.recall.items()},
            "best": self.best,
            "minus_best": {name: self.regret(name).mean for name in (DEFAULT, SET)},
            "minus_best_standard_error": {name: self.regret(name).error for name in (DEFAULT, SET)},
        }


@dataclass(frozen=True, slots=True)
class GroupGoal:
    """Not worse than the best by hindsight in any cell of a group; ``failing`` cells are worse by more than LIMIT."""

    group: str
    delta: str
    k: int
    who: str
    cells: int
    worst: float
    worst_standard_error: float
    where: str
    mean: float
    failing: int

    @property
    def met(self) -> bool:
        """No cell fails."""
        return self.failing == 0

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "met": self.met}


def goals(cells: Sequence[Cell]) -> list[GroupGoal]:
    """For each group of data sets, delta and k: how far the planner stays behind the best by hindsight."""
    grouped: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        group = ("held out" if cell.held_out else "SL") + (", at cliffs" if cell.at_cliff else "")
        grouped.setdefault((group, cell.delta, cell.k), []).append(cell)
    return [_judged(*key, who, grouped[key]) for key in sorted(grouped, key=_order) for who in (DEFAULT, SET)]


def blocks(cells: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], dict[str, float]]:
    """Mean recall of everybody over the data sets of SL and epsilon, for each delta and k."""
    found: dict[tuple[str, int], list[Mapping[str, float]]] = {}
    for cell in cells:
        if not cell["held_out"] and not cell["at_cliff"]:
            found.setdefault((cell["delta"], cell["k"]), []).append(cell["recall"])
    ordered = sorted(found.items(), key=lambda block: (float(block[0][0]), block[0][1]))
    return {key: {name: statistics.fmean(one[name] for one in many) for name in many[0]} for key, many in ordered}


def block_goals(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """In each block the planner's mean is at least that of the best: the way that would be best if all were asked."""
    judged = []
    for (delta, k), means in blocks(cells).items():
        best = max(HINDSIGHT, key=means.__getitem__)
        for who in (DEFAULT, SET):
            gain = means[who] - means[best]
            judged.append(
                {
                    "name": f"mean recall - that of the best column: delta={delta}, k={k}, {who}",
                    "wanted": ">= 0",
                    "measured": gain,
                    "met": gain >= 0,
                    "where": f"{best} has {means[best]:.3f}",
                }
            )
    return judged


def _order(key: tuple[str, str, int]) -> tuple[bool, bool, float, int]:
    group, delta, k = key
    return "held out" in group, "cliffs" in group, float(delta), k


def _judged(group: str, delta: str, k: int, who: str, cells: Sequence[Cell]) -> GroupGoal:
    regrets = [cell.regret(who) for cell in cells]
    means = [regret.mean for regret in regrets]
    worst = min(range(len(cells)), key=means.__getitem__)
    return GroupGoal(
        group=group,
        delta=delta,
        k=k,
        who=who,
        cells=len(cells),
        worst=means[worst],
        worst_standard_error=regrets[worst].error,
        where=cells[worst].name,
        mean=sum(means) / len(means),
        failing=sum(mean < -LIMIT for mean in means),
    )

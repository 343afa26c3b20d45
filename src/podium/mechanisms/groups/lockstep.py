"""Runs in rounds, one for each group, that are told what they ask by the same queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeVar

from podium.histogram import Histogram, Item
from podium.mechanisms.gaussian.asking import Asking, Find, Sizes, Sums, Wanted
from podium.mechanisms.gaussian.border import EDGES
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.release import Release

__all__ = ["FoundItems", "GroupedRoundsReader", "Lockstep"]

W = TypeVar("W", Find, Sizes, Sums)
_MAX_LEFT_OUT = 10_000_000
"""What a source leaves out of one count, over all groups; whatever was found beyond may be found again."""


class FoundItems(NamedTuple):
    """The items that a round found in a group, the largest noisy count first."""

    items: tuple[Item, ...]
    values: tuple[Fraction, ...]


class GroupedRoundsReader(Protocol):
    """A table with groups for runs in rounds; what it returns is private, but for what ``discover`` does.

    Each call is one query, or a few, for all groups.
    """

    def discover(
        self,
        stage_of: Callable[[Item], TruncatedGaussianHistogram | None],
        without: Mapping[Item, tuple[Item, ...]],
    ) -> Iterable[tuple[Item, FoundItems]]:
        """Run the stage of every group with rows, without these items; groups in which nothing is found are absent."""
        ...

    def sizes(self, items: Mapping[Item, tuple[Item, ...]], edges: tuple[int, ...]) -> Mapping[Item, tuple[int, ...]]:
        """How many users have edges[i] <= t < edges[i+1] of the items of a group."""
        ...

    def sums(
        self, items: Mapping[Item, tuple[Item, ...]], weights: Mapping[Item, Sequence[tuple[int, int]]]
    ) -> Mapping[Item, tuple[int, ...]]:
        """The weighted count of each of the items of a group, with t counted among them only."""
        ...


@dataclass(slots=True)
class _Run:
    """One run, what it wants to know, and what came out when it wants nothing more."""

    asking: Asking[Release]
    wanted: Wanted | None = None
    release: Release | None = None

    def tell(self, answer: Any) -> None:
        """Go on with the answer, up to the next question."""
        try:
            self.wanted = self.asking.send(answer)
        except StopIteration as end:
            self.wanted, self.release = None, end.value


@dataclass(slots=True)
class Lockstep:
    """One run for each group in which something was found, and one for all others together.

    As long as nothing is found in a group, its history is that of every such group, with rows or without: what
    is asked next, and what it costs, is the same. So one run stands for all of them, however many there are.
    """

    start: Callable[[], Asking[Release]]
    reader: GroupedRoundsReader
    own: dict[Item, _Run] = field(default_factory=dict)
    _rest: _Run = field(init=False)
    _stages: list[Any] = field(default_factory=list)

    def run(self) -> tuple[dict[Item, Release], Release]:
        """What came out of each group of which something did, and of any other."""
        self._rest = self._fresh()
        # Runs that find wait for nobody, and those that know their border wait for those that do not: few queries.
        while self._find() or self._count_users() or self._add_up():
            pass
        return {group: _ended(run) for group, run in self.own.items()}, _ended(self._rest)

    def _fresh(self) -> _Run:
        run = _Run(self.start())
        run.tell(None)
        return run

    def _wanting(self, kind: type[W]) -> dict[Item, W]:
        return {group: run.wanted for group, run in self.own.items() if isinstance(run.wanted, kind)}

    def _find(self) -> bool:
        wanted, others = self._wanting(Find), self._rest.wanted
        if not wanted and others is None:
            return False
        most = _MAX_LEFT_OUT // max(1, len(wanted))
        without = {group: find.without[:most] for group, find in wanted.items() if find.without}
        stages = {group: find.stage for group, find in wanted.items()}
        rest: Any = others.stage if isinstance(others, Find) else None

        def stage_of(group: Item) -> Any:
            return stages.get(group) if group in self.own else rest

        found = dict(self.reader.discover(stage_of, without))
        for group, find in wanted.items():
            self.own[group].tell(found.pop(group, None) or _nothing(find.stage))
        for group, items in found.items():
            self.own[group] = self._after_nothing(items)
        if rest is not None:
            self._stages.append(rest)
            self._rest.tell(_nothing(rest))
        return True

    def _after_nothing(self, found: FoundItems) -> _Run:
        """The run of a group in which something was found for the first time."""
        run = self._fresh()
        for stage in self._stages:
            run.tell(_nothing(stage))
        run.tell(found)
        return run

    def _count_users(self) -> bool:
        wanted = self._wanting(Sizes)
        if not wanted:
            return False
        # The edges of a shorter border are the first of these, and nobody has more items than there are.
        largest = max(len(one.items) for one in wanted.values())
        edges = tuple(edge for edge in EDGES if edge <= largest)
        users = self.reader.sizes({group: one.items for group, one in wanted.items()}, edges)
        for group, one in wanted.items():
            self.own[group].tell(users[group][: len(one.edges)])
        return True

    def _add_up(self) -> bool:
        wanted = self._wanting(Sums)
        if not wanted:
            return False
        items = {group: one.items for group, one in wanted.items()}
        sums = self.reader.sums(items, {group: one.weights.steps for group, one in wanted.items()})
        for group in wanted:
            self.own[group].tell(sums[group])
        return True


def _nothing(stage: Any) -> Release:
    """What the stage says about a group without rows, with certainty."""
    return stage.release(Histogram({}, known=False))  # type: ignore[no-any-return] # a release


def _ended(run: _Run) -> Release:
    if run.release is None:
        raise TypeError(f"a run wants {type(run.wanted).__name__}, which is not asked of groups")
    return run.release

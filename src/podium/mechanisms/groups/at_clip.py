"""What lists and rounds at a clip share: the clip is chosen once for all groups, and paid for once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from podium.mechanisms.base import describe
from podium.mechanisms.groups.few_groups import InFewGroups
from podium.mechanisms.measures.clip_choice import ClipChoice
from podium.privacy.guarantee import Guarantee
from podium.release import GroupedRelease, Receipt, ValueKind

__all__ = ["GUESSED_GROUPS", "AtChosenClip"]

GUESSED_GROUPS = 10
"""Among how many groups the amounts are divided, where nobody said: it decides how far sums are clipped, no more."""


class AtChosenClip(ABC):
    """A mechanism for groups that first chooses its clip; ``inner`` is what runs then, in units of the clip."""

    __slots__ = ()
    theorem: ClassVar[str]
    rho_clip: Fraction
    inner: InFewGroups[Any]

    @property
    def choice(self) -> ClipChoice:
        """How the clip is chosen."""
        return ClipChoice(self.rho_clip)

    @property
    def k(self) -> int:
        """The length of each list."""
        return self.inner.k

    @property
    def most(self) -> int:
        """In how many groups a user counts at most."""
        return self.inner.most

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""

    @property
    def _places(self) -> int:
        """How many places all lists have together, by which the clip is chosen."""
        return self.k * (self.inner.known or GUESSED_GROUPS)

    def _with_choice(
        self, release: GroupedRelease, parameters: dict[str, str], value_kind: ValueKind | None = None
    ) -> GroupedRelease:
        """What came out at the chosen clip, with the price of choosing it."""
        return GroupedRelease(  # type: ignore[call-arg] # it has lists, and no outcome of its own
            mechanism=type(self).__name__,
            k=self.k,
            paid=Receipt((self.choice.event, *release.paid.events)),
            guarantee=self.guarantee,
            theorem=f"{self.theorem}; {release.theorem}",
            parameters=describe(self) | parameters,
            lists=release.lists,
            per=release.per,
            value_kind=value_kind,
        )

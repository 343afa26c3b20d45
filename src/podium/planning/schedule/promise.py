"""What the plan of every schedule says: whom it protects, for which periods, and in which of them it measures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.planning.facts import MeasureFacts
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.shares import Sharing, Unit
from podium.privacy import Guarantee, Limits
from podium.privacy.documents import Document
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.user_columns import UserColumns

__all__ = ["SchedulePromise", "some_periods"]

_MAX_NUMBERS = 12
"""How many periods a plan names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePromise(Document):
    """A schedule, the promise that all its lists keep, and how they share the budget."""

    schedule: Schedule
    unit: Unit
    k: int
    guarantee: Guarantee
    limits: Limits
    sharing: Sharing
    user: UserColumns | None = None
    measure: MeasureFacts | None = None

    @property
    def parts(self) -> int:
        """The number of fixed parts of the total: 1, unless a row is in several lists and each is capped."""
        return self.schedule.overlap if self.unit is Unit.USER_PERIOD else 1

    @property
    def measures_less(self) -> bool:
        """Whether some periods repeat the last list."""
        return len(self.sharing.lists) < self.schedule.periods

    def loss(self, periods: int) -> tuple[Fraction, Fraction]:
        """The total (epsilon, delta) of a user with rows in ``periods`` consecutive periods."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Exact numbers as text, and the sentences."""
        epsilon, delta = self.loss(self.schedule.periods)
        return {
            "k": self.k,
            "unit": self.unit.value,
            "start": self.schedule.start.isoformat(),
            "every": self.schedule.every.value,
            "periods": self.schedule.periods,
            "span": self.schedule.span,
            "promise": self.guarantee.to_dict(),
            **self._list_data(),
            "every_period": {"epsilon": str(epsilon), "delta": str(delta)},
            "facts": dict(self.facts()),
            **({} if self.measure is None else {"by": self.measure.by, "clip": str(self._largest)}),
        }

    def facts(self) -> list[tuple[str, str]]:
        """The plan in labelled lines, for people."""
        raise NotImplementedError

    def _list_data(self) -> dict[str, Any]:
        """The numbers of the lists, exact, as text."""
        raise NotImplementedError

    def _first_facts(self) -> list[tuple[str, str]]:
        return [
            ("schedule", self.schedule.sentence()),
            ("unit", self._unit()),
            ("promise", self._guarantee()),
            *([] if self.measure is None else [("by", self._by(self.measure))]),
            *([("measured", self._measured())] if self.measures_less else []),
        ]

    @property
    def _largest(self) -> Fraction:
        """The most that one user adds to one item of a list."""
        return Fraction(1) if self.measure is None else (self.measure.clip or 1) * self.measure.unit

    def _unit(self) -> str:
        if self.unit is Unit.USER:
            return f"a {unit_name(self.user)}, with all rows in all periods"
        rows = (
            "" if self.parts == 1 else f"; a row is in {self.parts} lists, each capped at 1/{self.parts} of the total"
        )
        every, user = self.schedule.every, unit_name(self.user)
        return f"a {user} and a {every}: the rows that a {user} has in one {every}{rows}"

    def _guarantee(self) -> str:
        if self.unit is Unit.USER:
            return f"all lists together are {self.guarantee.sentence(user=self.user)}"
        epsilon, delta = display(self.guarantee.epsilon()), display(self.guarantee.cost.delta)
        rows = f"the rows of any one {unit_name(self.user)} in any one {self.schedule.every}"
        return f"({epsilon}, {delta})-differentially private for {rows}"

    def _by(self, measure: MeasureFacts) -> str:
        whom = f"per {unit_name(self.user)}, item and list"
        return f"{measure.by}, counting at most {display(self._largest)} {whom}, as stated (the clip)"

    def _measured(self) -> str:
        numbers = [f"{index + 1:,}" for index in self.sharing.lists]
        told = numbers if len(numbers) <= _MAX_NUMBERS else [*numbers[: _MAX_NUMBERS - 1], "...", numbers[-1]]
        return (
            f"in {len(numbers):,} of {some_periods(self.schedule.periods, self.schedule)} ({', '.join(told)}); the "
            "others repeat the last list, which costs nothing"
        )

    def _carried(self) -> str:
        """For whom the total holds, and what becomes of what a period leaves."""
        if self.unit is Unit.USER:
            return "for all periods together; what a period does not use is carried forward"
        return f"for each {self.schedule.every}'s rows; nothing is carried"

    def _always(self) -> str:
        epsilon, delta = self.loss(self.schedule.periods)
        if self.unit is Unit.USER:
            return f"a user who appears in every period has lost at most epsilon {display(epsilon)} when all are over"
        few = min(7, self.schedule.periods)
        some, _ = self.loss(few)
        return (
            f"a user who appears in {some_periods(few, self.schedule)} running has lost at most epsilon "
            f"{display(some)}, in all {self.schedule.periods:,} epsilon {display(epsilon)}, at delta {display(delta)}"
        )


def some_periods(number: int, schedule: Schedule) -> str:
    """So many periods, in words."""
    return f"{number:,} {schedule.every}{'s' * (number != 1)}"

"""What a study is: cells to compute, and what the papers claim held against what the cells gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

__all__ = [
    "Cell",
    "Figure",
    "Measured",
    "Mode",
    "Panel",
    "Params",
    "Report",
    "Result",
    "Row",
    "Series",
    "Study",
    "Verdict",
    "judged",
]

Params: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]
Scale: TypeAlias = Literal["linear", "log"]


class Mode(StrEnum):
    """How much is computed: a test's worth, minutes, an hour."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    STAND_IN = "reproduced on a stand-in"
    STRONGER = "stronger than claimed"
    DIFFERS = "differs"
    BEYOND = "beyond the paper"
    WRONG = "wrong in print"


@dataclass(frozen=True, slots=True)
class Row:
    """One claim of a paper against what was measured; ``note`` says why where they differ."""

    source: str
    claim: str
    claimed: str
    measured: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points with a name, and the ends of their error bars; a theory is drawn thin."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    theory: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes."""

    title: str
    series: Sequence[Series]
    x: str = ""
    y: str = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    y_range: tuple[float, float] | None = None
    percent: bool = False
    level: float | None = None

    @classmethod
    def of_chances(cls, title: str, series: Sequence[Series], *, x: str = "epsilon", level: float) -> Panel:
        """Probabilities over a logarithmic axis; a dashed line at the level that counts as sure."""
        y, whole = "probability", (-0.03, 1.05)
        return cls(title, series, x=x, y=y, x_scale="log", y_range=whole, percent=True, level=level)


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels that belong together; series of one name have one colour in all of them."""

    name: str
    title: str
    panels: Sequence[Panel]
    columns: int
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a study has to say."""

    rows: Sequence[Row]
    figures: Sequence[Figure] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of work: the study, and what is computed, as plain data."""

    study: str
    params: Params


@dataclass(frozen=True, slots=True)
class Measured:
    """All cells of a study with their results."""

    cells: Sequence[tuple[Params, Result]]

    def where(self, **wanted: Any) -> Iterator[tuple[Params, Result]]:
        """The cells with these parameters."""
        return (
            (params, result)
            for params, result in self.cells
            if all(params.get(name) == value for name, value in wanted.items())
        )

    def one(self, **wanted: Any) -> Result:
        """The result of the only cell with these parameters."""
        (found,) = (result for _, result in self.where(**wanted))
        return found

    def values(self, name: str, **wanted: Any) -> list[Any]:
        """The different values of a parameter, in the order of the cells."""
        return list(dict.fromkeys(params[name] for params, _ in self.where(**wanted) if name in params))


@dataclass(frozen=True, slots=True)
class Study:
    """One figure, table or theorem of a paper, or a few that share their cells."""

    name: str
    title: str
    cells: Callable[[Mode], list[Params]]
    compute: Callable[[Params], Result]
    report: Callable[[Measured], Report]
    data: tuple[str, ...] = ()


def judged(held: bool, *, stand_in: bool = False) -> Verdict:
    """The verdict on a claim that held, or did not: in every setting that it speaks of, not on average."""
    if not held:
        return Verdict.DIFFERS
    return Verdict.STAND_IN if stand_in else Verdict.REPRODUCED

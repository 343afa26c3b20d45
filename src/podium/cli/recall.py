"""Predicted recall for ``podium plan``, on a table that the user describes: options, text, JSON and a plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.console import progress, say
from podium.cli.output import check_picture
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium.planning.facts import Facts
    from podium.planning.prediction import Prediction, Prior

__all__ = ["TableDescription"]

_EPSILON_FACTORS = tuple(Fraction(2) ** power for power in range(-3, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescription:
    """A table as described on the command line, and where to write a plot of its recall."""

    users: Annotated[
        int | None, typer.Option("--users", metavar="N", help="Predict recall: approximate number of users.")
    ] = None
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Predict recall: number of distinct items.")
    ] = None
    items_per_user: Annotated[
        str | None,
        typer.Option("--items-per-user", metavar="NUMBER", help="Predict recall: average number of items per user."),
    ] = None
    exponent: Annotated[
        str | None,
        typer.Option(
            "--exponent", metavar="NUMBER", help="Item i is about i^-exponent as popular as the first; default 1."
        ),
    ] = None
    skew: Annotated[
        str | None,
        typer.Option(
            "--skew", metavar="NUMBER",
            help="How unevenly active users are: 0 is all alike, 1 (the default) is typical of logs.",
        ),
    ] = None  # fmt: skip
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Plot recall against epsilon: .png, .svg or .pdf.")
    ] = None

    def prior(self) -> Prior | None:
        """The description, or None if there is none."""
        needed = {"users": self.users, "items": self.items, "items_per_user": self.items_per_user}
        beside = {"exponent": self.exponent, "skew": self.skew, "plot": self.plot}
        if not any(value is not None for value in (*needed.values(), *beside.values())):
            return None
        for name, value in needed.items():
            if value is None:
                raise InvalidArgument(
                    name,
                    None,
                    allowed="a number, because other parts of a prediction are given",
                    hint="Recall is predicted from --users, --items and --items-per-user together.",
                )
        if self.plot is not None:
            check_picture(self.plot)
        from podium.planning.prediction import Prior

        shape = {name: value for name, value in (("exponent", self.exponent), ("skew", self.skew)) if value is not None}
        return Prior(users=self.users or 0, items=self.items or 0, items_per_user=self.items_per_user or "0", **shape)

    def expect(self, facts: Facts, epsilon: str, delta: str) -> Expectation | None:
        """Predicted recall on synthetic tables; None if no table was described."""
        prior = self.prior()
        if prior is None:
            return None
        from podium.exact import positive_fraction
        from podium.planning.prediction import predict_recall

        chosen = positive_fraction(epsilon, "epsilon")
        epsilons = [chosen] if self.plot is None else [chosen * factor for factor in _EPSILON_FACTORS]
        with progress("planning"):
            predicted = predict_recall(facts, prior, epsilons=epsilons, delta=delta)
        return Expectation(prior, facts.k, predicted, epsilons.index(chosen), grouped=facts.groups is not None)

    def draw(self, expected: Expectation | None) -> None:
        """Write the plot, if one was requested."""
        if expected is not None and self.plot is not None:
            expected.draw(self.plot)
            say(f"wrote {self.plot}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """Predicted recall at the chosen epsilon, and at others if they are plotted."""

    prior: Prior
    k: int
    predicted: tuple[Prediction, ...]
    chosen: int
    grouped: bool = False

    def sentence(self) -> str:
        """One sentence of text."""
        at = self.predicted[self.chosen]
        of, tables = ("the true top {} of a group", "groups") if self.grouped else ("the true top {}", "tables")
        return (
            f"{at.mean:.2f} ±{at.error:.2f} of {of.format(self.k)}, in {len(at.recalls)} {tables} like this: "
            f"{self.prior.sentence()}."
        )

    def document(self) -> dict[str, Any]:
        """The prediction as JSON."""
        return {
            "prior": dataclasses.asdict(self.prior),
            **self.predicted[self.chosen].to_dict(),
            "by_epsilon": [one.to_dict() for one in self.predicted],
        }

    def draw(self, path: Path) -> None:
        """Plot recall against epsilon, with the chosen epsilon marked."""
        from podium.present.plots import plot_recall

        def each(of: Callable[[Prediction], float]) -> list[float]:
            return [of(one) for one in self.predicted]

        name = "the planned mechanism"
        plot_recall(
            [one.epsilon for one in self.predicted],
            {name: each(lambda one: one.mean)},
            path,
            k=self.k,
            data=f"{self.prior.sentence()}, {len(self.predicted[0].recalls)} tables",
            bands={name: (each(lambda one: one.quantile(0.1)), each(lambda one: one.quantile(0.9)))},
            chosen=self.predicted[self.chosen].epsilon,
        )

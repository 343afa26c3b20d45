"""``podium plan``: plan a question from public facts alone."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.console import settings
from podium.cli.options import (
    DomainSize,
    Format,
    K,
    KBar,
    MaxItemsPerUser,
    Mechanism,
    MechanismOption,
    TextFormatOption,
    Unordered,
)
from podium.cli.output import print_document, print_facts
from podium.cli.recall import Exponent, Items, ItemsPerUser, RecallPlot, Skew, TableDescription, Users

__all__ = ["plan"]


def plan(
    *,
    k: K = 10,
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="Total privacy loss of the answer.")],
    delta: Annotated[
        str,
        typer.Option("--delta", metavar="NUMBER", help="Delta of the guarantee; 0 only if the items are known."),
    ] = "0",
    counts: Annotated[bool, typer.Option("--counts", help="Also estimate how many users each item has.")] = False,
    max_items_per_user: MaxItemsPerUser = None,
    domain_size: DomainSize = None,
    k_bar: KBar = None,
    mechanism: MechanismOption = Mechanism.AUTO,
    unordered: Unordered = False,
    users: Users = None,
    items: Items = None,
    items_per_user: ItemsPerUser = None,
    exponent: Exponent = None,
    skew: Skew = None,
    plot: RecallPlot = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Plan a question before there is any data.

    Shows the mechanism, the maximum cost of the answer, and its reach: how far an item must stand out to be released. A
    larger epsilon, a smaller k or a known domain lowers it.

    If you describe the table (--users, --items, --items-per-user), the plan is simulated on synthetic tables like it to
    predict recall, the share of the true top k that is released. No real table is read.

    \b
    Examples:
      podium plan -k 10 --epsilon 1 --delta 1e-8
      podium plan -k 10 --epsilon 1 --domain-size 500
      podium plan -k 10 --epsilon 1 --delta 1e-8 --max-items-per-user 5 --format json
      podium plan -k 50 --epsilon 1 --delta 1e-8 --users 20000 --items 3000 --items-per-user 5
    """
    from podium.planning.facts import Facts
    from podium.planning.question_budget import question_budget
    from podium.planning.question_plan import Plan
    from podium.planning.strategy import strategy_for

    facts = Facts(
        k=k, domain_size=domain_size, max_items_per_user=max_items_per_user, counts=counts, k_bar=k_bar,
        mechanism=mechanism.value, ordered=not unordered,
    )  # fmt: skip
    planned = Plan.of(strategy_for(facts, question_budget(facts, epsilon=epsilon, delta=delta)))
    described = TableDescription(
        users=users, items=items, items_per_user=items_per_user, exponent=exponent, skew=skew, plot=plot
    )
    expected = described.expect(facts, epsilon, delta)
    if form is Format.JSON:
        prediction = {} if expected is None else {"prediction": expected.document()}
        print_document({**planned.to_dict(), **prediction})
        described.draw(expected)
        return
    from podium.present.text.plain import plain_plan

    told = planned.facts if settings().verbose else plain_plan(planned)
    print_facts([*told, *([] if expected is None else [("recall", expected.sentence())])])
    described.draw(expected)

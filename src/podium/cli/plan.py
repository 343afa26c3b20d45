"""``podium plan``: plan a question from public facts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.console import settings
from podium.cli.options import (
    EPSILON_HELP,
    DomainSize,
    Format,
    GroupsPerUser,
    K,
    KBar,
    MaxItemsPerUser,
    Mechanism,
    MechanismOption,
    Per,
    TextFormatOption,
    Unordered,
    parse_groups_per_user,
)
from podium.cli.output import print_document, print_facts
from podium.cli.recall import TableDescription

if TYPE_CHECKING:
    from podium.planning.facts import GroupFacts

__all__ = ["plan"]

KnownGroups = Annotated[
    int | None,
    typer.Option("--known-groups", metavar="N", help="How many values --per has, if they are known; all are shown."),
]


def plan(
    *,
    k: K = 10,
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help=EPSILON_HELP)],
    delta: Annotated[
        str,
        typer.Option("--delta", metavar="NUMBER", help="Delta of the guarantee; 0 only if the items are known."),
    ] = "0",
    counts: Annotated[bool, typer.Option("--counts", help="Also estimate how many users each item has.")] = False,
    max_items_per_user: MaxItemsPerUser = None,
    domain_size: DomainSize = None,
    k_bar: KBar = None,
    per: Per = None,
    known_groups: KnownGroups = None,
    groups_per_user: GroupsPerUser = "1",
    mechanism: MechanismOption = Mechanism.AUTO,
    unordered: Unordered = False,
    described: TableDescription,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Plan a question before there is any data.

    Shows the mechanism, the maximum cost of the answer, and its reach: how far an item must stand out to be released. A
    larger epsilon, a smaller k or a known domain lowers it.

    If you describe the table (--users, --items, --items-per-user), the plan is simulated on synthetic tables like it to
    predict recall, the share of the true top k that is released. No real table is read. With --per, describe the users
    of one group.

    \b
    Examples:
      podium plan -k 10 --epsilon 1 --delta 1e-8
      podium plan -k 10 --epsilon 1 --domain-size 500
      podium plan -k 10 --epsilon 1 --delta 1e-8 --max-items-per-user 5 --format json
      podium plan -k 50 --epsilon 1 --delta 1e-8 --users 20000 --items 3000 --items-per-user 5
      podium plan -k 10 --epsilon 1 --delta 1e-8 --per country --groups-per-user 2
    """
    from podium.planning.facts import Facts
    from podium.planning.question_budget import question_budget
    from podium.planning.question_plan import Plan
    from podium.planning.strategy import strategy_for
    from podium.query.group_columns import groups_sentence

    facts = Facts(
        k=k, domain_size=domain_size, max_items_per_user=max_items_per_user, counts=counts, k_bar=k_bar,
        mechanism=mechanism.value, ordered=not unordered, groups=_group_facts(per, known_groups, groups_per_user),
    )  # fmt: skip
    told_groups = groups_sentence(per or (), known_groups, parse_groups_per_user(groups_per_user))
    planned = Plan.of(strategy_for(facts, question_budget(facts, epsilon=epsilon, delta=delta)), groups=told_groups)
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


def _group_facts(per: list[str] | None, known: int | None, groups_per_user: str) -> GroupFacts | None:
    from podium.exact import positive_integer
    from podium.planning.facts import GroupFacts
    from podium.query.group_columns import require_groups, require_per

    most, columns = parse_groups_per_user(groups_per_user), tuple(per or ())
    number = None if known is None else positive_integer(known, "known_groups")
    require_per(columns, number, most, sql=False)
    require_groups((), columns, number, most)
    if not columns:
        return None
    return GroupFacts(None if isinstance(most, str) else most, number)

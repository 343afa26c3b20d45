"""A release as plain text: the ranked list, then one line in plain words, or the promise and the price in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import exact_fraction
from podium.present.text.closing import closing_line
from podium.present.text.columns import ranking_lines
from podium.present.text.group_lines import group_remarks, grouped_ranking_lines
from podium.present.text.names import NO_ORDER, printable, why_fewer
from podium.present.user_shares import list_remarks
from podium.privacy import Cost
from podium.privacy.events import BottomEvent, HiddenItems, Selection
from podium.privacy.rounding import display
from podium.release import GroupedRelease, Release

if TYPE_CHECKING:
    from podium.ledger import Status

__all__ = ["answer_text", "list_text", "mechanism_text", "paid_sentence", "release_text", "theorem_texts"]


def release_text(release: Release, *, heading: str | None = None) -> str:
    """Ranked items first, then what is promised, what was paid and by which theorem."""
    return "\n".join([*_list_lines(release, heading), "", *_facts(release)])


def answer_text(release: Release, *, heading: str | None = None, status: Status | None = None, more: str = "") -> str:
    """Ranked items, and one line in plain words: who is protected, how well, and what is left of the budget."""
    return "\n".join([*_list_lines(release, heading), "", closing_line(release, status=status, more=more)])


def list_text(release: Release) -> str:
    """Ranked items alone, where one sentence stands for several answers; one that was free says so."""
    free = not release.paid.events and release.guarantee.cost != Cost.nothing()
    return "\n".join([*_list_lines(release, None), *(["", "Free, because it was asked before."] if free else [])])


def _list_lines(release: Release, heading: str | None) -> list[str]:
    if isinstance(release, GroupedRelease):
        lines, remarks = grouped_ranking_lines(release, heading), group_remarks(release)
        return [*lines, *[""] * bool(lines and remarks), *remarks]
    lines = ranking_lines(release, heading)
    if not release.ordered and release.k > 1:
        lines.append(f"\n{NO_ORDER}")
    if not release.complete:
        lines.append(f"\n{why_fewer(release)}")
    return [*lines, *(f"\n{sentence}" for sentence in list_remarks(release))]


def paid_sentence(release: Release) -> str:
    """What this answer cost, and for how many of its selections; a set is one."""
    if not release.paid.events:
        return "nothing, because it was paid for before"
    paid = f"rho {display(release.paid.rho)}"
    if release.paid.delta:
        paid += f" and delta {display(release.paid.delta)}"
    if isinstance(release, GroupedRelease):
        return f"{paid}, for all groups together"
    if not release.ordered:
        return f"{paid}, for the set as a whole"
    if any(isinstance(event, HiddenItems) for event in release.paid.events):
        # What noise on all counts costs does not depend on how many items pass.
        return f"{paid}, for {len(release.items)} of at most {release.k} items"
    symbols = len(release.items) if release.complete else len(release.items) + 1
    if "at_least" in release.parameters:
        # Some of what was selected and paid for may have been left out by its value.
        symbols = sum(isinstance(event, (Selection, BottomEvent)) for event in release.paid.events)
    return f"{paid}, for {symbols} of at most {release.k} selections"


def mechanism_text(release: Release) -> str:
    """The mechanism and its parameters, readable."""
    parameters = ", ".join(f"{name}={_short(value)}" for name, value in release.parameters.items() if value != "None")
    return printable(f"{release.mechanism}({parameters})")


def theorem_texts(release: Release) -> list[str]:
    """The theorems that a release rests on, one by one."""
    return [printable(theorem) for theorem in release.theorem.split("; ")]


def _facts(release: Release) -> list[str]:
    theorems = theorem_texts(release)
    labels = ["theorem", *[""] * (len(theorems) - 1)]
    return [
        f"promise    {release.promise}",
        f"paid       {paid_sentence(release)}",
        f"mechanism  {mechanism_text(release)}",
        *(f"{label:<9}  {theorem}" for label, theorem in zip(labels, theorems, strict=True)),
    ]


def _short(value: str) -> str:
    """A ratio as a decimal; other parameters as they are."""
    try:
        return display(exact_fraction(value, "parameter")) if "/" in value else value
    except InvalidArgument:
        return value  # a path, or a ratio that is none, such as 1/0: text of whoever wrote the document

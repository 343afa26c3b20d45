"""A release as plain text: the ranked list, the promise, the price."""

from __future__ import annotations

from podium.errors import InvalidArgument
from podium.exact import exact_fraction
from podium.present.text.columns import ranking_lines
from podium.present.text.group_lines import group_remarks, grouped_ranking_lines
from podium.present.text.names import NO_ORDER, printable, why_fewer
from podium.present.user_shares import list_remarks
from podium.privacy.costs import Cost
from podium.privacy.events import BottomEvent, HiddenItems, Selection
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.release import GroupedRelease, Release

__all__ = ["mechanism_text", "paid_sentence", "protection_sentence", "release_summary", "release_text", "theorem_texts"]


def release_text(release: Release, *, heading: str | None = None) -> str:
    """Ranked items first, then what is promised, what was paid and by which theorem."""
    return "\n".join([*_list_lines(release, heading), "", *_facts(release)])


def release_summary(release: Release) -> str:
    """Ranked items, and one sentence about who is protected and how well."""
    return "\n".join([*_list_lines(release, None), "", protection_sentence(release)])


def protection_sentence(release: Release) -> str:
    """Who is protected, with which epsilon, or rho where there is none, and which delta; numbers round up."""
    guarantee, cost = release.guarantee, release.guarantee.cost
    if guarantee.profiles or cost.delta >= 1 or cost == Cost.nothing():
        return f"This answer is {release.promise}."
    loss = f"rho {display(cost.rho)} (zCDP)" if cost.epsilon is None else f"epsilon {display(cost.epsilon)}"
    whom = f"any one {unit_name(release.user)}, with all of its rows"
    return f"Protects {whom}: {loss}, delta {display(cost.delta)}."


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

"""A release as plain text: the ranked list, the promise, the price."""

from __future__ import annotations

from fractions import Fraction

from podium.present.names import NO_ORDER, why_fewer
from podium.present.ranking import ranking_lines
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["mechanism_text", "paid_sentence", "release_text"]


def release_text(release: Release, *, heading: str = "item") -> str:
    """Ranked items first, then what is promised, what was paid and by which theorem."""
    lines = ranking_lines(release, heading)
    if not release.ordered and release.k > 1:
        lines.append(f"\n{NO_ORDER}")
    if not release.complete:
        lines.append(f"\n{why_fewer(release)}")
    return "\n".join([*lines, "", *_facts(release)])


def paid_sentence(release: Release) -> str:
    """What this answer cost, and for how many of its selections; a set is one."""
    if not release.paid.events:
        return "nothing, because it was paid for before"
    paid = f"rho {display(release.paid.rho)}"
    if release.paid.delta:
        paid += f" and delta {display(release.paid.delta)}"
    if not release.ordered:
        return f"{paid}, for the set as a whole"
    symbols = len(release.items) if release.complete else len(release.items) + 1
    return f"{paid}, for {symbols} of at most {release.k} selections"


def mechanism_text(release: Release) -> str:
    """The mechanism and its parameters, readable."""
    parameters = ", ".join(f"{name}={_short(value)}" for name, value in release.parameters.items() if value != "None")
    return f"{release.mechanism}({parameters})"


def _facts(release: Release) -> list[str]:
    theorems = release.theorem.split("; ")
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
        return display(Fraction(value)) if "/" in value else value
    except ValueError:
        return value

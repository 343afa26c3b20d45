"""What a release means, for whoever has to trust it: who is protected, from what, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass

from podium.exact import ball
from podium.present.all_lists import counting_sentence
from podium.present.beside_groups import beside_remarks
from podium.present.text.names import printable, why_fewer
from podium.present.text.release_text import mechanism_text, paid_sentence, theorem_texts
from podium.present.user_shares import list_remarks
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import above, certified_bound, display
from podium.release import GroupedRelease, Release

__all__ = ["Section", "explanation"]


@dataclass(frozen=True, slots=True)
class Section:
    """A question that readers have, and its answer."""

    title: str
    text: str


_WHO = (
    "Any one user, with all of that user's rows: not a row, not a visit, but whoever has one value in {column}. "
    "People who share a value are protected together, and one person under several values is not protected as one."
)
_WHAT = (
    "From anybody who sees the answer, whatever they know already, telling whether that user was in the table. Two "
    "tables that differ by one user, added or removed, give every possible answer with nearly the same probability."
)
_NUMBERS = (
    "Epsilon and delta say how near: what happens with the user is at most e^epsilon times as likely as without, plus "
    "delta. Smaller is safer. An epsilon of 1 is a factor of 2.72; a delta should be well below one over the number of "
    "users."
)
_FEWER = (
    "The items that stand out are named, and paid for; where no other stands out enough at this budget, the list ends. "
    "A short list is an ordinary answer. Few users, a small budget, a condition that few rows meet and rows that could "
    "not be read as meant all look alike in it, and it does not say how many items there are."
)
_GROUPS = (
    "Where nobody listed the groups, one in which nothing stands out is not shown: that says as little as a short "
    "list. A user counts in few groups, and the costliest of these are what is paid: their number "
    "costs nothing."
)
_ASSUMPTIONS = (
    "The process that ran podium and the database are trusted, and the user column says who is who. Everything else "
    "that was released about the same users adds up: a ledger keeps that sum, a single call of 'podium top' does not."
)
_NOT = (
    "How long the answer took, that a question failed, what is known about everybody (a popular item is popular with "
    "or without any one user), and what the owner of the data shows elsewhere."
)
_READABLE = 100


def explanation(release: Release | None = None) -> tuple[Section, ...]:
    """The sections, in general or for one release."""
    fewer = _FEWER if release is None or release.complete else f"{why_fewer(release)} {_FEWER}"
    if isinstance(release, GroupedRelease):
        fewer = f"{fewer} {_GROUPS}"
    return (
        Section("Who is protected", _WHO.format(column=_column(release))),
        Section("From what", _WHAT),
        Section("How well", _NUMBERS if release is None else _promise(release)),
        Section("Why there may be fewer than k items", fewer),
        *(() if release is None else (Section("What was run and paid", _run(release)),)),
        Section("What has to be true for this", _ASSUMPTIONS),
        Section("What is not covered", _NOT),
    )


def _column(release: Release | None) -> str:
    user = None if release is None else release.user
    if user is None:
        return "the user column"
    return f"the column {unit_name(user)}" if isinstance(user, str) else f"each {unit_name(user)}"


def _promise(release: Release) -> str:
    cost = release.guarantee.cost
    sentence = f"This release is {release.promise}."
    if cost.epsilon is None or release.guarantee.profiles:
        return sentence
    loss = cost.epsilon
    # A factor of more digits than anybody reads is not worked out.
    factor = display(certified_bound(lambda: ball(loss).exp(), above)) if loss <= _READABLE else f"e^{display(loss)}"
    failure = f", plus {display(cost.delta)}" if cost.delta else ""
    return (
        f"{sentence} Whatever is looked for in the answer, it is at most {factor} times as likely with any one user as "
        f"without{failure}, and the other way round."
    )


def _run(release: Release) -> str:
    entry = release.paid.entry
    receipt = "" if entry is None else f" The ledger's receipt is {printable(entry)}."
    theorems = "; ".join(theorem_texts(release))
    counted = "".join(f" {sentence}" for sentence in list_remarks(release))
    if isinstance(release, GroupedRelease) and (groups := counting_sentence(release)):
        counted = " ".join((counted, groups, *beside_remarks(release)))
    return f"{mechanism_text(release)}, by {theorems}.{counted} It cost {paid_sentence(release)}.{receipt}"

"""The statistical audit of a list for each group sees which groups are shown, in which order, with which receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.audit_cases import ALPHA
from tests.support.groups import by_group

from podium.audit import Pair, statistical_audit
from podium.audit.statistical.observation import Entries, look
from podium.histogram import Histogram
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.release import GroupedRelease, GroupLists, RankedList, Receipt

MECHANISM = GroupedTopK.selections(1, 3, Fraction(1, 2), Fraction(1, 100))
PAIR = Pair("one user more, alone in a group", {"Xa": 9, "Ya": 0}, {"Xa": 9, "Ya": 1})


def sound(counts: Mapping[str, int]) -> GroupedRelease:
    return MECHANISM.release(by_group(counts))


def shows_what_has_rows(counts: Mapping[str, int]) -> GroupedRelease:
    release = sound(counts)
    present: dict[Any, RankedList] = {
        group: RankedList((), 1) for group, rows in by_group(counts).items() if rows.top(1).items
    }
    return replace(release, lists=GroupLists([*(present | dict(release.lists)).items()]))


def charges_hidden_groups(counts: Mapping[str, int]) -> GroupedRelease:
    release = sound(counts)
    hidden = sum(bool(rows.top(1).items) for rows in by_group(counts).values()) - len(release.lists)
    return replace(release, paid=Receipt((*release.paid.events, *release.paid.events[-1:] * hidden)))


def test_the_mechanism_passes() -> None:
    report = statistical_audit(sound, MECHANISM.guarantee, pairs=[PAIR], samples=2_000, alpha=ALPHA, name="groups")
    assert not report.violated, str(report)


@pytest.mark.parametrize("broken", [shows_what_has_rows, charges_hidden_groups])
def test_a_hidden_group_that_shows_is_caught(broken: object) -> None:
    report = statistical_audit(broken, MECHANISM.guarantee, pairs=[PAIR], samples=2_000, alpha=ALPHA, name="broken")
    assert report.violated


def test_values_of_each_list_are_numbers_and_everything_else_is_a_name() -> None:
    release = MECHANISM.release({"X": Histogram({"a": 900}, known=False)})
    (found,) = release.lists.values()

    def seen(*values: int, group: str = "X") -> tuple[object, tuple[float, ...]]:
        listed = replace(found, values=tuple(map(Fraction, values)))
        one = look(replace(release, lists=GroupLists({group: listed}), value_kind="counts"), Entries())
        return one.key, one.numbers

    assert seen(900)[1] == (900.0,)
    assert seen(900)[0] == seen(905)[0]
    assert seen(900)[0] != seen(900, group="Y")[0]

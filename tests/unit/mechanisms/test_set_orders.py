"""A released set tells its items and nothing else: not which of them has the larger count, nor the larger noise."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any

import pytest
from tests.support.collisions import COLLIDING, told

from podium import Histogram
from podium.audit.targets.inputs import mechanism_input
from podium.audit.targets.shipped import EXAMPLES
from podium.exact import ShownFraction
from podium.histogram import Scores
from podium.mechanisms import CanonicalTopK, FixedThreshold, NoisyTopK, OneshotLaplace, PayWhatYouGet, TestedTopK
from podium.mechanisms.base import describe
from podium.randomness.replay import ReplayableBits
from podium.release import ItemSet

SETS: dict[str, Any] = {
    "canonical, gumbel": CanonicalTopK(2, 5),
    "canonical, exponential": CanonicalTopK(2, 5, noise="exponential"),
    "canonical, gamma": CanonicalTopK(2, 5, gamma=1),
    "fixed threshold": FixedThreshold(2, 5, "0.01"),
    "noisy, logistic": NoisyTopK(2, 5, noise="logistic"),
    "noisy, half-logistic": NoisyTopK(2, 5, noise="half-logistic"),
    "oneshot, pure": OneshotLaplace(2, 5),
    "oneshot, approximate": OneshotLaplace(2, "0.2", delta="0.01"),
    "tested": TestedTopK(2, 5),
    "tested, approximate": TestedTopK(2, 5, delta="0.01"),
}
HIGH, MIDDLE = 2 * 10**6, 10**6
"""So far apart that other items come out, or in another order of their noise, with probability below 1e-100."""


def worlds(items: tuple[Hashable, ...]) -> list[dict[Hashable, int]]:
    """The first two items lead, and which of them is the first is the secret."""
    one, two, *others = items
    return [dict.fromkeys(others, 0) | {one: a, two: b} for a, b in ((HIGH, MIDDLE), (MIDDLE, HIGH))]


@pytest.mark.parametrize("kind", COLLIDING)
@pytest.mark.parametrize("name", SETS)
def test_which_item_of_a_set_leads_is_not_told(name: str, kind: str) -> None:
    items = COLLIDING[kind]
    one, other = (SETS[name].release(Histogram(counts)) for counts in worlds(items))
    assert one.outcome == other.outcome == frozenset(items[:2])
    assert told(one) == told(other)


@pytest.mark.parametrize("name", ["canonical, gumbel", "noisy, logistic", "oneshot, pure", "tested"])
def test_nor_where_a_domain_is_given_by_its_size_or_has_scores(name: str) -> None:
    sized = [Histogram({0: a, 8: b}, domain_size=100) for a, b in ((HIGH, MIDDLE), (MIDDLE, HIGH))]
    scored = [Scores(counts, sensitivity=1) for counts in worlds(COLLIDING["text"])]
    for data in (sized, scored):
        one, other = (SETS[name].release(histogram) for histogram in data)
        assert told(one) == told(other)


def test_values_of_a_set_are_in_the_order_of_its_items() -> None:
    mechanism = OneshotLaplace(2, 5)
    for kind, items in COLLIDING.items():
        for counts in worlds(items):
            measured = mechanism.measure(mechanism.release(Histogram(counts)), Histogram(counts))
            near = [min((HIGH, MIDDLE), key=lambda count: abs(count - value)) for value in measured.values or ()]
            assert near == [counts[item] for item in measured.outcome], kind


def test_no_other_mechanism_releases_a_set() -> None:
    listed = {type(mechanism) for mechanism in SETS.values()}
    for name, mechanism in EXAMPLES.items():
        if type(mechanism) in listed or isinstance(mechanism, PayWhatYouGet):
            continue
        bits = ReplayableBits(1)
        for high in (0, 3, 40):
            release = mechanism.release(mechanism_input(mechanism, {"a": high, "b": 2, "c": 1}, bits=bits), bits=bits)
            assert isinstance(release.outcome, tuple), name


@pytest.mark.parametrize("name", [*EXAMPLES, *SETS])
def test_parameters_have_a_public_order_and_values_one_type(name: str) -> None:
    mechanism = {**EXAMPLES, **SETS}[name]
    if isinstance(mechanism, PayWhatYouGet):
        mechanism = EXAMPLES["limited-domain"]
    bits = ReplayableBits(2)
    described = describe(mechanism)
    stated = list(described)
    assert stated == [field.name for field in fields(mechanism) if field.name in stated]
    for counts in ({"a": 60, "b": 50, "c": 1}, {"a": 0, "b": 1, "c": 60}, {"a": 1, "b": 0, "c": 0}):
        release = mechanism.release(mechanism_input(mechanism, counts, bits=bits), bits=bits)
        names = list(release.parameters)
        asked_first = [name for name in ("lead", "gap", "users_by_items") if name in names]
        # What is not stated has no place, unless it was chosen privately.
        known = [parameter for parameter in stated if parameter in names]
        assert all(parameter in known or described[parameter] == "None" for parameter in stated)
        assert names[: len(known)] == known
        assert names[len(known) :] in ([], ["found"], ["chosen_k_bar"], ["branch", *asked_first])
        assert {type(value) for value in release.parameters.values()} <= {str}
        assert {type(value) for value in release.values or ()} <= {ShownFraction}
        assert type(release.outcome) in (tuple, ItemSet)

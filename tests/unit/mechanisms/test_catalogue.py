"""The catalogue: every mechanism is in it, and what it says of each is what the mechanism does."""

from __future__ import annotations

import pytest

import podium.mechanisms
from podium import Histogram, Release
from podium.errors import InvalidArgument
from podium.mechanisms import (
    CanonicalTopK,
    ExponentialTopK,
    ExponentialWithGap,
    FixedThreshold,
    HybridTopK,
    JointTopK,
    LimitedDomain,
    Mechanism,
    NoisyTopK,
    OneshotLaplace,
    PayWhatYouGet,
    PermuteAndFlip,
    SparseVector,
)
from podium.mechanisms.catalogue import Description, catalogue

DESCRIBED = {described.name: described for described in catalogue()}
KNOWN = Histogram({"a": 900, "b": 600, "c": 300, "d": 1})
UNKNOWN = Histogram.top_rows(["a", "b", "c"], [900, 600, 300], next_count=1)
EXAMPLES = [
    CanonicalTopK(2, 1),
    ExponentialTopK(2, 1),
    ExponentialWithGap(1),
    FixedThreshold(2, 1, "0.01"),
    HybridTopK(100, 2, 1),
    JointTopK(2, 1),
    LimitedDomain(2, 3, 1, "0.01"),
    NoisyTopK(2, 1),
    OneshotLaplace(2, 1),
    PermuteAndFlip(1),
    SparseVector(100, 2, 1),
]


def test_every_mechanism_is_described_in_full() -> None:
    exported = {name: getattr(podium.mechanisms, name) for name in podium.mechanisms.__all__}
    kinds = {name for name, cls in exported.items() if issubclass(cls, Mechanism) and cls is not Mechanism}
    assert set(DESCRIBED) >= kinds | {PayWhatYouGet.__name__}
    assert set(DESCRIBED) <= set(exported)
    assert [name for name, described in DESCRIBED.items() if not all(described.to_dict().values())] == []


def test_a_description_says_what_the_docstring_says() -> None:
    assert DESCRIBED["LimitedDomain"] == Description(
        name="LimitedDomain",
        what="The k best of the true top k_bar, as long as they stand out from the item after them.",
        use=(
            "Nobody can list the items beforehand, and their order is wanted. The default for one or two items where a "
            "ledger pays, or counts are wanted."
        ),
        domain="unknown domain",
        result="ordered",
        values="no values, or noisy counts with Laplace noise",
        guarantee=(
            "Each output symbol, BOTTOM included, is an epsilon_per_item-bounded-range selection and costs "
            "rho(epsilon_per_item); the call costs delta/(1+delta) once."
        ),
        source=DESCRIBED["LimitedDomain"].source,
    )


def result_of(release: Release) -> str:
    if release.mechanism == "SparseVector":
        return "in the order asked"
    if not release.ordered:
        return "a set"
    return "one item" if release.k == 1 else "ordered"


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda mechanism: type(mechanism).__name__)
def test_the_shape_is_that_of_a_release(mechanism: Mechanism) -> None:
    described = DESCRIBED[type(mechanism).__name__]
    release = mechanism.release(KNOWN)
    assert described.result.partition(",")[0] == result_of(release)
    has_gaps = "gap" in described.values
    assert (release.value_kind == "gaps") is has_gaps
    if not has_gaps:
        assert release.values is None


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda mechanism: type(mechanism).__name__)
def test_only_mechanisms_for_unknown_domains_take_one(mechanism: Mechanism) -> None:
    if DESCRIBED[type(mechanism).__name__].domain == "unknown domain":
        mechanism.release(UNKNOWN)
    else:
        with pytest.raises(InvalidArgument):
            mechanism.release(UNKNOWN)

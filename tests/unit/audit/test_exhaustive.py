"""The exact audit: certified verdicts, the exact profile, and a margin that is what it says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from podium import Histogram
from podium.audit import ExactReport, World, exact_audit
from podium.audit.exact.divergence import hockey_stick
from podium.errors import InvalidArgument
from podium.mechanisms import ExponentialTopK, LimitedDomain, PermuteAndFlip
from podium.privacy import Guarantee

WORLD = World(2, 1)


def randomised_response(epsilon: float) -> Any:
    """yes with odds e^epsilon if anybody has a, no otherwise; as a distribution in floats."""
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda counts: {"yes": truth, "no": 1 - truth} if counts["a"] else {"yes": 1 - truth, "no": truth}


def audited(subject: Any, claim: Any = None, **options: Any) -> ExactReport:
    return exact_audit(subject, claim, world=options.pop("world", WORLD), **options)


def test_a_claim_that_is_met_exactly_holds_and_has_no_margin() -> None:
    report = audited(randomised_response(1.0), 1, name="randomised response")
    assert not report.violated
    assert report.verdict == (
        "The claim holds on this world for the stated distribution: all 12 pairs, both directions, certified. "
        "The sampler was not run."
    )
    assert "| judged | the stated distribution, not draws of the sampler |" in report.to_markdown()
    assert report.to_dict()["judged"] == "stated law"
    assert report.exact_epsilon == pytest.approx(1, abs=1e-9)
    assert report.margin == pytest.approx(0, abs=1e-9)


def test_a_claim_that_is_missed_by_a_thousandth_is_refuted_with_its_pair() -> None:
    report = audited(randomised_response(1.001), 1)
    assert report.violated
    assert report.verdict.startswith("VIOLATED on this world by the stated distribution: hockey-stick divergence of ")
    assert {report.left["a"], report.right["a"]} == {0, 1}
    assert report.margin == pytest.approx(-0.001, abs=1e-9)


def test_an_outcome_of_one_side_only_has_no_finite_epsilon() -> None:
    report = audited(lambda counts: {bool(counts["a"]): Fraction(1)}, 1)
    assert report.violated
    assert math.isinf(report.exact_epsilon)
    assert report.to_dict()["margin"] == "-inf"


def test_the_profile_is_the_largest_divergence_of_all_pairs() -> None:
    mechanism = LimitedDomain(1, 1, "0.5", "0.05")
    world = World(2, 1, lift={"a": 5})
    report = audited(mechanism, world=world)
    distributions = {}
    for counts in world.histograms():
        for other in (counts, *world.neighbours(counts)):
            distributions[tuple(other.values())] = mechanism.distribution(Histogram(other), exact=True)
    for point in report.profile[::5]:
        found = [
            float(
                hockey_stick(
                    distributions[tuple(p.values())], distributions[tuple(q.values())], Fraction(point.epsilon)
                ).mid()
            )
            for counts in world.histograms()
            for more in world.neighbours(counts)
            for p, q in ((counts, more), (more, counts))
        ]
        assert point.exact == pytest.approx(max(found), rel=1e-9, abs=1e-15)
        assert point.claimed == float(mechanism.guarantee.delta(epsilon=Fraction(point.epsilon)))
        assert point.exact <= point.claimed * (1 + 1e-12)


def test_exact_epsilon_at_a_delta_is_where_the_profile_crosses_it() -> None:
    distribution = randomised_response(1.0)
    report = audited(distribution, Guarantee.approximate("0.5", "0.1"))
    expected = math.log(math.e - 0.1 * (1 + math.e))
    assert report.exact_epsilon == pytest.approx(expected, abs=1e-8)
    assert report.violated


def test_two_processes_find_what_one_finds() -> None:
    mechanism = ExponentialTopK(1, "0.5")
    alone, together = (audited(mechanism, workers=workers) for workers in (1, 2))
    assert together == alone


def test_kinds_of_claims() -> None:
    assert not audited(ExponentialTopK(1, 1), 1, kind="bounded_range").violated
    assert audited(PermuteAndFlip(1), 1, kind="bounded_range").violated
    assert not audited(PermuteAndFlip(1), 1, kind="pure").violated


class WithoutBalls:
    """Somebody else's mechanism: a distribution in floats, no ``exact`` option."""

    guarantee = Guarantee.pure(1)

    def distribution(self, histogram: Histogram) -> Mapping[str, float]:
        return {"heads": 0.5, "tails": 0.5}


def test_a_distribution_in_floats_is_enough() -> None:
    report = audited(WithoutBalls())
    assert not report.violated
    assert report.exact_epsilon == 0


def test_progress_counts_histograms() -> None:
    told: list[tuple[int, int]] = []
    audited(WithoutBalls(), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("subject", "claim", "options", "wrong", "allowed"),
    [
        (lambda _: {0: 1}, None, {}, "claim=None", "a Guarantee or an epsilon. The subject states none itself"),
        (3, 1, {}, "subject='int'", "a mechanism with distribution(), or a distribution"),
        (lambda _: {0: 1}, 1, {"workers": 2}, "workers=2", "1 where the subject cannot be pickled"),
        (
            lambda _: {0: 0.9},
            1,
            {},
            "distribution='a distribution that sums to 0.9, not to 1'",
            "probabilities of all outcomes",
        ),
        (lambda _: {0: 1}, 1, {"kind": "zcdp"}, "kind='zcdp'", "'guarantee', 'pure' or 'bounded_range'"),
    ],
)
def test_bad_input(subject: Any, claim: Any, options: dict[str, Any], wrong: str, allowed: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        audited(subject, claim, **options)
    assert str(caught.value) == f"{wrong} is not valid. Allowed: {allowed}."

"""What audits report: as data, as JSON, as Markdown. None of them ever says that a mechanism is private."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.audit.exact.claims import Finding, Kind, curve
from podium.exact import float_above
from podium.privacy.documents import Document
from podium.privacy.guarantee import Guarantee
from podium.privacy.rounding import display

__all__ = ["DistributionReport", "EventTest", "ExactReport", "ProfilePoint", "StatisticalReport"]

_NO_PROOF = "That nothing was found proves nothing: another input or event may show more."


@dataclass(frozen=True, slots=True)
class ProfilePoint:
    """At ``epsilon``: the exact delta of the world, rounded up, and the claimed one."""

    epsilon: float
    exact: float
    claimed: float


@dataclass(frozen=True, slots=True)
class ExactReport(Document):
    """A small world, all of it: what holds there, and how tightly. Judged is the distribution that the subject states.

    ``exact_epsilon`` is the smallest epsilon that the world allows at the claim's ``delta``; ``margin`` is what is left
    between it and the claimed epsilon. ``left`` and ``right`` are the pair on which the claim is tightest.
    """

    subject: str
    claim: Guarantee
    kind: Kind
    world: str
    histograms: int
    pairs: int
    finding: Finding
    left: Mapping[str, int]
    right: Mapping[str, int]
    claimed_epsilon: Fraction
    delta: Fraction
    exact_epsilon: float
    profile: tuple[ProfilePoint, ...]

    @property
    def violated(self) -> bool:
        """Whether some pair breaks the claim, certainly."""
        return self.finding.violated

    @property
    def margin(self) -> float:
        """Claimed epsilon minus the exact one, at the claim's delta; negative if the claim is broken there."""
        return float(self.claimed_epsilon) - self.exact_epsilon

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.violated:
            return f"VIOLATED on this world by the stated distribution: {self.finding.text}"
        return (
            f"The claim holds on this world for the stated distribution: all {self.pairs:,} pairs, both directions, "
            "certified. "
            "The sampler was not run."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "audit": "exact",
            "judged": "stated law",
            "subject": self.subject,
            "claim": self.claim.to_dict(),
            "kind": self.kind,
            "world": self.world,
            "histograms": self.histograms,
            "pairs": self.pairs,
            "violated": self.violated,
            "verdict": self.verdict,
            "worst_pair": {"left": dict(self.left), "right": dict(self.right), "excess": _finite(self.finding.excess)},
            "claimed_epsilon": float(self.claimed_epsilon),
            "delta": float(self.delta),
            "exact_epsilon": _finite(self.exact_epsilon),
            "margin": _finite(self.margin),
            "profile": [{"epsilon": at.epsilon, "exact": at.exact, "claimed": at.claimed} for at in self.profile],
        }

    def to_markdown(self) -> str:
        """The verdict, the numbers, the worst pair."""
        return "\n".join(
            [
                f"### Exact audit of {self.subject}",
                "",
                f"**{self.verdict}**",
                "",
                *_table(
                    [
                        ("judged", "the stated distribution, not draws of the sampler"),
                        ("claim", str(self.claim)),
                        ("world", self.world),
                        ("enumerated", f"{self.histograms:,} histograms, {self.pairs:,} pairs"),
                        ("claimed", f"epsilon {display(self.claimed_epsilon)} at delta {display(self.delta)}"),
                        ("exact on this world", f"epsilon {self.exact_epsilon:.6g} at delta {display(self.delta)}"),
                        ("margin", f"{self.margin:.3g}"),
                        ("tightest pair", f"{dict(self.left)} and {dict(self.right)}"),
                    ]
                ),
            ]
        )

    __str__ = to_markdown


@dataclass(frozen=True, slots=True)
class EventTest(Document):
    """One event on one pair: with confidence 1 - alpha, it has probability at least ``p_low`` under one input and at
    most ``q_high`` under the other. ``hits`` are out of ``draws`` each, the likelier side first.
    """

    pair: str
    stage: int
    event: str
    flipped: bool
    hits: tuple[int, int]
    draws: int
    alpha: float
    p_low: float
    q_high: float

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that these bounds allow at ``delta``, rounded down."""
        if self.p_low <= delta or self.q_high <= 0:
            return 0.0
        return max(0.0, math.log((self.p_low - delta) / self.q_high) * (1 - 1e-12) - 1e-12)

    def refutes(self, claims: Iterable[tuple[Fraction, Fraction]]) -> bool:
        """Whether some claimed (epsilon, delta) cannot be true."""
        return any(
            self.p_low * (1 - 1e-12) > math.exp(min(float_above(epsilon), 700.0)) * self.q_high + float_above(delta)
            for epsilon, delta in claims
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "pair": self.pair,
            "stage": self.stage,
            "event": self.event,
            "likelier": "right" if self.flipped else "left",
            "hits": list(self.hits),
            "draws": self.draws,
            "alpha": self.alpha,
            "p_low": self.p_low,
            "q_high": self.q_high,
        }


@dataclass(frozen=True, slots=True)
class StatisticalReport(Document):
    """What sampling showed, with all its tests; they hold together with confidence 1 - alpha.

    ``raised`` of the ``draws`` were errors, which are outcomes like any other.
    """

    subject: str
    claim: Guarantee
    delta: Fraction
    claimed_epsilon: Fraction
    alpha: float
    tests: tuple[EventTest, ...]
    draws: int
    raised: int
    seconds: float
    stopped: str

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted with confidence 1 - alpha."""
        return self.refutation is not None

    @property
    def refutation(self) -> EventTest | None:
        """The first test that refutes the claim."""
        claims = curve(self.claim)
        return next((test for test in self.tests if test.refutes(claims)), None)

    @property
    def best(self) -> EventTest:
        """The test with the largest lower bound on epsilon."""
        return max(self.tests, key=lambda test: test.epsilon(float(self.delta)))

    @property
    def epsilon(self) -> float:
        """With confidence 1 - alpha the mechanism is not (e, delta)-private for any e below this."""
        return self.epsilon_at(self.delta)

    def epsilon_at(self, delta: Fraction | float) -> float:
        """The lower bound at another delta; all hold together."""
        return max((test.epsilon(float(delta)) for test in self.tests), default=0.0)

    @property
    def spent(self) -> float:
        """What these tests used of alpha: the sum of their own; the rest is for later stages and for repetition."""
        return math.fsum(test.alpha for test in self.tests)

    @property
    def verdict(self) -> str:
        """One sentence."""
        found = self.refutation
        if found is not None:
            return (
                f"VIOLATED: with confidence 1 - {self.alpha:g} the claim is false. On the pair '{found.pair}' an event "
                f"has probability at least {found.p_low:.4g} with one input, at most {found.q_high:.4g} with the other."
            )
        errors = f", of which {self.raised:,} were errors" if self.raised else ""
        return f"No violation found in {self.draws:,} draws{errors}. {_NO_PROOF}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "audit": "statistical",
            "subject": self.subject,
            "claim": self.claim.to_dict(),
            "claimed_epsilon": float(self.claimed_epsilon),
            "delta": float(self.delta),
            "epsilon_at_least": self.epsilon,
            "alpha": self.alpha,
            "spent": self.spent,
            "violated": self.violated,
            "verdict": self.verdict,
            "draws": self.draws,
            "raised": self.raised,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "tests": [test.to_dict() for test in self.tests],
        }

    def to_markdown(self) -> str:
        """The verdict, the bound, the best event."""
        best = self.refutation or self.best
        sides = "right, left" if best.flipped else "left, right"
        return "\n".join(
            [
                f"### Statistical audit of {self.subject}",
                "",
                f"**{self.verdict}**",
                "",
                *_table(
                    [
                        ("claim", str(self.claim)),
                        ("claimed", f"epsilon {display(self.claimed_epsilon)} at delta {display(self.delta)}"),
                        ("at least", f"epsilon {self.epsilon:.4g} at delta {display(self.delta)}, in truth"),
                        ("confidence", f"1 - {self.alpha:g}; the tests used {self.spent:.2g} of it"),
                        ("draws", f"{self.draws:,} in {self.seconds:.1f} s, {len(self.tests)} tests; {self.stopped}"),
                        ("pair", best.pair),
                        ("event", best.event),
                        ("seen", f"{best.hits[0]:,} and {best.hits[1]:,} of {best.draws:,} draws each ({sides})"),
                    ]
                ),
            ]
        )

    __str__ = to_markdown


@dataclass(frozen=True, slots=True)
class DistributionReport(Document):
    """Draws against a claimed distribution: Pearson's chi-square, and outcomes with a claimed probability of 0.

    The p-value is that of the chi-square distribution, which is the limit for many draws.
    """

    subject: str
    draws: int
    cells: int
    statistic: float
    p_value: float
    alpha: float
    impossible: tuple[str, ...]
    largest: str

    @property
    def violated(self) -> bool:
        """Whether the draws do not follow the distribution."""
        return bool(self.impossible) or self.p_value < self.alpha

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.impossible:
            return (
                f"WRONG DISTRIBUTION: {self.impossible[0]} came out, which the claimed distribution says is impossible."
            )
        if self.violated:
            return f"WRONG DISTRIBUTION: the draws do not follow the claimed distribution; most at {self.largest}."
        return f"No difference from the claimed distribution found in {self.draws:,} draws."

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "audit": "law",
            "subject": self.subject,
            "draws": self.draws,
            "cells": self.cells,
            "chi_square": self.statistic,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "impossible": list(self.impossible),
            "violated": self.violated,
            "verdict": self.verdict,
        }

    def to_markdown(self) -> str:
        """The verdict and the statistic."""
        rows = [
            ("chi-square", f"{self.statistic:.2f} with {max(self.cells - 1, 1)} degrees of freedom"),
            ("p-value", f"{self.p_value:.3g}; an alarm below {self.alpha:g}"),
            ("draws", f"{self.draws:,}"),
        ]
        return "\n".join([f"### Distribution audit of {self.subject}", "", f"**{self.verdict}**", "", *_table(rows)])

    __str__ = to_markdown


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    return ["| | |", "|---|---|", *(f"| {name} | {value.replace('|', chr(92) + '|')} |" for name, value in rows)]


def _finite(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)

"""What an exhibit of the gallery is, and how the auditor runs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from podium.audit.reports import StatisticalReport
from podium.audit.statistical.numeric import numeric_audit
from podium.audit.statistical.sequential import DEFAULT_ALPHA, statistical_audit
from podium.audit.targets.neighbours import Pair
from podium.errors import NotRandom
from podium.exact import Number, probability
from podium.privacy.documents import Document
from podium.privacy.guarantee import Guarantee
from podium.randomness import BitSource, system_bits

__all__ = ["BatchSampler", "Caught", "Counts", "Exhibit", "catch", "gallery_text"]

Counts: TypeAlias = dict[str, int]
BatchSampler: TypeAlias = Callable[[Any, int], Any]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A mechanism that is not private as claimed: where the mistake comes from, and within how many draws it shows.

    ``build(bits)`` makes its sampler, of many outcomes at a time; ``mended`` the same with the mistake put right, to
    show that it is the mistake which is found.
    """

    name: str
    title: str
    source: str
    claim: Guarantee
    pairs: tuple[Pair, ...]
    build: Callable[[BitSource], BatchSampler]
    samples: int
    mended: Callable[[BitSource], BatchSampler] | None = None
    numeric: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Caught(Document):
    """What became of an exhibit: the report, or how its randomness gave it away."""

    exhibit: Exhibit
    report: StatisticalReport | None
    reason: str
    alpha: Fraction

    @property
    def caught(self) -> bool:
        """Whether the claim was refuted."""
        return self.report is None or self.report.violated

    @property
    def draws(self) -> int | None:
        """How many draws it took; None if the randomness itself failed."""
        return None if self.report is None else self.report.draws

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.exhibit.name,
            "title": self.exhibit.title,
            "source": self.exhibit.source,
            "claim": str(self.exhibit.claim),
            "stated_draws": self.exhibit.samples,
            "caught": self.caught,
            "draws": self.draws,
            "epsilon_at_least": None if self.report is None else self.report.epsilon,
            "alpha": float(self.alpha),
            "reason": self.reason,
        }


def gallery_text(caught: Iterable[Caught]) -> str:
    """A Markdown table: what each exhibit claims, what it turned out to be, and after how many draws."""
    found = list(caught)
    lines = [
        "| exhibit | claimed epsilon | at least | caught after | stated |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        report = one.report
        shown = ("", "", one.reason) if report is None else _numbers(report)
        after = shown[2] if one.caught else "not caught"
        lines.append(f"| {one.exhibit.name} | {shown[0]} | {shown[1]} | {after} | {one.exhibit.samples:,} draws |")
    total = float(sum(one.alpha for one in found))
    lines += ["", f"{sum(one.caught for one in found)} of {len(found)} caught; false-alarm probability {total:.2g}."]
    return "\n".join(lines)


def _numbers(report: StatisticalReport) -> tuple[str, str, str]:
    return f"{float(report.claimed_epsilon):g}", f"{report.epsilon:.2f}", f"{report.draws:,} draws"


def catch(
    exhibit: Exhibit, *, bits: BitSource | None = None, alpha: Number = DEFAULT_ALPHA, mended: bool = False
) -> Caught:
    """Audit an exhibit as a black box within its stated number of draws; ``mended`` audits the right version of it."""
    build = exhibit.mended if mended else exhibit.build
    if build is None:
        raise LookupError(f"the exhibit {exhibit.name!r} has no mended version")
    sampler = build(system_bits() if bits is None else bits)
    audit = numeric_audit if exhibit.numeric else statistical_audit
    level = probability(alpha, "alpha")
    try:
        report = audit(
            sampler,
            exhibit.claim,
            pairs=exhibit.pairs,
            batch=True,
            samples=exhibit.samples,
            alpha=level,
            name=exhibit.name,
        )
    except NotRandom as error:
        if error.constant:
            raise
        return Caught(exhibit, None, str(error), level)
    return Caught(exhibit, report, report.verdict, level)

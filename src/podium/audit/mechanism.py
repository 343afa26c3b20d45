"""The whole audit of one mechanism: exact, statistical, and the distribution of its sampler, as one report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.audit.exact.exhaustive import exact_audit
from podium.audit.exact.worlds import World
from podium.audit.reports import DistributionReport, ExactReport, StatisticalReport
from podium.audit.statistical.draws import MechanismSampler
from podium.audit.statistical.numeric import distribution_audit
from podium.audit.statistical.sequential import DEFAULT_ALPHA, Progress, statistical_audit
from podium.audit.targets.inputs import mechanism_input
from podium.audit.targets.shipped import Sessions, pairs_for, world_for
from podium.exact import Number, probability
from podium.mechanisms import PayWhatYouGet
from podium.privacy.documents import Document
from podium.release import Release

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = ["MechanismAudit", "audit_mechanism"]

_DISTRIBUTION_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class MechanismAudit(Document):
    """All parts of one audit; ``exact`` and ``distribution`` are None if single outcomes have no distribution."""

    subject: str
    exact: ExactReport | None
    statistical: StatisticalReport
    distribution: DistributionReport | None

    @property
    def parts(self) -> list[ExactReport | StatisticalReport | DistributionReport]:
        """The reports that were made."""
        return [part for part in (self.exact, self.statistical, self.distribution) if part is not None]

    @property
    def violated(self) -> bool:
        """Whether any part found a violation."""
        return any(part.violated for part in self.parts)

    @property
    def false_alarm(self) -> float:
        """The probability that a sound mechanism is accused: the sum over the parts that sample."""
        return math.fsum(part.alpha for part in (self.statistical, self.distribution) if part is not None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "subject": self.subject,
            "violated": self.violated,
            "false_alarm": self.false_alarm,
            "audits": [part.to_dict() for part in self.parts],
        }

    def to_markdown(self) -> str:
        """All parts, one after the other."""
        title = f"## Audit of {self.subject}: {'VIOLATED' if self.violated else 'no violation found'}"
        return "\n\n".join([title, *(part.to_markdown() for part in self.parts)]) + "\n"

    def plot(self, path: Path | str | None = None, *, dark: bool = False) -> Picture:
        """The claimed line, the exact profile and the bound from sampling."""
        from podium.audit.picture import plot_audit  # noqa: PLC0415 - matplotlib is optional

        return plot_audit(self.exact, self.statistical, path, dark=dark)

    __str__ = to_markdown


def audit_mechanism(
    mechanism: Any,
    *,
    world: World | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    alpha: Number = DEFAULT_ALPHA,
    workers: int = 1,
    name: str | None = None,
    sampler: Callable[[Any], Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> MechanismAudit:
    """Audit a podium mechanism: its distribution on a small world, its sampler as a black box, and its draws.

    ``samples`` or ``seconds`` is the budget of the black box. ``sampler`` replaces the way the mechanism is run, for
    tests that replay bits. Half of ``alpha`` is for the bound on epsilon and half for the distribution.
    """
    subject = name or type(mechanism).__name__
    level = probability(alpha, "alpha") / 2
    sessions = isinstance(mechanism, PayWhatYouGet)
    box = sampler or (Sessions(mechanism) if sessions else MechanismSampler(mechanism))
    pairs = pairs_for(mechanism)
    counts = pairs[-1].right
    data = mechanism_input(mechanism, counts)
    statistical = statistical_audit(
        box,
        mechanism.guarantee,
        pairs=pairs,
        samples=samples,
        seconds=seconds,
        alpha=level,
        workers=workers,
        name=subject,
        progress=progress,
    )
    if not hasattr(mechanism, "distribution"):
        return MechanismAudit(subject, None, statistical, None)
    exact = exact_audit(mechanism, world=world or world_for(mechanism), workers=workers, name=subject)
    distribution = distribution_audit(
        box,
        mechanism.distribution(data),
        counts,
        draws=_DISTRIBUTION_DRAWS,
        alpha=level,
        outcome=_outcome,
        name=subject,
    )
    return MechanismAudit(subject, exact, statistical, distribution)


def _outcome(release: Release) -> Any:
    return release.outcome

"""The whole audit of one mechanism: exact, statistical, and the law of its sampler, as one report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.audit.exact.exhaustive import exact_audit
from podium.audit.exact.worlds import World
from podium.audit.reports import ExactReport, LawReport, StatisticalReport
from podium.audit.statistical.draws import MechanismSampler
from podium.audit.statistical.numeric import law_audit
from podium.audit.statistical.sequential import DEFAULT_ALPHA, Progress, statistical_audit
from podium.audit.targets.inputs import reading
from podium.audit.targets.shipped import Sessions, pairs_for, world_for
from podium.exact import Number, probability
from podium.mechanisms import PayWhatYouGet
from podium.privacy.documents import Document
from podium.release import Release

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = ["MechanismAudit", "audit_mechanism"]

_LAW_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class MechanismAudit(Document):
    """Everything that was looked at; ``exact`` and ``law`` are None where there is no law of single outcomes."""

    subject: str
    exact: ExactReport | None
    statistical: StatisticalReport
    law: LawReport | None

    @property
    def parts(self) -> list[ExactReport | StatisticalReport | LawReport]:
        """The reports that were made."""
        return [part for part in (self.exact, self.statistical, self.law) if part is not None]

    @property
    def violated(self) -> bool:
        """Whether any part found a violation."""
        return any(part.violated for part in self.parts)

    @property
    def false_alarm(self) -> float:
        """The probability that a sound mechanism is accused: the sum over the parts that sample."""
        return math.fsum(part.alpha for part in (self.statistical, self.law) if part is not None)

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
    """Audit a mechanism of ours: its law on a small world, its sampler as a black box, its draws against its law.

    ``samples`` or ``seconds`` is the budget of the black box. ``sampler`` replaces the way the mechanism is run, for
    tests that replay bits. Half of ``alpha`` is for the bound on epsilon and half for the law.
    """
    subject = name or type(mechanism).__name__
    level = probability(alpha, "alpha") / 2
    sessions = isinstance(mechanism, PayWhatYouGet)
    box = sampler or (Sessions(mechanism) if sessions else MechanismSampler(mechanism))
    pairs = pairs_for(mechanism)
    counts = pairs[-1].right
    data = reading(mechanism, counts)
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
    law = law_audit(
        box,
        mechanism.distribution(data),
        counts,
        draws=_LAW_DRAWS,
        alpha=level,
        outcome=_outcome,
        name=subject,
    )
    return MechanismAudit(subject, exact, statistical, law)


def _outcome(release: Release) -> Any:
    return release.outcome

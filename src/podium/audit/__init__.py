"""Check a privacy claim, podium's own or another's, without trusting its author.

``exact_audit`` enumerates a small world, ``statistical_audit`` samples a black box, ``numeric_audit`` looks at its low
bits and ``distribution_audit`` at its distribution; ``audit_mechanism`` does what applies to a podium mechanism. None
of them ever says that a mechanism is private: only that a claim holds on this world, or that no violation was found.
"""

from podium.audit.exact.exhaustive import exact_audit
from podium.audit.exact.worlds import World
from podium.audit.mechanism import MechanismAudit, audit_mechanism
from podium.audit.reports import DistributionReport, EventTest, ExactReport, StatisticalReport
from podium.audit.statistical.numeric import distribution_audit, numeric_audit
from podium.audit.statistical.sequential import Progress, statistical_audit
from podium.audit.targets.end_to_end import CuratorSampler, neighbouring_tables
from podium.audit.targets.neighbours import Pair, worst_pairs
from podium.audit.targets.transcripts import REFUSED, Transcripts

__all__ = [
    "REFUSED",
    "CuratorSampler",
    "DistributionReport",
    "EventTest",
    "ExactReport",
    "MechanismAudit",
    "Pair",
    "Progress",
    "StatisticalReport",
    "Transcripts",
    "World",
    "audit_mechanism",
    "distribution_audit",
    "exact_audit",
    "neighbouring_tables",
    "numeric_audit",
    "statistical_audit",
    "worst_pairs",
]

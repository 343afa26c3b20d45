"""Everything that the suite audits by sampling and expects to pass: one list, so that false alarms can be added up."""

from __future__ import annotations

from fractions import Fraction

from podium.audit.gallery import GALLERY
from podium.audit.targets.shipped import EXAMPLES

ALPHA = Fraction(1, 10**9)

MENDED = [exhibit for exhibit in GALLERY if exhibit.mended is not None]
SOUND = [*(f"shipped: {name}" for name in EXAMPLES), *(f"mended: {exhibit.name}" for exhibit in MENDED)]
NUMBERS = ["exponential-with-gap", "limited-domain-laplace", "noisy-top-k", "sparse-vector"]
OTHERS = [
    "Laplace noise at its scale",
    "an OpenDP measurement",
    "sessions on the page",
    "the whole path",
    "the whole path of a ranking",
    *(f"low bits: {name}" for name in NUMBERS),
]


def false_alarm() -> Fraction:
    """The probability that any sound case is accused, at most: each was audited with ALPHA."""
    return ALPHA * len([*SOUND, *OTHERS])

"""The papers' privacy theorems on small worlds, all of them enumerated; and the algorithms that are wrong in print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.audit import ExactReport, World, exact_audit
from podium.audit.exact.claims import Kind
from podium.audit.gallery import catch
from podium.audit.gallery.errata import ERRATA
from podium.mechanisms import (
    CanonicalTopK,
    ExponentialTopK,
    FixedThreshold,
    HybridTopK,
    JointTopK,
    LimitedDomain,
    NoisyTopK,
    OneshotLaplace,
    PrivateKBar,
    SparseVector,
)
from reproduce.study import Measured, Mode, Params, Report, Result, Row, Study, Verdict, judged

__all__ = ["STUDY"]

_ADD = World(3, 2)
_REPLACE = World(3, 1, relation="replace")


@dataclass(frozen=True, slots=True)
class _Theorem:
    """A privacy theorem, a mechanism it covers, and the world in which it is enumerated."""

    source: str
    claim: str
    mechanism: Callable[[], Any]
    kind: Kind = "guarantee"
    world: World = _ADD


def _lipschitz(noise: Any) -> Callable[[], Any]:
    return lambda: NoisyTopK(2, 1, noise=noise, gaps=False)


_THEOREMS = {
    "limited domain": _Theorem(
        "DR, Theorem 1",
        "the limited-domain mechanism keeps (epsilon', delta)",
        lambda: LimitedDomain(2, 2, "0.5", "0.05"),
    ),
    "restricted": _Theorem(
        "DR, Theorem 1",
        "with at most one item per user the smaller threshold is enough",
        lambda: LimitedDomain(2, 2, "0.5", "0.05", max_items_per_user=1),
        world=World(3, 2, max_items_per_user=1),
    ),
    "private k_bar": _Theorem(
        "DR, Section 6",
        "choosing k_bar privately costs one more selection (sign and index put right)",
        lambda: LimitedDomain(1, PrivateKBar(2), "0.5", "0.05"),
    ),
    "fixed threshold": _Theorem(
        "DR, Theorem 5", "the fixed threshold keeps (k epsilon, k delta)", lambda: FixedThreshold(2, "0.5", "0.05")
    ),
    "bounded range": _Theorem(
        "DR, Lemma 4.3",
        "the exponential mechanism on counts is epsilon-range-bounded",
        lambda: ExponentialTopK(1, 1),
        kind="bounded_range",
    ),
    **{
        f"lipschitz {noise}": _Theorem(
            "SL, Theorem 4.1", f"the oneshot mechanism with {noise} noise is epsilon-DP", _lipschitz(noise), kind="pure"
        )
        for noise in ("exponential", "gumbel", "laplace", "logistic", "half-logistic")
    },
    "canonical": _Theorem(
        "SL, Theorems 3.5, 4.1", "the canonical mechanism is epsilon-DP", lambda: CanonicalTopK(2, 1), kind="pure"
    ),
    "canonical tail": _Theorem(
        "SL, Theorems 3.5, 4.1",
        "the canonical mechanism with gamma=1 is epsilon-DP",
        lambda: CanonicalTopK(2, 1, gamma=1),
        kind="pure",
    ),
    "oneshot": _Theorem(
        "QSZ, Theorem 2.1",
        "Laplace noise of 2k/epsilon makes the set of the top k epsilon-DP",
        lambda: OneshotLaplace(2, 1, monotone=False),
        kind="pure",
        world=_REPLACE,
    ),
    "sparse": _Theorem(
        "DW, Theorem 2",
        "the adaptive sparse vector is epsilon-DP",
        lambda: SparseVector(1, 1, 1),
        kind="pure",
        world=World(2, 2),
    ),
    "hybrid": _Theorem(
        "DW, Section 7", "the hybrid of top-k and threshold is epsilon-DP", lambda: HybridTopK(1, 2, 1), kind="pure"
    ),
    "joint": _Theorem(
        "Gillenwater et al.", "the joint exponential mechanism is epsilon-DP", lambda: JointTopK(2, 1), kind="pure"
    ),
}


def _cells(mode: Mode) -> list[Params]:
    names = ("bounded range", "canonical") if mode is Mode.TINY else tuple(_THEOREMS)
    errata = ERRATA[:1] if mode is Mode.TINY else ERRATA
    return [{"kind": "theorem", "name": name} for name in names] + [
        {"kind": "erratum", "name": exhibit.name} for exhibit in errata
    ]


def _compute(params: Params) -> Result:
    if params["kind"] == "erratum":
        return _erratum(params["name"])
    theorem = _THEOREMS[params["name"]]
    mechanism = theorem.mechanism()
    report = exact_audit(mechanism, world=theorem.world, kind=theorem.kind)
    return {
        "claimed": float(report.claimed_epsilon),
        "delta": float(report.delta),
        "exact": _worst(report) if report.delta == 0 else None,
        "exact_delta": next(at.exact for at in report.profile if at.epsilon >= float(report.claimed_epsilon)),
        "violated": report.violated,
        "pairs": report.pairs,
        "world": report.world,
    }


def _worst(report: ExactReport) -> float:
    """The largest log ratio; of a bounded range, the widest range."""
    ranged = report.kind == "bounded_range"
    return float(report.claimed_epsilon) + report.finding.excess if ranged else report.exact_epsilon


def _erratum(name: str) -> Result:
    (exhibit,) = (exhibit for exhibit in ERRATA if exhibit.name == name)
    caught, mended = catch(exhibit), catch(exhibit, mended=True)
    report = caught.report
    return {
        "source": exhibit.source,
        "title": exhibit.title,
        "claim": str(exhibit.claim),
        "caught": caught.caught,
        "mended_caught": mended.caught,
        "epsilon": None if report is None else report.epsilon,
        "draws": None if report is None else report.draws,
    }


def _report(measured: Measured) -> Report:
    rows = [_theorem_row(_THEOREMS[params["name"]], result) for params, result in measured.where(kind="theorem")]
    rows += [_erratum_row(result) for _, result in measured.where(kind="erratum")]
    return Report(rows)


def _theorem_row(theorem: _Theorem, result: Result) -> Row:
    approximate = result["exact"] is None
    claimed = f"{'range' if theorem.kind == 'bounded_range' else 'epsilon'} {result['claimed']:.4g}"
    return Row(
        theorem.source,
        f"{theorem.claim} ({result['world']}: {result['pairs']:,} pairs)",
        f"{claimed}, delta {result['delta']:.4g}" if approximate else claimed,
        f"delta {result['exact_delta']:.4g} at worst" if approximate else f"{result['exact']:.4g} at worst",
        judged(not result["violated"]),
    )


def _erratum_row(result: Result) -> Row:
    found = result["caught"] and not result["mended_caught"]
    epsilon = f"epsilon at least {result['epsilon']:.2f}" if result["epsilon"] else "found out"
    return Row(
        result["source"],
        f"the algorithm as printed keeps its guarantee ({result['title']})",
        result["claim"],
        f"{epsilon} after {result['draws'] or 0:,} draws; put right, no violation found",
        Verdict.WRONG if found else Verdict.DIFFERS,
        "Podium has the mended version; the gallery of the auditor shows the mistake." if found else "",
    )


STUDY = Study("privacy", "The privacy theorems on small worlds", _cells, _compute, _report)

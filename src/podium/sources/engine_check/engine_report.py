"""The checks of an engine, and their report: constants and versions only, so that anybody may see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from podium.sources.engine_check.engines import COUNTED_KINDS, EngineFacts, open_engine
from podium.sources.engine_check.fences import (
    case_guards_casts,
    case_guards_products,
    conditions_stay_outside,
    sums_are_exact,
)
from podium.sources.sqlalchemy.self_test import (
    Engine,
    counts_texts,
    hashes_alike,
    keeps_tables,
    kind_is_exact,
    patterns_are_exact,
    weighs_alike,
)
from podium.version import __version__

__all__ = ["EngineReport", "Finding", "check_engine", "check_source"]

_ORDERED = ("Z", "a", "\uff5e", "\U0001d11e")
_FOLLOWS = "It may follow from the first check, which failed."
PASSED, FAILED, UNUSED = "passed", "failed", "not used"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked, in one of four areas, how it ended, and what is wrong if it failed."""

    area: str
    what: str
    result: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class EngineReport:
    """An engine, the versions, and what was found."""

    engine: str
    version: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(finding.result != FAILED for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "engine": self.engine,
            "version": self.version,
            "podium": __version__,
            "passed": self.passed,
            "checks": [
                {"area": one.area, "what": one.what, "result": one.result, "problem": one.problem}
                for one in self.findings
            ],
        }

    def text(self) -> str:
        """The report as lines of text."""
        lines = [f"{self.engine} {self.version}, podium {__version__}", ""]
        for one in self.findings:
            lines.append(f"{one.result:<8}  {one.area}: {one.what}")
            if one.problem is not None:
                lines.append(f"          {one.problem}")
        failed = sum(one.result == FAILED for one in self.findings)
        end = (
            "This engine does what podium needs." if self.passed else f"{failed} of {len(self.findings)} checks failed."
        )
        return "\n".join([*lines, "", end])


def check_source(location: object) -> EngineReport:
    """Check the engine behind a path, a URL, a frame or a session. No table of the user is read."""
    with open_engine(location) as (facts, engine):
        return check_engine(engine, facts)


def check_engine(engine: Engine, facts: EngineFacts) -> EngineReport:
    """Check an engine by the SQL that podium would send it, on constants and temporary tables."""
    findings: list[Finding] = []
    for area, what, used, probe, problem in _checks(facts):
        if not used:
            findings.append(Finding(area, what, UNUSED))
        elif probe(engine):
            findings.append(Finding(area, what, PASSED))
        else:
            follows = bool(findings) and findings[0].result == FAILED
            findings.append(Finding(area, what, FAILED, _FOLLOWS if follows else problem))
    return EngineReport(facts.name, facts.version, tuple(findings))


_Check = tuple[str, str, bool, Callable[[Engine], bool], str]


def _checks(facts: EngineFacts) -> list[_Check]:
    return [*_counts(), *_comparisons(facts), *_hashes(), *_fences(facts)]


def _counts() -> list[_Check]:
    return [
        (
            "counts", "each user once, none for NULL", True, partial(counts_texts, texts=("a", "b")),
            "Texts are not counted: the query fails, repeated rows count twice, or NULL counts as a user or an item.",
        ),
        ("counts", "large weights", True, weighs_alike, "Sums of integers of 64 bits are not exact."),
        (
            "counts", "temporary tables", True, keeps_tables,
            "A temporary table cannot be made, loaded and read twice in one statement by this account.",
        ),
    ]  # fmt: skip


def _comparisons(facts: EngineFacts) -> list[_Check]:
    texts: list[tuple[str, tuple[str, ...], str]] = [
        ("case", ("a", "A"), "'a' and 'A' count as one item: case is ignored."),
        ("trailing blanks", ("a", "a "), "'a' and 'a ' count as one item: trailing blanks are ignored."),
        (
            "accents and composition", ("e", "\u00e9", "e\u0301"),
            "A letter with and without accent, or composed in two ways, counts as one item.",
        ),
    ]  # fmt: skip
    checks: list[_Check] = [
        ("compares", what, True, partial(counts_texts, texts=some), wrong) for what, some, wrong in texts
    ]
    checks += [
        (
            "compares", "binary order", True, partial(counts_texts, texts=_ORDERED, in_order=True),
            "Text is not in the order of its UTF-8 bytes, but by UTF-16 or by a language.",
        ),
        ("compares", "patterns", True, patterns_are_exact, "LIKE ignores case, or does not know podium's escapes."),
    ]  # fmt: skip
    for kind in COUNTED_KINDS:
        problem = f"Values of kind {kind.value} are not told apart, counted, compared and ordered exactly."
        used = kind in facts.kinds
        checks.append(("compares", f"values of kind {kind.value}", used, partial(kind_is_exact, kind=kind), problem))
    return checks


def _hashes() -> list[_Check]:
    problem = "A user keeps other items than by the hash of salt, user and item: it, or the text, differs."
    return [("hashes", "hash of users and items", True, hashes_alike, problem)]


def _fences(facts: EngineFacts) -> list[_Check]:
    return [
        ("fences", "sums without overflow", facts.sums, sums_are_exact, "Large sums wrap, are rounded, or raise."),
        (
            "fences", "CASE before a product", facts.sums, case_guards_products,
            "A product that overflows is computed where a CASE excludes it, or raises.",
        ),
        (
            "fences", "CASE before a cast", facts.fences, case_guards_casts,
            "A text that is no number is cast where a CASE excludes it, and raises.",
        ),
        (
            "fences", "conditions outside a view", facts.fences, conditions_stay_outside,
            "A condition decides for which rows a view's columns are computed, and with it whether a question fails.",
        ),
    ]  # fmt: skip

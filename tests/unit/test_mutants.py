"""The list of mutations fits the code: ``make mutants`` runs it, this only makes sure that it can be run."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tools.mutants.judging import Fate, judged, unsound
from tools.mutants.lists import MUTANTS
from tools.mutants.mutant import ROOT, Mutant, Stale
from tools.mutants.trees import Run

LEAST = 60


@cache
def text_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests of a file, those that it inherits from the contract of sources among them."""
    text = text_of(Path(path))
    if "(SourceContract)" in text:
        text += "".join(text_of(found) for found in sorted((ROOT / "tests" / "support" / "sources").glob("*.py")))
    return frozenset(re.findall(r"^ *def (test_\w+)\(", text, flags=re.MULTILINE))


def test_there_are_enough_and_no_two_are_the_same() -> None:
    assert len(MUTANTS) >= LEAST
    assert len({(mutant.file, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS)
    assert [mutant.name for mutant in MUTANTS if mutant.before == mutant.after] == []


def test_each_changes_one_text_and_the_program_still_compiles() -> None:
    wrong = []
    for mutant in MUTANTS:
        try:
            mutant.applied(text_of(mutant.path))
        except (Stale, SyntaxError, OSError) as error:
            wrong.append(f"{mutant.name}: {error}")
    assert wrong == []


def test_each_names_tests_that_exist_and_says_why() -> None:
    missing = [
        node
        for mutant in MUTANTS
        for node in mutant.nodes
        if node.partition("[")[0].rpartition("::")[2] not in names_in(node.partition("::")[0])
    ]
    assert missing == []
    assert [mutant.name for mutant in MUTANTS if not mutant.tests or not mutant.why] == []


SAMPLE = Mutant("exact.py", "1 << 2", "1 << 3", "a sample", ("a.py::test_a",))
PASSED = {"tests/a.py::test_a[1]": "passed", "tests/a.py::test_ab": "failed"}
FAILED = {"tests/a.py::test_a[1]": "failed"}


@pytest.mark.parametrize(
    ("run", "fate"),
    [
        (Run(FAILED, {"tests/a.py::test_a[1]": ("assertion", "1 == 2")}), Fate.KILLED),
        (Run(PASSED, {}), Fate.SURVIVED),
        (Run({}, {}), Fate.SURVIVED),
        (Run(FAILED, {"tests/a.py::test_a[1]": ("ImportError", "no")}), Fate.BY_ACCIDENT),
        (Run({}, {}, "pytest ended with 2"), Fate.BY_ACCIDENT),
    ],
)
def test_only_an_assertion_of_the_named_test_kills(run: Run, fate: Fate) -> None:
    assert judged(SAMPLE, run).fate is fate


def test_a_named_error_kills_too() -> None:
    run = Run(FAILED, {"tests/a.py::test_a[1]": ("BudgetMismatch", "too much")})
    assert judged(SAMPLE, run).fate is Fate.BY_ACCIDENT
    named = Mutant("exact.py", "1 << 2", "1 << 3", "a sample", ("a.py::test_a",), raises="BudgetMismatch")
    assert judged(named, run).fate is Fate.KILLED


@pytest.mark.parametrize("run", [Run({}, {}), Run(FAILED, {}), Run({}, {}, "no such test")])
def test_what_fails_without_the_mutation_proves_nothing(run: Run) -> None:
    found = unsound(SAMPLE, run)
    assert found is not None
    assert found.fate is Fate.UNSOUND
    assert unsound(SAMPLE, Run(PASSED, {})) is None


def test_a_text_that_is_gone_or_repeated_is_stale_and_a_program_must_compile() -> None:
    assert SAMPLE.applied("x = 1 << 2\n") == "x = 1 << 3\n"
    for text in ("x = 1\n", "x = (1 << 2) + (1 << 2)\n"):
        with pytest.raises(Stale, match="times, not once"):
            SAMPLE.applied(text)
    with pytest.raises(SyntaxError):
        Mutant("exact.py", "1 << 2", "1 <<", "a sample", ()).applied("x = 1 << 2\n")

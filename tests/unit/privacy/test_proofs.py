"""Every reference to a proof in this repository points to a file, and to a theorem or section that is in it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import podium
from podium import mechanisms, ranking
from podium.privacy.proofs import Proof
from podium.privacy.theorems.best_bound import Theorem

ROOT = Path(__file__).resolve().parents[3]
SOURCES = sorted(Path(podium.__file__).parent.rglob("*.py"))
MECHANISMS = [one for name in mechanisms.__all__ if hasattr(one := getattr(mechanisms, name), "proofs")]
METHODS = [ranking.Borda, ranking.Spectral, ranking.Wins]
DECLARED = sorted(
    {proof for kind in (*MECHANISMS, *METHODS) for proof in kind.proofs}
    | {theorem.proof for theorem in Theorem if theorem.proof is not None},
    key=str,
)
REFERENCE = re.compile(
    r"[Dd]ocs/proofs/(?P<file>[\w-]+\.md)"
    r"(?:, (?P<kind>Theorem|Lemma|section)s? (?P<first>\d+)(?: and (?P<second>\d+))?)?"
)


def resolves(proof: Proof) -> bool:
    kind, number = proof.part.split(" ")
    mark = rf"## {number}\. " if kind == "section" else rf"\*\*{kind} {number}[. ]"
    file = ROOT / proof.file
    return file.is_file() and re.search(f"^{mark}", file.read_text(encoding="utf-8"), flags=re.MULTILINE) is not None


@pytest.mark.parametrize("proof", DECLARED, ids=str)
def test_a_declared_proof_exists(proof: Proof) -> None:
    assert resolves(proof)


@pytest.mark.parametrize(
    "proof",
    [
        Proof("docs/proofs/nowhere.md", "Theorem 1"),
        Proof("docs/proofs/adaptive.md", "Theorem 9"),
        Proof("docs/proofs/adaptive.md", "Theorem 20"),
        Proof("docs/proofs/adaptive.md", "section 9"),
    ],
    ids=str,
)
def test_a_proof_that_does_not_exist_is_noticed(proof: Proof) -> None:
    assert not resolves(proof)


def test_every_reference_in_the_source_exists() -> None:
    found = 0
    for path in SOURCES:
        text = re.sub(r"\s+(?:# )?", " ", path.read_text(encoding="utf-8"))
        for match in REFERENCE.finditer(text):
            assert (ROOT / "docs" / "proofs" / match["file"]).is_file(), (path, match[0])
            for number in filter(None, (match["first"], match["second"])):
                assert resolves(Proof(f"docs/proofs/{match['file']}", f"{match['kind']} {number}")), (path, match[0])
            found += 1
    assert found > 30


@pytest.mark.parametrize("kind", [*MECHANISMS, *METHODS], ids=lambda kind: kind.__name__)
def test_docstring_and_theorem_cite_what_is_declared(kind: type) -> None:
    declared = {proof.file for proof in getattr(kind, "proofs", ())}
    stated = f"{inspect.getdoc(kind)} {getattr(kind, 'theorem', '')}"
    assert {f"docs/proofs/{match['file']}" for match in REFERENCE.finditer(stated)} <= declared


def test_texts_of_proofs() -> None:
    assert str(Proof("docs/proofs/adaptive.md", "Theorem 2")) == "docs/proofs/adaptive.md, Theorem 2"
    assert mechanisms.AdaptiveTopK.theorem == "docs/proofs/adaptive.md, Theorem 2: adaptively chosen Gaussian noise"
    assert Theorem.GAUSSIAN.source == (
        "Balle & Wang 2018, Theorem 8; docs/proofs/adaptive.md, Theorem 2, after Smith & Thakurta 2022"
    )
    assert Theorem.BASIC.proof is None

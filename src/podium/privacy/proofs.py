"""References to the proofs in ``docs/proofs``, declared beside the mechanisms and theorems that rest on them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Proof", "proofs_in"]


@dataclass(frozen=True, slots=True)
class Proof:
    """One theorem, lemma or section of a file in the repository; a test checks that it exists.

    Results that were published elsewhere are cited by author, year and number instead.
    """

    file: str
    part: str
    """As in "Theorem 2", "Lemma 1" or "section 3"."""

    def __str__(self) -> str:
        return f"{self.file}, {self.part}"


def proofs_in(file: str, *parts: str) -> tuple[Proof, ...]:
    """These theorems, lemmas or sections of one file."""
    return tuple(Proof(file, part) for part in parts)

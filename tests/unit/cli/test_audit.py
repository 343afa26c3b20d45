"""``podium audit``: a mechanism of ours, and the gallery."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import document, podium, succeeded

from podium.cli.exit_codes import REFUTED, exit_code_of
from podium.errors import NotRandom

SMALL = ("--samples", "1300", "--workers", "1")


def test_a_mechanism_is_audited_drawn_and_reported(tmp_path: Path) -> None:
    picture = tmp_path / "audit.png"
    given = ("--k", "1", "--k-bar", "1", "--epsilon-per-item", "0.5", "--delta", "0.05")
    text = succeeded("audit", "limited-domain", *given, *SMALL, "--plot", str(picture))
    assert text.startswith("## Audit of limited-domain: no violation found\n\n### Exact audit of limited-domain\n")
    assert "The claim holds on this world" in text
    assert "### Distribution audit of limited-domain" in text
    assert text.endswith("False-alarm probability of all of it: 1e-09\n")
    assert picture.stat().st_size > 1000


def test_json_is_what_its_schema_says() -> None:
    made = document("audit", "audit", "permute-and-flip", *SMALL)
    assert [part["audit"] for part in made["audits"][0]["audits"]] == ["exact", "statistical", "law"]
    assert made["false_alarm"] == pytest.approx(1e-9)


def test_the_gallery_is_caught() -> None:
    """With secure bits and the real clock, as users run it."""
    made = document("audit", "audit", "gallery")
    assert [exhibit["name"] for exhibit in made["exhibits"] if not exhibit["caught"]] == []


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("magic", "--k", "1"), "InvalidArgument: mechanism='magic' is not valid."),
        (("limited-domain", "--k", "1"), "InvalidArgument: k_bar=None is not valid."),
        (("gallery", "--k", "1"), "InvalidArgument: k='given' is not valid."),
        (("all", "--plot", "audit.png"), "InvalidArgument: plot='given' is not valid."),
        (("permute-and-flip", "--plot", "audit.txt"), "InvalidArgument: plot='audit.txt' is not valid."),
        (("permute-and-flip", "--samples", "10"), "InvalidArgument: samples=10 is not valid."),
    ],
)
def test_bad_input(arguments: tuple[str, ...], first: str) -> None:
    ran = podium("audit", *arguments, *(() if "--samples" in arguments else SMALL))
    assert ran.exit_code == 2
    assert ran.stderr.splitlines()[0] == first


def test_what_cannot_be_audited_has_the_code_of_a_refuted_claim() -> None:
    assert exit_code_of(NotRandom("it repeats itself", constant=True)) == REFUTED == 8

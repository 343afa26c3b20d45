"""Every broken mechanism is caught within its stated number of draws, and its mended version is not."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from tests.support.audit_cases import ALPHA, MENDED

from podium.audit.gallery import GALLERY, Exhibit, catch, gallery_text
from podium.audit.gallery.everyday import time_of_day
from podium.randomness.replay import ReplayableBits

PAGE = Path(__file__).parents[3] / "docs" / "gallery.md"


def replayable(exhibit: Exhibit) -> Exhibit:
    """The clock cannot be replayed: this one ticks every thousand calls."""
    calls = itertools.count()
    return time_of_day(lambda: next(calls) / 1000) if exhibit.name == "time-of-day-seed" else exhibit


@pytest.mark.parametrize("exhibit", GALLERY, ids=lambda exhibit: exhibit.name)
def test_a_broken_mechanism_is_caught(exhibit: Exhibit) -> None:
    caught = catch(replayable(exhibit), bits=ReplayableBits(1), alpha=ALPHA)
    assert caught.caught, caught.reason
    assert caught.draws is None or caught.draws <= exhibit.samples


@pytest.mark.parametrize("exhibit", MENDED, ids=lambda exhibit: exhibit.name)
def test_its_mended_version_is_not(exhibit: Exhibit) -> None:
    caught = catch(exhibit, bits=ReplayableBits(2), alpha=ALPHA, mended=True)
    assert not caught.caught, caught.reason
    assert caught.report is not None
    assert caught.report.spent <= float(ALPHA)


def test_a_generator_that_is_seeded_now_and_then_gives_itself_away() -> None:
    """Asked for one count at a time, nothing is wrong with any answer: they repeat."""
    calls = itertools.count()
    exhibit = time_of_day(lambda: next(calls) / 20)
    caught = catch(exhibit, bits=ReplayableBits(3))
    assert caught.report is None
    assert caught.caught
    assert caught.draws is None
    assert caught.reason.startswith("the sampler repeats itself: on the left of 'one count moves'")


def test_each_exhibit_has_its_section_and_no_section_is_left_over() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", page, flags=re.MULTILINE) == [exhibit.name for exhibit in GALLERY]
    for exhibit in GALLERY:
        assert f"**{exhibit.title}.**" in page


def test_the_table_says_who_got_away() -> None:
    exhibit = next(exhibit for exhibit in GALLERY if exhibit.name == "halved-noise")
    found = [
        catch(exhibit, bits=ReplayableBits(1)),
        catch(exhibit, bits=ReplayableBits(1), mended=True),
    ]
    text = gallery_text(found)
    assert text.splitlines()[2].startswith("| halved-noise | 1 | 1.")
    assert "not caught" in text.splitlines()[3]
    assert text.endswith("1 of 2 caught; false-alarm probability 2e-09.")
    assert [one.to_dict()["caught"] for one in found] == [True, False]

"""The picture of lists for groups: small ones on one page, in the order of the groups, that can be read."""

from __future__ import annotations

from fractions import Fraction

import pytest
from matplotlib.patches import Rectangle
from tests.support.grouped_releases import counted_lists, many_groups
from tests.support.pictures import HOSTILE, assert_readable, by_role

from podium.present.text.release_text import answer_text
from podium.release import RankedList


@pytest.mark.parametrize("count", [0, 1, 2, 7, 200])
def test_lists_of_groups_are_small_pictures_on_one_page(count: int) -> None:
    release = many_groups(count)
    figure = release.plot()
    assert_readable(figure)
    assert by_role(figure, "group") == [f"{number:04d}" for number in range(min(count, 24))]
    assert figure.alt == answer_text(release)
    assert ("and 176 more groups" in by_role(figure, "note")) == (count == 200)


def test_groups_share_one_scale_and_hostile_names_stay_on_the_page() -> None:
    figure = counted_lists().plot()
    assert_readable(figure)
    assert by_role(figure, "value") == ["100", "30", "7", "10", "3"]
    assert by_role(figure, "name") == ["c", "b", "=d", "a", "<b>bold</b>"]
    widths = [bar.get_width() for axes in figure.axes for bar in axes.patches if isinstance(bar, Rectangle)]
    assert widths == pytest.approx([widths[0] * part for part in (1, 0.3, 0.07, 0.1, 0.03)])
    counts = tuple(Fraction(10**12 - place) for place in range(len(HOSTILE)))
    hostile = {name: RankedList(HOSTILE, len(HOSTILE), counts) for name in HOSTILE}
    assert_readable(counted_lists(lists=hostile, k=len(HOSTILE)).plot(dark=True))

"""Shares of users, and what stands beside a list, in text, frames and files."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.support.grouped_releases import counted_lists

from podium import Release
from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.present import release_text
from podium.present.beside_groups import told_line
from podium.present.html import release_html
from podium.present.user_shares import Line, beside_lines, list_remarks, share_interval, shares
from podium.randomness.replay import ReplayableBits
from podium.release import Beside, GroupedRelease

ZERO, ONE = Fraction(0), Fraction(1)


def counted() -> Release:
    histogram = Histogram({"a": 2120, "b": 900}, known=False)
    step = MeasureCounts(sigma=30)
    release = LimitedDomain(2, 10, 1, "1e-6").release(histogram, bits=ReplayableBits(1))
    values = (Fraction(2120), Fraction(900))
    parameters = {**release.parameters, **step.count_parameters(2)}
    return replace(
        release, values=values, value_kind="counts", parameters=parameters, columns=("page",),
        beside=Beside(Fraction(1300), Fraction(4000), "gaussian", "30"),
    )  # fmt: skip


def test_the_interval_of_the_formulas() -> None:
    """``share-box``: a = 212, b = 985, sigma 30 on both, half-width 68 at 97.5 %."""
    assert MeasureCounts(sigma=30).margin("0.975") == 68
    found = share_interval(Fraction(212), Fraction(68), Fraction(985), Fraction(68))
    assert (found.low, found.high) == (Fraction(16, 117), Fraction(40, 131))


def test_ends_stay_in_order_between_0_and_1() -> None:
    assert share_interval(Fraction(5), Fraction(9), Fraction(8), Fraction(9)).low == ZERO
    assert share_interval(Fraction(5), Fraction(9), Fraction(8), Fraction(9)).high == ONE
    assert share_interval(Fraction(-90), Fraction(9), Fraction(100), Fraction(9)).high == ZERO
    assert share_interval(Fraction(500), Fraction(9), Fraction(100), Fraction(9)).low == ONE
    assert share_interval(Fraction(5), Fraction(1), Fraction(-8), Fraction(1)).value == ZERO
    for part in range(-3, 12):
        for whole in range(-3, 12):
            found = share_interval(Fraction(part), Fraction(2), Fraction(whole), Fraction(3))
            assert ZERO <= found.low <= found.high <= ONE
            assert ZERO <= found.value <= ONE


def test_text_frames_and_files_have_lines_of_their_own() -> None:
    release = counted()
    others, whole = beside_lines(release)
    assert [int(end) for end in (others.value, others.low, others.high)] == [1300, 1241, 1359]
    assert (whole.name, int(whole.value)) == ("total", 4000)
    text = release_text(release)
    assert "Others: 1,300 users (1,241 to 1,359) have none of these items. In all, 4,000" in text
    assert "53.0% (50.4% to 55.7%)" in text
    assert "do not add up" in text
    frame = release.to_arrow()
    assert frame.column("line").to_pylist() == ["item", "item", "others", "total"]
    assert frame.column("rank").to_pylist() == [1, 2, None, None]
    assert frame.column("page").to_pylist() == ["a", "b", None, None]
    assert frame.column("count").to_pylist() == [2120, 900, 1300, 4000]
    assert frame.column("count_low").to_pylist()[2:] == [1241, 3941]
    low, high = (frame.column(name).to_pylist()[0] for name in ("share_low", "share_high"))
    part = shares(release)
    assert part is not None
    # Doubles are rounded outwards.
    assert Fraction(low) <= part[0].low < part[0].high <= Fraction(high)
    assert (release.to_csv() or "").splitlines()[-1].startswith('"total","","",4000,')
    assert Release.from_json(release.to_json()) == release
    assert "1,300 users" in release._repr_html_()


def test_people_read_no_negative_number_of_users_and_machines_what_was_drawn() -> None:
    drawn = replace(counted(), values=(Fraction(-3), *(counted().values or ())[1:]))
    assert str(drawn).splitlines()[1].split()[2] == "0"
    assert ">-3<" not in drawn._repr_html_()
    assert drawn.to_arrow().column("count")[0].as_py() == -3
    assert Release.from_json(drawn.to_json()).values == drawn.values
    # Amounts may be negative, and their lines add up as they are.
    amounts = replace(drawn, beside=None, parameters={**drawn.parameters, "by": "events"})
    assert str(amounts).splitlines()[1].split()[2] == "-3"


def test_numbers_beside_the_list_of_a_group_are_of_users_or_add_up() -> None:
    line = Line("others", Fraction(-3), Fraction(0), Fraction(57))
    users = Beside(Fraction(-3), Fraction(40), "gaussian", "30")
    assert told_line(line, users) == "0 (0 to 57)"
    assert told_line(line, replace(users, ceiling=Fraction(5))) == "-3 (0 to 57)"


def test_no_share_where_luck_decided_what_is_shown() -> None:
    chosen = replace(counted(), parameters={**counted().parameters, "at_least": "500"})
    assert shares(chosen) is None
    assert len(list_remarks(chosen)) == 3
    assert "share_low" not in chosen.to_arrow().column_names
    assert shares(replace(counted(), beside=None)) is None


@pytest.mark.parametrize("beside", [
    {"others": 1, "total": 2, "noise": "laplace", "scale": "1e300"},
    {"others": "1", "total": "2", "noise": "laplace", "scale": "1", "ceiling": "1e40"},
    {"others": "1", "total": "2", "noise": "gaussian", "scale": "1", "ceiling": "4"},
])  # fmt: skip
@pytest.mark.parametrize("release", [counted(), counted_lists()], ids=["one list", "groups"])
def test_a_document_whose_noise_no_mechanism_has_can_be_shown(release: Release, beside: dict[str, object]) -> None:
    """Without an interval there is no line, rather than a wrong one."""
    document = release.to_dict()
    places = document["lists"] if isinstance(release, GroupedRelease) else [document]
    for place in places:
        place["beside"] = beside
    found = Release.from_json(json.dumps(document))
    for text in (release_text(found), str(found.to_csv()), release_html(found), found.card().to_markdown()):
        assert "1e+40" not in text
        assert "1e300" not in text
    places[0]["beside"] = {**beside, "total": str(10**400) if "ceiling" in beside else 10**400}
    with pytest.raises(InvalidArgument):
        Release.from_json(json.dumps(document))

"""Pictures: what is drawn, that it can be read, and that it is written where it was asked for."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from PIL import Image
from tests.support.pictures import HOSTILE, assert_readable, by_role, drawn_texts, made

from podium import Histogram, Release
from podium.errors import InvalidArgument, MissingLibrary
from podium.errors.installing import install_command
from podium.ledger import Budget, Entry, Kind, Ledger, open_ledger
from podium.mechanisms import CanonicalTopK, LimitedDomain, NoisyTopK
from podium.present.plots import plot_budget, plot_composition, plot_profile, plot_recall, plot_release
from podium.privacy import PureMechanism, adaptive_optimum, limited_domain_events
from podium.privacy.rounding import display
from podium.release import Receipt

ARTICLES = tuple(f"article {place}" for place in range(1, 13))


def bars(figure: Figure) -> BarContainer:
    (found,) = [each for each in figure.axes[0].containers if isinstance(each, BarContainer)]
    return found


def whiskers(figure: Figure) -> list[tuple[float, float]]:
    containers = [each for each in figure.axes[0].containers if isinstance(each, ErrorbarContainer)]
    return [
        (float(segment[0][0]), float(segment[1][0])) for each in containers for segment in each[2][0].get_segments()
    ]


@pytest.mark.parametrize(
    "release",
    [
        made(ARTICLES),
        made(ARTICLES, counts=True),
        made(ARTICLES, k=20, counts=True),
        made(HOSTILE),
        made(HOSTILE, k=15, counts=True),
        made((), k=10),
        made((), k=10, values=(), value_kind="counts"),
        made(tuple(range(1000, 1080)), counts=True),
        made(tuple(("DE", f"article {place}") for place in range(60)), k=100),
        made(ARTICLES, outcome=frozenset(ARTICLES)),
        made(ARTICLES, outcome=frozenset(ARTICLES), counts=True),
        made(("only",), counts=True, values=(Fraction(-7),)),
        made(("only",), values=(Fraction(10**15),), value_kind="counts"),
    ],
)
def test_every_release_can_be_read(release: Release) -> None:
    assert_readable(plot_release(release))


@pytest.mark.parametrize("counts", [False, True])
def test_dark_is_the_same_in_other_colours(counts: bool) -> None:
    release = made(ARTICLES, k=20, counts=counts)
    light, dark = plot_release(release), plot_release(release, dark=True)
    assert [text.get_text() for text in drawn_texts(light)] == [text.get_text() for text in drawn_texts(dark)]
    for text in drawn_texts(dark):
        # Light text on dark paper, everywhere.
        assert sum(to_rgb(text.get_color())) > 1.5, text.get_text()
    assert sum(to_rgb(dark.get_facecolor())) < 0.3
    assert_readable(dark)


def test_counts_are_bars_with_the_whiskers_of_their_noise() -> None:
    picture = plot_release(made(ARTICLES, counts=True))
    assert [bar.get_width() for bar in bars(picture)] == [1000 - 10 * place for place in range(12)]
    # 1.96 sigma of 20, rounded up to whole users, as the tail bound of the discrete Gaussian allows.
    assert whiskers(picture) == [(1000 - 10 * place - 40, 1000 - 10 * place + 40) for place in range(12)]
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == list(ARTICLES)
    assert by_role(picture, "rank") == [str(place) for place in range(1, 13)]
    assert by_role(picture, "value")[0] == "1,000 ± 40"
    assert picture.axes[0].get_xlabel() == "users (noisy count; whiskers: 95% confidence)"
    assert " ".join(by_role(picture, "note")).startswith(
        "Each interval holds its true count with 95% confidence. The noise in it was drawn after the selection, which "
        "therefore does not bias it. Private for "
    )
    assert by_role(picture, "ending") == []


def test_the_noise_of_the_selection_itself_is_said_to_bias() -> None:
    release = made(
        ("a", "b"),
        values=(Fraction(50), Fraction(1, 2)),
        value_kind="counts",
        parameters={"noise": "laplace", "epsilon_per_item": "1/10"},
    )
    picture = plot_release(release)
    low, high = whiskers(picture)[0]
    assert [low, high] == pytest.approx([50 - 29.957, 50 + 29.957], abs=1e-3)
    assert whiskers(picture)[1][0] == 0
    notes = " ".join(by_role(picture, "note"))
    assert "Before selection each interval held its true count with 95% confidence. Lucky noise helps" in notes


def test_without_a_known_law_there_are_bars_and_no_whiskers() -> None:
    picture = plot_release(made(("a", "b"), values=(Fraction(9), Fraction(7)), value_kind="counts"))
    assert [bar.get_width() for bar in bars(picture)] == [9, 7]
    assert whiskers(picture) == []
    assert "does not say how noisy its counts are" in " ".join(by_role(picture, "note"))


def test_a_selection_is_a_list_without_bars() -> None:
    picture = plot_release(made(ARTICLES))
    assert picture.axes[0].containers == []
    assert picture.axes[0].patches[:] == []
    assert by_role(picture, "name") == list(ARTICLES)
    assert by_role(picture, "rank") == [str(place) for place in range(1, 13)]
    assert by_role(picture, "title") == ["Private top 12"]


def test_gaps_stand_beside_the_names() -> None:
    release = NoisyTopK(3, 2).release(Histogram({"a": 900, "b": 600, "c": 300, "d": 0}))
    picture = plot_release(release)
    assert len(by_role(picture, "value")) == 3
    assert all(text.endswith(" ahead of the next (noisy)") for text in by_role(picture, "value"))
    assert picture.axes[0].patches[:] == []
    assert_readable(picture)


def test_a_set_has_no_ranks_and_says_so() -> None:
    picture = plot_release(CanonicalTopK(2, 20).release(Histogram({"a": 90, "b": 60, "c": 3, "d": 0})))
    assert by_role(picture, "rank") == []
    assert by_role(picture, "title") == ["A private set of 2"]
    assert by_role(picture, "note")[0].startswith("A set, in no particular order: which of its items has")


def test_fewer_than_k_is_explained_in_the_picture() -> None:
    sentence = "2 of 5: no other item stood out enough to be named at this budget."
    assert by_role(plot_release(made(("a", "b"), k=5)), "ending") == [sentence]
    assert by_role(plot_release(made(("a", "b"), k=5, counts=True)), "ending") == [sentence]
    assert by_role(plot_release(made((), k=5)), "ending") == [sentence.replace("2 of 5: no other", "0 of 5: no")]


def test_fifty_rows_then_how_many_more() -> None:
    picture = plot_release(made(tuple(range(1080)), counts=True))
    assert len(bars(picture)) == 50
    assert by_role(picture, "ending") == ["and 1,030 more"]
    assert len(by_role(plot_release(made(tuple(range(50)))), "name")) == 50
    assert by_role(plot_release(made(tuple(range(50)))), "ending") == []


def test_the_text_alternative_says_what_is_shown() -> None:
    alt = plot_release(made(("first", "second"), k=5)).alt
    assert "1  first\n   2  second" in alt
    assert "2 of 5: no other item stood out enough" in alt
    assert "private for each user: epsilon 0.5, delta 1e-7" in alt


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_picture_is_written_in_the_format_of_its_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"picture.{kind}"
    assert isinstance(made(HOSTILE, counts=True).plot(path), Figure)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert path.read_bytes().startswith(start)
    if kind == "svg":
        written = path.read_text(encoding="utf-8")
        assert "<script" not in written
        assert "&lt;script&gt;" in written


def test_png_is_twice_as_wide_as_a_readme_and_described(tmp_path: Path) -> None:
    made(("a",)).plot(tmp_path / "a.png", dark=True, title="A title")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size[0] == 1600
        assert image.getpixel((0, 0))[:3] == (13, 17, 23)  # type: ignore[index]
        assert "private for each user" in image.info["Description"]


def test_a_picture_shows_itself_in_a_notebook_with_its_text() -> None:
    shown = made(("<b>&\"'",)).plot()._repr_html_()
    assert shown.startswith('<img alt="rank  item\n   1  &lt;b&gt;&amp;&quot;&#x27;\n')
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("picture.gif", "a file name that ends with .png, .svg, .pdf"),
        ("no/where/a.png", "a file in a folder that exists"),
    ],
)
def test_a_bad_path_is_an_error_in_words(tmp_path: Path, path: str, allowed: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        made(("a",)).plot(tmp_path / path)
    assert str(caught.value).endswith(f" is not valid. Allowed: {allowed}.")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingLibrary) as caught:
        made(("a",)).plot()
    assert str(caught.value) == (
        f"library='matplotlib' is not installed. A picture needs it. Run: {install_command('plot')}"
    )


def test_matplotlib_is_imported_only_for_a_picture_and_pyplot_never() -> None:
    code = (
        "import sys, podium, podium.present.plots as plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "release = podium.mechanisms.ExponentialTopK(1, 9).release(podium.Histogram({'a': 9, 'b': 0}))\n"
        "release._repr_html_(), plots.plot_release(release)\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", f"import podium.mechanisms\n{code}"], check=True, timeout=120)


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with open_ledger(tmp_path / "ledger.db") as opened:
        yield opened


def history(ledger: Ledger) -> tuple[Entry, ...]:
    """Four questions: one settled for less, one settled, one forfeited, one open."""
    ledger.register("views", Budget(epsilon=3, delta="1e-6", items=200, questions=20), source="made up")
    worst = limited_domain_events("1/10", "1e-8", items=10, bottom=False)
    for question, items in (("a", 3), ("b", 10)):
        paid = limited_domain_events("1/10", "1e-8", items=items, bottom=items < 10)
        ledger.settle(ledger.reserve("views", worst, question), "{}", paid)
    ledger.forfeit(ledger.reserve("views", worst, "c"))
    ledger.reserve("views", worst, "d")
    return ledger.history("views")


@pytest.mark.parametrize("dark", [False, True])
def test_a_budget_climbs_in_steps_towards_its_limit(ledger: Ledger, dark: bool) -> None:
    entries = history(ledger)
    picture = plot_budget(entries, dark=dark)
    assert_readable(picture)
    status = ledger.status("views")
    assert len(picture.axes) == 2
    for axes, spent, limit in (
        (picture.axes[0], status.spent.rho + status.reserved.rho, status.totals.whole.rho),
        (picture.axes[1], status.spent.delta + status.reserved.delta, status.totals.whole.delta),
    ):
        blocks = {gid: [patch for patch in axes.patches if patch.get_gid() == gid] for gid in _STATES}
        assert [len(blocks[gid]) for gid in _STATES] == [2, 1, 1]
        assert all(patch.get_hatch() for gid in ("forfeited", "reserved") for patch in blocks[gid])
        assert not any(patch.get_hatch() for patch in blocks["settled"])
        order: list[Any] = [*blocks["settled"], *blocks["forfeited"], *blocks["reserved"]]
        # Each block stands on the one before it.
        for one, other in pairwise(order):
            assert other.get_y() == pytest.approx(one.get_y() + one.get_height())
        assert order[-1].get_y() + order[-1].get_height() == pytest.approx(float(spent))
        (line,) = [patch for patch in axes.patches if patch.get_gid() == "limit"]
        assert set(cast("Any", line).get_data().values) == {float(limit or 0)}
        assert [(mark.get_marker(), len(cast("Any", mark.get_xdata()))) for mark in axes.lines] == [("x", 1)]
    back = [patch for patch in picture.axes[0].patches if patch.get_gid() == "given back"]
    assert len(back) == 1
    assert [text.get_text() for text in picture.legends[0].get_texts()] == [
        "settled: paid for a release",
        "reserved, given back",
        "reserved, still open",
        "forfeited (\N{MULTIPLICATION SIGN})",
    ]
    assert picture.axes[0].get_ylabel() == "rho \N{GREEK SMALL LETTER RHO} charged"
    assert picture.axes[1].get_xlabel() == "question"
    assert "4 questions charged rho " in picture.alt


_STATES = ("settled", "forfeited", "reserved")


def test_a_pure_budget_that_was_raised(ledger: Ledger) -> None:
    ledger.register("pure", Budget(epsilon=1, items=10, questions=5), source="made up")
    ledger.settle(ledger.reserve("pure", (PureMechanism("0.4"),), "a"), "{}", (PureMechanism("0.25", reserved="0.4"),))
    ledger.raise_total("pure", Budget(epsilon=2, items=10, questions=5))
    ledger.reserve("pure", (PureMechanism("0.4"),), "b")
    picture = plot_budget(ledger.history("pure"))
    assert_readable(picture)
    (axes,) = picture.axes
    (line,) = [patch for patch in axes.patches if patch.get_gid() == "limit"]
    assert list(cast("Any", line).get_data().values) == [1, 2]
    assert by_role(picture, "limit text") == ["limit 2"]
    assert by_role(picture, "note")[-1] == "The total was raised 1 time: earlier limits no longer hold."


def test_a_budget_without_questions_and_one_with_hundreds(ledger: Ledger) -> None:
    ledger.register("new", Budget(epsilon=3, delta="1e-6", items=200, questions=20), source="made up")
    picture = plot_budget(ledger.history("new"))
    assert_readable(picture)
    assert by_role(picture, "note")[0].startswith("0 questions charged rho 0 of ")
    first = ledger.history("new")[0]
    cost = Receipt((PureMechanism("1e-3"),)).cost
    many = [replace(first, kind=Kind.RESERVED, sequence=2 + place, cost=cost, details=None) for place in range(300)]
    crowded = plot_budget([first, *many])
    assert_readable(crowded)
    assert len([patch for patch in crowded.axes[0].patches if patch.get_gid() == "reserved"]) == 300


def test_only_a_whole_history_is_drawn(ledger: Ledger) -> None:
    with pytest.raises(InvalidArgument) as caught:
        plot_budget(history(ledger)[1:])
    assert str(caught.value) == (
        "history='7 entries' is not valid. Allowed: what Ledger.history() returned, all of it."
    )


@pytest.mark.parametrize("dark", [False, True])
def test_composition_shows_every_theorem(dark: bool) -> None:
    picture = plot_composition(ks=(1, 5, 20), dark=dark)
    assert_readable(picture)
    lines = {str(line.get_gid()): line for line in picture.axes[0].lines if line.get_gid() != "leader"}
    assert list(lines) == [
        "basic", "advanced", "optimal for pure DP", "bounded range, 3 terms", "zCDP", "bounded range, adaptive",
        "non-adaptive (not valid)",
    ]  # fmt: skip
    assert list(cast("Any", lines["basic"].get_ydata())) == pytest.approx([0.1, 0.5, 2.0])
    best = cast("Any", lines["bounded range, adaptive"].get_ydata())
    assert best[-1] == pytest.approx(float(adaptive_optimum("0.1", 20, "1e-6")))
    assert all(best[-1] <= cast("Any", line.get_ydata())[-1] for name, line in lines.items() if "not" not in name)
    assert lines["bounded range, adaptive"].get_linewidth() == max(line.get_linewidth() for line in lines.values())
    assert picture.axes[0].get_xlabel() == "k, number of selections"
    assert picture.axes[0].get_ylabel() == "total epsilon ε"
    assert sorted(by_role(picture, "curve name")) == sorted(lines)


@pytest.mark.parametrize("dark", [False, True])
def test_a_profile_falls_and_marks_the_best_total(dark: bool) -> None:
    picture = plot_profile(10, "0.1", points=5, dark=dark)
    assert_readable(picture)
    axes = picture.axes[0]
    assert axes.get_yscale() == "log"
    curves = {line.get_gid(): list(cast("Any", line.get_ydata())) for line in axes.lines}
    for name in ("optimal for pure DP", "zCDP", "bounded range, adaptive"):
        assert all(one >= other for one, other in pairwise(curves[name]))
    # Rounded up: the exact profile of the best theorem lies below all that are valid.
    assert all(a <= b for a, b in zip(curves["bounded range, adaptive"], curves["zCDP"], strict=True))
    (point,) = [line for line in axes.lines if line.get_gid() == "marker point"]
    assert float(cast("Any", point.get_xdata())[0]) == pytest.approx(float(adaptive_optimum("0.1", 10, "1e-6")))
    assert by_role(picture, "marker text") == [f"ε {display(adaptive_optimum('0.1', 10, '1e-6'))} at δ 1e-6"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("chosen", [None, 0.1, 1, 10])
def test_recall_against_epsilon(chosen: float | None, dark: bool) -> None:
    recalls = {"limited domain": [0.0, 0.5, 1.0], "a mechanism with a very long name that does not fit": [0.1, 0.6, 1]}
    picture = plot_recall(
        [0.1, 1, 10], recalls, k=10, data="synthetic readers", chosen=chosen, dark=dark,
        bands={"limited domain": ([0, 0.4, 0.9], [0.1, 0.6, 1.0])},
    )  # fmt: skip
    assert_readable(picture)
    assert picture.axes[0].get_xscale() == "log"
    assert len(picture.axes[0].collections) == 1
    assert by_role(picture, "marker text") == ([] if chosen is None else [f"chosen: ε {chosen:g}"])
    assert by_role(picture, "note")[0].startswith("On synthetic readers. Recall: ")
    assert picture.axes[0].get_ylabel() == "recall at 10"


@pytest.mark.parametrize(
    ("epsilons", "recalls", "message"),
    [
        ([1], {"a": [1]}, "epsilons=[1] is not valid. Allowed: two or more numbers above 0, in rising order."),
        ([2, 1], {"a": [1, 1]}, "epsilons=[2, 1] is not valid. Allowed: two or more numbers above 0, in rising order."),
        ([1, 2], {}, "recalls={} is not valid. Allowed: one curve or more."),
        ([1, 2], {"a": [1]}, "recalls='1 values of a' is not valid. Allowed: 2 numbers from 0 to 1."),
        ([1, 2], {"a": [1, 1.2]}, "recalls='2 values of a' is not valid. Allowed: 2 numbers from 0 to 1."),
    ],
)
def test_recall_of_nonsense_is_refused(epsilons: list[float], recalls: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        plot_recall(epsilons, recalls, k=10, data="synthetic readers")
    assert str(caught.value) == message


def test_a_real_release_of_each_kind_of_noise() -> None:
    histogram = Histogram({f"article {place}": 1000 - 50 * place for place in range(15)}, known=False)
    release = LimitedDomain(5, 10, "1/2", "1e-6", max_items_per_user=2, noise="laplace").release(histogram)
    picture = plot_release(release)
    assert_readable(picture)
    assert len(whiskers(picture)) == len(release.items) == 5

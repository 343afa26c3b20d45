"""Pictures, as PNG, SVG or PDF, light or dark: of a release, of a budget, and of what the theorems promise.

Nothing here looks at private data: a release and a ledger are public to those who may see them, theorems are
arithmetic, and recall is for public or simulated data. Every function returns a ``Picture``, which is a matplotlib
figure with a text alternative in ``alt``, and writes it if it is given a path.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument, MissingLibrary
from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.ledger import Entry
from podium.present.drawing.accounting import composition_totals, profile_deltas
from podium.release import GroupedRelease, Release

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = [
    "plot_budget",
    "plot_composition",
    "plot_lists",
    "plot_profile",
    "plot_recall",
    "plot_release",
    "require_matplotlib",
]

_DEFAULT_KS = (1, 2, 4, 8, 14, 22, 32, 44, 58, 72, 86, 100)


def plot_release(
    release: Release, path: Path | str | None = None, *, dark: bool = False, title: str | None = None
) -> Picture:
    """Ranked bars with intervals where counts were paid for, otherwise an ordered list; both say what was promised."""
    require_matplotlib()
    if isinstance(release, GroupedRelease):
        from podium.present.drawing.small_multiples import draw_groups  # noqa: PLC0415 - matplotlib is optional

        return _save(draw_groups(release, title=title, dark=dark), path)
    from podium.present.drawing.bars import draw_ranking  # noqa: PLC0415 - matplotlib is optional

    return _save(draw_ranking(release, title=title, dark=dark), path)


def plot_budget(
    history: Sequence[Entry], path: Path | str | None = None, *, dark: bool = False, title: str | None = None
) -> Picture:
    """What each question charged, in steps towards the limit; ``history`` is what ``Ledger.history`` returned."""
    require_matplotlib()
    from podium.present.drawing.burn_down import draw_budget  # noqa: PLC0415 - matplotlib is optional

    return _save(draw_budget(history, title=title, dark=dark), path)


def plot_lists(
    lists: Mapping[str, Release], path: Path | str | None = None, *, dark: bool = False, title: str | None = None
) -> Picture:
    """A list over time, one line per item; ``lists`` is what ``TopKMonitor.releases`` has, by period."""
    require_matplotlib()
    if any(isinstance(release, GroupedRelease) for release in lists.values()):
        raise InvalidArgument(
            "lists", "a list for each group", allowed="one list for each period",
            hint="release.plot() draws the lists of all groups of one period.",
        )  # fmt: skip
    from podium.present.drawing.places import draw_lists  # noqa: PLC0415 - matplotlib is optional

    return _save(draw_lists(lists, title=title, dark=dark), path)


def plot_composition(
    path: Path | str | None = None,
    *,
    epsilon_per_item: Number = "0.1",
    delta: Number = "1e-6",
    ks: Sequence[int] = _DEFAULT_KS,
    dark: bool = False,
) -> Picture:
    """The total epsilon of k selections by each theorem, over k (in the style of Durfee & Rogers 2019, Figure 1)."""
    require_matplotlib()
    from podium.present.drawing.curves import Curve, Frame, draw_curves  # noqa: PLC0415 - matplotlib is optional

    places = tuple(sorted({positive_integer(k, "ks") for k in ks}))
    if len(places) < 2:
        raise InvalidArgument("ks", list(ks), allowed="two different numbers of selections or more")
    single, target = positive_fraction(epsilon_per_item, "epsilon_per_item"), probability(delta, "delta")
    totals = composition_totals(places, single, target)
    curves = [Curve(row.name, places, row.values, best=row.best, valid=row.valid_for_peeling) for row in totals]
    # Basic composition would flatten all others.
    highest = max(row.values[-1] for row in totals if row.name != "basic")
    picture = draw_curves(
        "Total epsilon of k selections, by theorem",
        curves,
        Frame("k, number of selections", "total epsilon ε", y_range=(0, 1.3 * highest)),
        notes=[
            f"Each selection is an exponential mechanism with epsilon {epsilon_per_item}; all totals at delta {delta}.",
            "Grey: not valid for top-k, because each selection depends on those before it.",
        ],
        dark=dark,
    )
    return _save(picture, path)


def plot_profile(
    k: int,
    epsilon_per_item: Number,
    path: Path | str | None = None,
    *,
    delta: Number = "1e-6",
    points: int = 17,
    dark: bool = False,
) -> Picture:
    """delta(epsilon) of k selections, one curve per accountant, with the best total at ``delta`` marked."""
    require_matplotlib()
    from podium.present.drawing.curves import (  # noqa: PLC0415 - matplotlib is optional
        Curve,
        Frame,
        Marker,
        draw_curves,
    )

    times, single = positive_integer(k, "k"), positive_fraction(epsilon_per_item, "epsilon_per_item")
    target = probability(delta, "delta")
    profile = profile_deltas(times, single, target, points=positive_integer(points, "points"))
    curves = [
        Curve(row.name, profile.totals, row.values, best=row.best, valid=row.valid_for_peeling) for row in profile.rows
    ]
    picture = draw_curves(
        f"Privacy profile of {times} selections",
        curves,
        Frame("epsilon ε", "delta δ", y_scale="log", y_range=(1e-11, 1.0)),
        notes=[
            f"Each selection has epsilon {epsilon_per_item}.",
            "Every pair (epsilon, delta) on or above a curve is a promise that holds: lower is better.",
            "Grey: not valid for top-k, because each selection depends on those before it.",
        ],
        marker=Marker(profile.best_total, f"ε {profile.best_text} at δ {delta}", float(target)),
        dark=dark,
    )
    return _save(picture, path)


def plot_recall(
    epsilons: Sequence[float],
    recalls: Mapping[str, Sequence[float]],
    path: Path | str | None = None,
    *,
    k: int,
    data: str,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    chosen: float | None = None,
    dark: bool = False,
) -> Picture:
    """Recall at k against epsilon, one curve per mechanism, with the chosen epsilon marked.

    ``data`` says on which public or simulated data the recalls were computed; recall on private data is private.
    ``bands`` are the low and high ends of what to shade around a curve.
    """
    require_matplotlib()
    from podium.present.drawing.curves import (  # noqa: PLC0415 - matplotlib is optional
        Curve,
        Frame,
        Marker,
        draw_curves,
    )

    places = positive_integer(k, "k")
    _check_curves(epsilons, recalls, bands or {})
    curves = [
        Curve(name, list(epsilons), list(recall), *(bands or {}).get(name, (None, None)))
        for name, recall in recalls.items()
    ]
    picture = draw_curves(
        f"Recall of the top {places} against epsilon",
        curves,
        Frame(
            "epsilon ε of the whole answer",
            f"recall at {places}",
            x_scale="log",
            y_range=(0, 1.03),
            percent=True,
            markers=True,
        ),
        notes=[
            f"On {data}. Recall: the share of the true top {places} that came back.",
            *(["Bands: the middle 80% of the runs."] if bands else []),
        ],
        marker=None if chosen is None else Marker(float(chosen), f"chosen: ε {chosen:g}"),
        dark=dark,
    )
    return _save(picture, path)


def _check_curves(
    epsilons: Sequence[float],
    recalls: Mapping[str, Sequence[float]],
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> None:
    rising = all(one < other for one, other in zip(epsilons, list(epsilons)[1:], strict=False))
    if len(epsilons) < 2 or min(epsilons) <= 0 or not rising:
        raise InvalidArgument("epsilons", list(epsilons), allowed="two or more numbers above 0, in rising order")
    if not recalls:
        raise InvalidArgument("recalls", dict(recalls), allowed="one curve or more")
    ends = {
        f"bands of {name}, {side}": values
        for name, pair in bands.items()
        for side, values in zip(("low", "high"), pair, strict=True)
    }
    for name, values in {**recalls, **ends}.items():
        if len(values) != len(epsilons) or not all(0 <= value <= 1 for value in values):
            raise InvalidArgument(
                "recalls", f"{len(values)} values of {name}", allowed=f"{len(epsilons)} numbers from 0 to 1"
            )


def require_matplotlib() -> None:
    """Raise ``MissingLibrary`` if no picture can be drawn, before anything is computed for one."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingLibrary("matplotlib", purpose="A picture", extra="plot")


def _save(picture: Picture, path: Path | str | None) -> Picture:
    if path is not None:
        picture.save(path)
    return picture

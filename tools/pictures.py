"""The pictures of the documentation: ``python -m tools.pictures docs/pictures``.

Every kind of picture, drawn from synthetic data, as PNG and SVG, light and dark.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from podium.curator import Curator
from podium.errors import PodiumError
from podium.ledger import Budget, Entry, Reason, open_ledger
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import run_strategy
from podium.planning.question_budget import question_budget
from podium.planning.simulation import EventTable, article_events
from podium.planning.strategy import strategy_for
from podium.present.plots import (
    plot_budget,
    plot_composition,
    plot_profile,
    plot_recall,
    plot_release,
    require_matplotlib,
)
from podium.release import Release
from podium.sources.parquet import write_parquet

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = ["draw_pictures", "main"]

_K: Final = 10
_DELTA: Final = "1e-6"
_EPSILONS: Final = ("0.05", "0.1", "0.2", "0.5", "1", "2", "5")
_READERS: Final = 2_000
_RUNS: Final = 40
_DATASET: Final = "views"
_BUDGET: Final = Budget(epsilon=3, delta=_DELTA, items=200, questions=20)


@dataclass(frozen=True, slots=True)
class _Answers:
    """What was asked of the synthetic table, and what the ledger wrote down about it."""

    ranked: Release
    counted: Release
    short: Release
    history: tuple[Entry, ...]


def draw_pictures(folder: Path | str) -> Iterator[Path]:
    """Draw every kind of picture into a folder, as PNG and SVG, light and dark; yields each file when it is written."""
    require_matplotlib()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    events = article_events()
    with tempfile.TemporaryDirectory(prefix="podium-pictures-") as temporary:
        answers = _ask(events, Path(temporary))
    recalls, bands = _recalls(article_events(rows=15 * _READERS, users=_READERS))
    for dark in (False, True):
        for name, picture in _pictures(answers, recalls, bands, dark=dark):
            for kind in ("png", "svg"):
                path = target / f"{name}{'-dark' if dark else ''}.{kind}"
                picture.save(path)
                yield path


def _pictures(
    answers: _Answers,
    recalls: Mapping[str, list[float]],
    bands: Mapping[str, tuple[list[float], list[float]]],
    *,
    dark: bool,
) -> Iterator[tuple[str, Picture]]:
    yield "ranking", plot_release(answers.ranked, dark=dark, title="The most read articles")
    yield "counts", plot_release(answers.counted, dark=dark, title="The most read articles, with counts")
    yield "fewer", plot_release(answers.short, dark=dark, title="The most read articles in Portugal")
    yield "budget", plot_budget(answers.history, dark=dark)
    yield "composition", plot_composition(dark=dark)
    yield "profile", plot_profile(100, "0.1", dark=dark)
    yield (
        "recall",
        plot_recall(
            [float(epsilon) for epsilon in _EPSILONS],
            recalls,
            k=_K,
            data=f"{_READERS:,} synthetic readers of articles, {_RUNS} runs for each epsilon",
            bands=bands,
            chosen=1,
            dark=dark,
        ),
    )


def _ask(events: EventTable, folder: Path) -> _Answers:
    path, ledger = folder / "events.parquet", folder / "ledger.db"
    write_parquet({"user_id": events.user_id, "article": events.article, "country": events.country}, path)
    with Curator(path, dataset=_DATASET, user="user_id", ledger=ledger, budget=_BUDGET) as views:
        ranked = views.top("article", k=_K)
        counted = views.top("article", k=_K, counts=True)
        short = views.top("article", k=_K, where="country = 'PT'", epsilon=1)
        for country in ("DE", "FR", "IT"):
            views.top("article", k=_K, where=f"country = '{country}'")
        worst = views.plan("article", k=_K, where="country = 'ES'").at_most
    with open_ledger(ledger) as opened:
        # One question that failed after its data was read, and one that is not answered yet.
        opened.forfeit(opened.reserve(_DATASET, worst, "a question that failed"), Reason.FAILED)
        opened.reserve(_DATASET, worst, "a question on its way")
        return _Answers(ranked, counted, short, opened.history(_DATASET))


def _recalls(events: EventTable) -> tuple[dict[str, list[float]], dict[str, tuple[list[float], list[float]]]]:
    """The share of the true top k that came back, over many runs; the data is synthetic, so nothing is disclosed."""
    pairs = set(zip(events.user_id.tolist(), events.article.tolist(), strict=True))
    counts = Counter(article for _, article in pairs)
    worlds = {
        "unknown domain": Facts(k=_K),
        "known domain": Facts(k=_K, domain_size=len(counts)),
    }
    recalls: dict[str, list[float]] = {}
    bands: dict[str, tuple[list[float], list[float]]] = {}
    numbers = {article: number for number, article in enumerate(counts)}
    table = PairsReader([user for user, _ in pairs], [numbers[article] for _, article in pairs])
    true = {numbers[article] for article, _ in counts.most_common(_K)}
    for name, facts in worlds.items():
        runs = []
        for epsilon in _EPSILONS:
            strategy = strategy_for(facts, question_budget(facts, epsilon=epsilon, delta=_DELTA))
            found = [len(true.intersection(run_strategy(strategy, table).items)) / _K for _ in range(_RUNS)]
            runs.append(found)
        recalls[name] = [float(np.mean(found)) for found in runs]
        low, high = ([float(np.quantile(found, level)) for found in runs] for level in (0.1, 0.9))
        bands[name] = (low, high)
    return recalls, bands


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the pictures and print the name of each file; exit code 2 if they cannot be drawn."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pictures", description="Draw every kind of picture from synthetic data."
    )
    parser.add_argument("folder", help="where to write them; created if missing")
    options = parser.parse_args(arguments)
    try:
        for path in draw_pictures(options.folder):
            print(path)
    except PodiumError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

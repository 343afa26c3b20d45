"""``podium demo``: a private top-k on synthetic data, end to end."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

import podium
from podium.cli.console import say
from podium.cli.options import EPSILON_HELP, Force, K, OutputFile, PlotFile, ReleaseFormatOption
from podium.cli.output import Output

__all__ = ["demo"]


def demo(
    *,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", metavar="DIR", help="Keep the table here, as events.parquet; it is temporary by default."
        ),
    ] = None,
    k: K = 10,
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help=EPSILON_HELP)] = "1",
    delta: Annotated[str, typer.Option("--delta", metavar="NUMBER", help="Delta of the guarantee.")] = "1e-6",
    form: ReleaseFormatOption = None,
    output: OutputFile = None,
    force: Force = False,
    plot: PlotFile = None,
) -> None:
    """Generate a synthetic table of readers and release its top 10.

    \b
    Example:
      podium demo --k 5 --epsilon 0.5 --folder demo-data
    """
    written = Output.at(form, output, plot=plot)
    written.check(overwrite=force)
    with tempfile.TemporaryDirectory(prefix="podium-demo-") as temporary:
        kept = Path(temporary) if folder is None else folder
        kept.mkdir(parents=True, exist_ok=True)
        path = kept / "events.parquet"
        _make(path)
        release = podium.top(path, item="article", user="user_id", k=k, epsilon=epsilon, delta=delta)
    written.write(release, items=["article"], heading="article, by number of readers")


def _make(path: Path) -> None:
    from podium.planning.simulation import article_events
    from podium.sources.parquet import write_parquet

    events = article_events()
    write_parquet({"user_id": events.user_id, "article": events.article, "country": events.country}, path)
    say(f"{len(events.user_id):,} synthetic events written to {path.name}; asking DuckDB ...\n")

"""``podium audit``: test privacy claims on synthetic inputs; no data is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.console import print_result, progress, say, settings
from podium.cli.exit_codes import REFUTED
from podium.cli.options import PlotFile
from podium.cli.output import check_picture, print_document
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium.audit import MechanismAudit, Progress

__all__ = ["audit"]

_EVERYTHING = "all"
_GALLERY = "gallery"


class AuditFormat(StrEnum):
    """How to print an audit."""

    MARKDOWN = "markdown"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of mechanisms, by the names that mechanisms give them."""

    k: Annotated[int | None, typer.Option("--k", "-k", metavar="N", help="Number of items.")] = None
    k_bar: Annotated[
        int | None,
        typer.Option("--k-bar", metavar="N", help="Number of largest items that compete."),
    ] = None
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="NUMBER", help="Total epsilon of the release.")
    ] = None
    epsilon_per_item: Annotated[
        str | None, typer.Option("--epsilon-per-item", metavar="NUMBER", help="Epsilon of each selection.")
    ] = None
    delta: Annotated[str | None, typer.Option("--delta", metavar="NUMBER", help="As the mechanism defines it.")] = None
    rho: Annotated[str | None, typer.Option("--rho", metavar="NUMBER", help="zCDP of the Gaussian noise.")] = None
    sigma: Annotated[str | None, typer.Option("--sigma", metavar="NUMBER", help="Scale of the Gaussian noise.")] = None
    threshold: Annotated[str | None, typer.Option("--threshold", metavar="NUMBER", help="A public threshold.")] = None
    noise: Annotated[str | None, typer.Option("--noise", metavar="NAME", help="Such as gumbel or laplace.")] = None
    max_items_per_user: Annotated[
        int | None, typer.Option("--max-items-per-user", metavar="N", help="Number of counts that one user can change.")
    ] = None


def audit(
    *,
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM", help="A mechanism, such as limited-domain; all; or gallery, the broken ones."
        ),
    ],
    parameters: Parameters,
    samples: Annotated[int | None, typer.Option("--samples", metavar="N", help="Maximum number of draws.")] = None,
    time: Annotated[float | None, typer.Option("--time", metavar="SECONDS", help="Time limit for drawing.")] = None,
    alpha: Annotated[str, typer.Option("--alpha", metavar="NUMBER", help="Maximum false-alarm probability.")] = "1e-9",
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Number of processes; by default one per processor.")
    ] = None,
    form: Annotated[AuditFormat, typer.Option("--format", "-f", help="Output format.")] = AuditFormat.MARKDOWN,
    plot: PlotFile = None,
) -> None:
    """Audit a mechanism: its distribution and its draws.

    The audit enumerates small inputs exactly, compares draws on neighbouring inputs, and compares draws with the stated
    distribution. All inputs are synthetic: no data is read. Exits with 8 if a claim is refuted; otherwise it proves no
    more than it reports.

    \b
    Examples:
      podium audit limited-domain --k 2 --k-bar 2 --epsilon-per-item 0.5 --delta 0.05 --samples 20000
      podium audit noisy-top-k --k 2 --epsilon 1 --time 60 --plot audit.png
      podium audit gallery
    """
    if plot is not None:
        check_picture(plot)
    given = asdict(parameters)
    if mechanism == _GALLERY:
        _require_none(given, plot)
        refuted = _show_gallery(alpha, form)
    else:
        chosen = _choose(mechanism, given, plot)
        budget = {"samples": samples, "seconds": time, "alpha": alpha, "workers": workers or os.cpu_count() or 1}
        refuted = _show_audits(chosen, budget, form, plot)
    if refuted:
        raise typer.Exit(REFUTED)


def _require_none(parameters: dict[str, Any], plot: Path | None) -> None:
    given = [name for name, value in {**parameters, "plot": plot}.items() if value is not None]
    if given:
        raise InvalidArgument(given[0], "given", allowed="nothing beside 'all' and 'gallery'", hint="Name a mechanism.")


def _choose(mechanism: str, parameters: dict[str, Any], plot: Path | None) -> dict[str, Any]:
    from podium.audit.targets.shipped import EXAMPLES, build

    if mechanism != _EVERYTHING:
        return {mechanism: build(mechanism, parameters)}
    _require_none(parameters, plot)
    return dict(EXAMPLES)


def _show_audits(chosen: dict[str, Any], budget: dict[str, Any], form: AuditFormat, plot: Path | None) -> bool:
    from podium.audit import audit_mechanism

    made: list[MechanismAudit] = []
    for name, mechanism in chosen.items():
        with _bar(f"auditing {name}") as tell:
            made.append(audit_mechanism(mechanism, name=name, progress=tell, **budget))
    if plot is not None:
        made[0].plot(plot)
        say(f"wrote {plot}")
    total = sum(one.false_alarm for one in made)
    _print(
        form,
        {"false_alarm": total, "audits": [one.to_dict() for one in made]},
        lambda: "\n".join([*(one.to_markdown() for one in made), f"False-alarm probability of all of it: {total:.3g}"]),
    )
    return any(one.violated for one in made)


@contextmanager
def _bar(what: str) -> Iterator[Callable[[Progress], None]]:
    """A progress bar on stderr; the inputs are synthetic, so it reveals nothing private."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, no_color=None if settings().color else True)
    if settings().quiet or not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=1.0)

        def tell(now: Progress) -> None:
            text = f"{what}: {now.draws:,} draws, epsilon at least {now.epsilon:.3f}"
            bar.update(task, completed=now.share, description=text)

        yield tell


def _show_gallery(alpha: str, form: AuditFormat) -> bool:
    from podium.audit.gallery import GALLERY, catch, gallery_text

    with progress("auditing the gallery of broken mechanisms"):
        caught = [catch(exhibit, alpha=alpha) for exhibit in GALLERY]
    _print(form, {"exhibits": [one.to_dict() for one in caught]}, lambda: gallery_text(caught))
    # Here an exhibit that is not caught is the failure.
    return not all(one.caught for one in caught)


def _print(form: AuditFormat, document: dict[str, Any], text: Callable[[], str]) -> None:
    if form is AuditFormat.JSON:
        print_document(document)
    else:
        print_result(text())

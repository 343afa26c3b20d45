"""The picture of a budget: what each question charged, in steps towards the limit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from podium.errors import InvalidArgument
from podium.ledger import Entry, Kind, Remaining, Totals
from podium.ledger.account import change, recorded_sum
from podium.ledger.bookkeeping.held import Sum
from podium.present.drawing.page import SMALL, WIDTH, Page, Picture
from podium.present.drawing.style import Style, font
from podium.privacy.rounding import display

__all__ = ["draw_budget"]

Measure = Literal["epsilon", "rho", "mu_squared", "delta"]
_SIGNS: Final[dict[Measure, str]] = {
    "epsilon": "ε",
    "rho": "\N{GREEK SMALL LETTER RHO}",
    "mu_squared": "μ²",
    "delta": "δ",
}
_PANEL: Final = 2.3
_LEFT: Final = 0.95
_RIGHT: Final = 0.35
_MAX_OUTLINED: Final = 120
"""Beyond this many questions a step is thinner than its outline."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One question: what was reserved for it, what it is charged now, and what became of it."""

    reserved: Sum
    charged: Sum
    state: Kind
    limits: Remaining


@dataclass(frozen=True, slots=True)
class _Block:
    """One question in one panel."""

    place: int
    start: float
    amount: float
    reserved: float
    state: Kind


def draw_budget(history: Sequence[Entry], *, title: str | None, dark: bool) -> Picture:
    """One panel per currency that the limits are written in."""
    steps, limits, raises = _steps(history)
    measures: list[Measure] = [_loss_of(limits)]
    if limits.delta:
        measures.append("delta")
    notes = _notes(steps, limits, measures, raises)
    name = title or f"Budget of {history[0].dataset!r}"
    page = Page(name, notes, body=_PANEL * len(measures) + 0.35, dark=dark)
    for place, measure in enumerate(measures):
        above = 0.4 + _PANEL * place
        below = _PANEL * (len(measures) - 1 - place) + 0.5
        axes = page.axes(left=_LEFT, right=_RIGHT, above=above, below=below)
        _panel(page, axes, steps, limits, measure)
        page.label(axes, x="question" if place == len(measures) - 1 else "", y=f"{measure} {_SIGNS[measure]} charged")
    _legend(page, steps)
    page.picture.alt = " ".join([f"{name}.", *notes])
    return page.picture


def _steps(history: Sequence[Entry]) -> tuple[list[_Step], Remaining, int]:
    if not history or history[0].kind is not Kind.REGISTERED:
        raise InvalidArgument("history", f"{len(history)} entries", allowed="what Ledger.history() returned, all of it")
    limits = Totals.from_dict(history[0].facts["totals"]).whole
    raises = 0
    steps: dict[int, _Step] = {}
    reservations = {entry.sequence: entry for entry in history if entry.kind is Kind.RESERVED}
    for entry in history:
        if entry.kind is Kind.RAISED:
            limits, raises = Totals.from_dict(entry.facts["totals"]).whole, raises + 1
        elif entry.kind is Kind.RESERVED and entry.cost is not None:
            held = recorded_sum(entry)
            steps[entry.sequence] = _Step(held, held, Kind.RESERVED, limits)
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation is not None:
            held = steps[entry.reservation].reserved
            charged = held + change(entry, reservations[entry.reservation])
            steps[entry.reservation] = replace(steps[entry.reservation], charged=charged, state=entry.kind)
    return list(steps.values()), limits, raises


def _loss_of(limits: Remaining) -> Measure:
    """The measure of the loss that is kept."""
    if limits.mu_squared is not None:
        return "mu_squared"
    return "epsilon" if limits.rho is None else "rho"


def _amount(cost: Sum | Remaining, measure: Measure) -> Fraction:
    return getattr(cost, measure) or Fraction(0)


def _panel(page: Page, axes: Axes, steps: list[_Step], limits: Remaining, measure: Measure) -> None:
    charged = [_amount(step.charged, measure) for step in steps]
    starts = list(itertools.accumulate(charged, initial=Fraction(0)))[:-1]
    places = range(1, len(steps) + 1)
    axes.bar(places, list(map(float, starts)), width=1.0, color=page.style.soft, linewidth=0)
    blocks = [
        _Block(place, float(start), float(amount), float(_amount(step.reserved, measure)), step.state)
        for place, start, amount, step in zip(places, starts, charged, steps, strict=True)
    ]
    _draw_blocks(axes, page.style, blocks)
    _limit_line(page, axes, steps, limits, measure)
    axes.set_xlim(0.5, max(len(steps), 1) + 0.5)
    highest = max(float(_amount(limits, measure)), *(float(_amount(step.limits, measure)) for step in steps), 0.0)
    axes.set_ylim(0, 1.18 * highest)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1) if steps else NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}".replace("e-0", "e-")))
    axes.yaxis.set_label_coords(-0.6 / (WIDTH - _LEFT - _RIGHT), 0.5)
    axes.grid(visible=False, axis="x")


def _draw_blocks(axes: Axes, style: Style, blocks: list[_Block]) -> None:
    width = 0.86 if len(blocks) <= _MAX_OUTLINED else 1.0
    looks: dict[Kind, dict[str, Any]] = {
        Kind.SETTLED: {"color": style.bar, "linewidth": 0},
        Kind.RESERVED: {"facecolor": "none", "edgecolor": style.bar, "linewidth": 1.0, "hatch": "////"},
        Kind.FORFEITED: {"facecolor": "none", "edgecolor": style.warn, "linewidth": 1.0, "hatch": "xxxx"},
    }
    for state, look in looks.items():
        chosen = [block for block in blocks if block.state is state]
        axes.bar(
            [block.place for block in chosen],
            [block.amount for block in chosen],
            bottom=[block.start for block in chosen],
            width=width,
            gid=state.value,
            **look,
        )
    lost = [block for block in blocks if block.state is Kind.FORFEITED]
    axes.plot(
        [block.place for block in lost], [block.start + block.amount for block in lost], linestyle="", marker="x",
        color=style.warn, markersize=7, markeredgewidth=2, gid="lost",
    )  # fmt: skip
    back = [block for block in blocks if block.state is Kind.SETTLED and block.reserved > block.amount]
    if len(blocks) <= _MAX_OUTLINED:
        axes.bar(
            [block.place for block in back], [block.reserved - block.amount for block in back], width=width, fill=False,
            bottom=[block.start + block.amount for block in back], edgecolor=style.muted, linewidth=0.7,
            linestyle=(0, (2, 2)), gid="given back",
        )  # fmt: skip


def _limit_line(page: Page, axes: Axes, steps: list[_Step], limits: Remaining, measure: Measure) -> None:
    heights = [float(_amount(step.limits, measure)) for step in steps] or [float(_amount(limits, measure))]
    edges = [place + 0.5 for place in range(len(heights) + 1)]
    axes.stairs(heights, edges, baseline=None, color=page.style.ink, linewidth=1.6, gid="limit")
    text = f"limit {display(_amount(limits, measure))}"
    above = axes.get_yaxis_transform() + ScaledTranslation(0, 0.05, page.picture.dpi_scale_trans)
    page.text(
        axes, 1.0, heights[-1], text, transform=above, ha="right", va="bottom", gid="limit text",
        fontproperties=font(SMALL), bbox={"facecolor": page.style.paper, "linewidth": 0, "pad": 1.0},
    )  # fmt: skip


def _legend(page: Page, steps: list[_Step]) -> None:
    if not steps:
        return
    style = page.style
    states = {step.state for step in steps}
    back = any(step.state is Kind.SETTLED and step.reserved != step.charged for step in steps)
    handles = [Patch(facecolor=style.bar, label="settled: paid for a release")]
    if back:
        handles.append(Patch(fill=False, edgecolor=style.muted, linestyle=(0, (2, 2)), label="reserved, given back"))
    if Kind.RESERVED in states:
        handles.append(Patch(fill=False, edgecolor=style.bar, hatch="////", label="reserved, still open"))
    if Kind.FORFEITED in states:
        handles.append(
            Patch(fill=False, edgecolor=style.warn, hatch="xxxx", label="forfeited (\N{MULTIPLICATION SIGN})")
        )
    page.picture.legend(
        handles=handles, loc="upper right", ncols=len(handles), frameon=False, labelcolor=style.ink,
        bbox_to_anchor=(1 - _RIGHT / WIDTH, page.top / page.height), prop=font(SMALL), handlelength=1.6,
        columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip


def _notes(steps: list[_Step], limits: Remaining, measures: list[Measure], raises: int) -> list[str]:
    parts = []
    for measure in measures:
        charged = sum((_amount(step.charged, measure) for step in steps), Fraction(0))
        parts.append(f"{measure} {display(charged)} of {display(_amount(limits, measure))}")
    counts = {kind: sum(step.state is kind for step in steps) for kind in (Kind.FORFEITED, Kind.RESERVED)}
    start = f"{len(steps)} question{'s' * (len(steps) != 1)} charged {' and '.join(parts)}"
    notes = [
        f"{start}; {counts[Kind.RESERVED]} still open, {counts[Kind.FORFEITED]} forfeited.",
        "Each step stands on those before it. What holds for any one user is the limit, from the first question on.",
    ]
    if raises:
        notes.append(f"The total was raised {raises} time{'s' * (raises > 1)}: earlier limits no longer hold.")
    return notes

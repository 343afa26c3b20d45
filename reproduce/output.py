"""What a run leaves behind: the claims and every curve as CSV, the pictures, and the page of the documentation."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from bench.measure import commit

from reproduce.drawing import draw
from reproduce.study import Figure, Mode, Report, Row, Study, Verdict

__all__ = ["Shown", "page", "read_claims", "read_figures", "write_all", "write_page"]

_CLAIMS = ("study", "title", "source", "claim", "claimed", "measured", "verdict", "note", "commit")
_FIGURES = ("study", "name", "title", "alt", "mode")
_MINUTES = {Mode.TINY: "a test", Mode.QUICK: "minutes", Mode.FULL: "up to an hour"}

_ABOUT = (
    "Every number below was printed by that run; every curve is a CSV file beside its picture. Below each table are "
    "its command and the commit that was measured."
)
_PAPERS = """\
DR: Durfee & Rogers 2019; SL: Shekelyan & Loukides 2022; QSZ: Qiao, Su & Zhang 2021; DW: Ding, Wang, Xiao, Zhang &
Kifer 2021; Gillenwater, Joseph, Munoz Medina & Ribero 2022. Probabilities of the canonical mechanism are exact, from
its class weights; budgets for the true top k are found by integration, not by sampling; what is simulated carries error
bars. "Beyond the paper" marks what podium adds; "wrong in print" what a paper states and is false."""
_DATA = """\
These data sets were not available: BMS-POS (BMS-WebView-1 stands in, a click log of the same donor, as it is and with
its counts scaled to the size of BMS-POS), the full Kosarak (the true counts of its 116 most frequent items stand in;
where events are needed, its first 36,682 of 990,002 records) and T40I10D100K (made anew with its generator). Rows
that rest on them say so."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as the page shows it."""

    study: str
    name: str
    title: str
    alt: str
    mode: str


def write_all(reports: Mapping[str, tuple[Study, Report]], folder: Path, mode: Mode, *, pictures: bool = True) -> None:
    """All results of a run into one folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_rows(folder / "claims.csv", _CLAIMS, _claim_rows(reports))
    shown = []
    for study, report in reports.values():
        for figure in report.figures:
            _write_rows(folder / f"{figure.name}.csv", ("panel", "series", "x", "y", "low", "high"), _points(figure))
            alt = _pictures(figure, folder) if pictures else ""
            shown.append((study.name, figure.name, figure.title, alt, mode))
    _write_rows(folder / "figures.csv", _FIGURES, shown)


def _claim_rows(reports: Mapping[str, tuple[Study, Report]]) -> Iterable[Sequence[object]]:
    at = commit() or ""
    for study, report in reports.values():
        for row in report.rows:
            yield (study.name, study.title, row.source, row.claim, row.claimed, row.measured, row.verdict, row.note, at)


def _points(figure: Figure) -> Iterable[Sequence[object]]:
    for panel in figure.panels:
        for series in panel.series:
            ends = [["", ""]] * len(series.x)
            if series.low is not None and series.high is not None:
                ends = [[f"{low:.6g}", f"{high:.6g}"] for low, high in zip(series.low, series.high, strict=True)]
            for x, y, (low, high) in zip(series.x, series.y, ends, strict=True):
                yield panel.title, series.name, f"{x:.6g}", f"{y:.6g}", low, high


def _pictures(figure: Figure, folder: Path) -> str:
    """Light and dark, as PNG; light as SVG too, for the page. Returns what the picture says in words."""
    with mpl.rc_context({"svg.hashsalt": figure.name}):
        light = draw(figure, dark=False)
        light.save(folder / f"{figure.name}.svg")
        light.save(folder / f"{figure.name}.png")
        draw(figure, dark=True).save(folder / f"{figure.name}-dark.png")
    return light.alt


def _write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_claims(folder: Path) -> list[tuple[str, str, Row]]:
    """(study, title, row) of every claim that a run wrote."""
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        return [
            (
                line["study"],
                line["title"],
                Row(
                    line["source"],
                    line["claim"],
                    line["claimed"],
                    line["measured"],
                    Verdict(line["verdict"]),
                    line["note"],
                ),
            )
            for line in csv.DictReader(file)
        ]


def _measured_at(folder: Path) -> str:
    """The commit of a run; runs before this was recorded do not say."""
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file)).get("commit") or "not recorded"


def read_figures(folder: Path) -> list[Shown]:
    """The figures that a run drew."""
    with (folder / "figures.csv").open(encoding="utf-8", newline="") as file:
        return [Shown(**line) for line in csv.DictReader(file)]


def write_page(source: Path, docs: Path) -> None:
    """Put a run's CSV files and pictures beside the documentation, and write the page from them."""
    target = docs / "reproduce"
    target.mkdir(parents=True, exist_ok=True)
    names = ["claims.csv", "figures.csv"]
    names += [f"{shown.name}.{kind}" for shown in read_figures(source) for kind in ("csv", "svg")]
    for name in names:
        (target / name).write_bytes((source / name).read_bytes())
    (docs / "reproduce.md").write_text(page(target), encoding="utf-8")


def page(folder: Path) -> str:
    """The page of the documentation, from the CSV files alone."""
    claims, figures, at = read_claims(folder), read_figures(folder), _measured_at(folder)
    tally = Counter(row.verdict for _, _, row in claims)
    mode = Mode(figures[0].mode)
    quick = " --quick" if mode is Mode.QUICK else ""
    lines = [
        "# The papers' results, computed again",
        "",
        f"Written by `python -m reproduce{quick} --publish docs` ({_MINUTES[mode]}). {_ABOUT}",
        "",
        _PAPERS,
        "",
        _DATA,
        "",
        "| verdict | rows |",
        "|---|---:|",
        *(f"| {verdict} | {tally[verdict]} |" for verdict in Verdict if tally[verdict]),
        "",
    ]
    for study in dict.fromkeys(name for name, _, _ in claims):
        source = f"`python -m reproduce{quick} {study}`, commit {at}."
        lines += _section([(title, row) for name, title, row in claims if name == study], source)
        lines += [line for shown in figures if shown.study == study for line in _picture(shown)]
    return "\n".join(lines).rstrip() + "\n"


def _section(rows: Sequence[tuple[str, Row]], source: str) -> list[str]:
    lines = [f"## {rows[0][0]}", "", "| source | claim | claimed | measured | verdict |", "|---|---|---|---|---|"]
    notes: list[str] = []
    for _, row in rows:
        mark = ""
        if row.note:
            notes.append(f"{len(notes) + 1}. {row.note}")
            mark = f" ({len(notes)})"
        cells = (row.source, row.claim, row.claimed, row.measured, f"**{row.verdict}**{mark}")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", source, ""]
    return [*lines, *notes, ""] if notes else lines


def _picture(shown: Shown) -> list[str]:
    alt = shown.alt.replace("[", "(").replace("]", ")")
    return [f"![{alt}](reproduce/{shown.name}.svg)", "", f"Points: [{shown.name}.csv](reproduce/{shown.name}.csv)", ""]

"""The tables of the page about the benches: which numbers of a file are shown, and how; worst cells come first."""

from __future__ import annotations

import statistics

from bench.discovery.tables import ABOUT, discovery_tables
from bench.end_to_end.table import END_TO_END, end_to_end_table
from bench.known.goals import DEFAULT, HINDSIGHT, SET, blocks
from bench.known.order import ABOUT_ORDER, order_table
from bench.ledger.tables import tables
from bench.page.engine_tables import engine_tables
from bench.page.layout import Report, Row, Section, Shown, shown_number
from bench.utility.regimes.report import regime_tables
from bench.utility.regimes.same_cells import ABOUT_SAME_CELLS, recall_table

__all__ = ["SECTIONS", "stated_facts"]


def _selection(report: Report) -> list[Shown]:
    rows = [
        [
            cell["shape"],
            f"{cell['d']:,}",
            f"{cell['k']:,}",
            shown_number(cell["ratio_to_numpy"]),
            shown_number(cell["times_faster_than_opendp"]),
            shown_number(cell["memory_multiple"]["podium"]),
            shown_number(cell["memory_multiple"]["numpy"]),
        ]
        for cell in sorted(report["raw"], key=lambda cell: -cell["ratio_to_numpy"])
    ]
    caption = (
        "Time as a ratio, and peak extra memory over the bytes of the counts. A dash: OpenDP would have taken "
        "too long and was left out."
    )
    headings = ("scores", "d", "k", "podium / NumPy", "OpenDP / podium", "memory, podium", "memory, NumPy")
    return [Shown(caption, headings, rows)]


def _canonical(report: Report) -> list[Shown]:
    rows = [
        [
            f"{cell['epsilon']:g}",
            shown_number(cell["times_faster_than_numpy"]),
            shown_number(cell["times_faster_than_loop"]) + ("" if cell["loop_share"] == 1 else " (extrapolated)"),
        ]
        for cell in sorted(report["cells"], key=lambda cell: cell["times_faster_than_numpy"])
    ]
    settings = report["settings"]
    caption = f"d={settings['d']:,}, k={settings['k']:,}, gamma={settings['gamma']}: time as a ratio."
    return [Shown(caption, ("epsilon", "NumPy / podium", "loop / podium"), rows)]


def _joint(report: Report) -> list[Shown]:
    rows = [
        [
            f"{cell['k']:,}",
            f"{cell['epsilon']:g}",
            shown_number(cell["times_faster_than_numpy"]),
            shown_number(statistics.median(cell["seconds"]["podium"])),
        ]
        for cell in sorted(report["cells"], key=lambda cell: cell["times_faster_than_numpy"])
    ]
    return [Shown("Time as a ratio, and in seconds.", ("k", "epsilon", "NumPy / podium", "podium, s"), rows)]


def _ledger(report: Report) -> list[Shown]:
    return [Shown(*table) for table in tables(report)]


def _limited_domain(report: Report) -> list[Shown]:
    rows = [
        [f"{row['k_bar']:,}", shown_number(row["release"] / row["race"]), shown_number(1000 * row["overhead"])]
        for row in sorted(report["rows"], key=lambda row: -row["overhead"])
    ]
    headings = ("k_bar", "release / race alone", "overhead, ms")
    return [Shown("A whole release against its noise alone (medians).", headings, rows)]


def _discovery(report: Report) -> list[Shown]:
    return [Shown(*table) for table in discovery_tables(report)]


def _end_to_end(report: Report) -> list[Shown]:
    return [Shown(*end_to_end_table(report))]


def _startup(report: Report) -> list[Shown]:
    rows = [
        [cell["what"], shown_number(cell["ratio"]), shown_number(cell["processor_seconds"])]
        for cell in sorted(report["cells"], key=lambda cell: -cell["ratio"])
    ]
    lines = f"{report['settings']['lines']:,}"
    caption = f"Processor time of a new process (medians); `podium top` reads a CSV file of {lines} lines."
    return [Shown(caption, ("what", "/ python -c pass", "seconds"), rows)]


def _groups(report: Report) -> list[Shown]:
    rows = [
        [
            cell["mechanism"],
            cell["way"],
            f"{cell['together']:.3f}",
            f"{cell['alone']:.3f}",
            f"{cell['difference']:+.3f} ±{cell['error']:.3f}",
            f"{cell['lists']:,}",
        ]
        for cell in sorted(report["cells"], key=lambda cell: cell["difference"])
    ]
    told = report["settings"]
    caption = (
        f"The share of each country's true top {told['k']}: {told['countries']} countries of {told['users']:,} users, "
        f"epsilon {told['epsilon']}, {told['runs']} runs."
    )
    return [Shown(caption, ("mechanism", "asked", "per country", "alone", "difference", "lists"), rows)]


def _regimes(report: Report) -> list[Shown]:
    return [Shown(*table) for table in regime_tables(report)]


def stated_facts(report: Report) -> tuple[tuple[str, ...], list[Row]]:
    """Headings and rows of the bench of stated facts, which two pages show."""
    names = list(report["cells"][0]["recall"])
    rows = [
        [
            *(f"{cell[name]:,}" for name in ("users", "each", "size", "k")),
            *(shown_number(cell["recall"][name]["mean"]) for name in names),
        ]
        for cell in sorted(report["cells"], key=_behind_best)
    ]
    return ("users", "items of each", "domain", "k", *names), rows


def _behind_best(cell: Report) -> float:
    means = {name: recall["mean"] for name, recall in cell["recall"].items()}
    return float(means["default"] - max(means.values()))


def _stated(report: Report) -> list[Shown]:
    return [Shown("Mean recall.", *stated_facts(report))]


def _utility(report: Report) -> list[Shown]:
    cells = report["cells"]
    columns = list(cells[0]["columns"])
    rows = []
    questions: dict[tuple[float, int], list[Report]] = {}
    for cell in sorted(cells, key=lambda cell: cell["lead"]):
        questions.setdefault((cell["epsilon"], cell["k"]), []).append(cell)
    for (epsilon, k), here in questions.items():
        others = [statistics.fmean(cell["columns"][name]["recall"]["mean"] for cell in here) for name in columns]
        podium = statistics.fmean(cell["podium"]["mean"] for cell in here)
        leads = [cell["lead"] for cell in here]
        rows.append([f"{epsilon:g}", str(k), *map(shown_number, (podium, *others, min(leads), max(leads)))])
    names = ", ".join(dict.fromkeys(cell["data"] for cell in cells))
    caption = (
        f"Mean recall over {names}, at delta={report['settings']['delta']}. Columns that bound users to D items have "
        "the best D by hindsight. The lead is over the best column of a cell, at worst and at best."
    )
    return [Shown(caption, ("epsilon", "k", "podium", *columns, "least lead", "largest lead"), rows)]


def _known(report: Report) -> list[Shown]:
    who = (*HINDSIGHT, DEFAULT, SET)
    rows = [
        [delta, f"{k:,}", *(shown_number(means[name]) for name in who)]
        for (delta, k), means in sorted(
            blocks(report["cells"]).items(), key=lambda block: block[1][DEFAULT] - max(block[1].values())
        )
    ]
    epsilons = ", ".join(report["settings"]["epsilons"])
    caption = (
        f"Mean recall on the data sets of Shekelyan & Loukides 2022, over epsilon={epsilons}. These are counts, which "
        f"do not say how many items users have: `{DEFAULT}` is what the planner chooses for a list in order if users "
        f"have a large part of the items, with all of epsilon, and `{SET}` what it chooses where the order does not "
        "matter."
    )
    return [Shown(caption, ("delta", "k", *who), rows)]


def _opendp_recall(report: Report) -> list[Shown]:
    rows = [
        [
            cell["data"],
            f"{cell['d']:,}",
            str(cell["k"]),
            cell["rho"],
            *(f"{cell['recall'][who]:.3f} ±{cell['standard_error'][who]:.3f}" for who in ("podium", "opendp")),
            shown_number(cell["times_faster_than_opendp"]),
        ]
        for cell in sorted(report["cells"], key=lambda cell: cell["recall"]["podium"] - cell["recall"]["opendp"])
    ]
    caption = f"Mean recall of {report['settings']['runs']} runs with its standard error, and time as a ratio."
    headings = ("data", "items", "k", "rho", "recall, podium", "recall, OpenDP", "OpenDP / podium, time")
    return [Shown(caption, headings, rows)]


def _monitor(report: Report) -> list[Shown]:
    recalls: dict[str, list[float]] = {}
    for cell in report["cells"]:
        recalls.setdefault(cell["stream"], []).append(cell["recall"])
    # The first way is the default.
    leads = {stream: first - max(others, default=0.0) for stream, (first, *others) in recalls.items()}
    rows = [
        [
            cell["stream"],
            cell["strategy"],
            *(f"{cell[what]:.3f}" for what in ("recall", "worst", "last")),
            f"{cell['left']:.3f}",
        ]
        for cell in sorted(report["cells"], key=lambda cell: leads[cell["stream"]])
    ]
    settings, few = report["settings"], ""
    if "runs_of_few_periods" in settings:
        few = f" ({settings['runs_of_few_periods']} where there are at most {settings['few_periods']} periods)"
    caption = (
        f"Recall of the top {settings['k']} of each period's window: the mean over the periods, the worst period and "
        f"the last; and the share of the budget that is left after the last. Epsilon {settings['epsilon']} and delta "
        f"{settings['delta']} for the whole schedule and every user; means of {settings['runs']} runs{few}."
    )
    return [Shown(caption, ("stream", "way", "recall", "worst period", "last period", "budget left"), rows)]


def _measures(report: Report) -> list[Shown]:
    rules = tuple(next(iter(report["cells"]))["shares"])
    rows = [
        [name, *(f"{values[what]:.2f}" for what in ("mean", "90 %", "worst"))]
        for name, values in sorted(report["losses"].items(), key=lambda loss: -loss[1]["mean"])
    ]
    real = [
        [cell["domain"], cell["epsilon"], f"{cell['best']:.3f}", *(f"{share:.3f}" for share in cell["shares"].values())]
        for cell in sorted(report["cells"], key=lambda cell: cell["shares"][rules[0]] - cell["best"])
        if cell["world"] == "steam"
    ]
    return [
        Shown("Points lost, over all generated tables:", ("domain, clip", "mean", "90 %", "worst"), rows),
        Shown("Hours played on Steam, the share found:", ("domain", "epsilon", "best by hindsight", *rules), real),
    ]


SECTIONS = (
    Section(
        "selection",
        "Noisy selection: NumPy and OpenDP",
        "The same noise scale for all. NumPy is the one-liner that people write, which is not private: floating-point "
        "noise from a predictable generator. OpenDP is `make_noisy_top_k` for pure DP.",
        _selection,
    ),
    Section(
        "ledger",
        "What a ledger holds: the Gaussian filter and zCDP",
        "Totals and numbers of questions of both filters, computed by podium's accounting; then what an attack by "
        "dynamic programming can force against right and wrong prices, and what a ledger loses that leaves a condition "
        "out. [The proofs](proofs/gaussian-filter.md) say what each of them is.",
        _ledger,
    ),
    Section(
        "canonical",
        "The canonical mechanism: NumPy and the printed loop",
        "One release on the Netflix counts, against a vectorised and a plain form of the same law.",
        _canonical,
    ),
    Section(
        "joint",
        "The joint mechanism: NumPy",
        "One release on the Netflix counts, against a vectorised form of the same law.",
        _joint,
    ),
    Section(
        "limited_domain",
        "The limited domain: what a release adds to its noise",
        "The domain, the receipt and the checks, beside the exact race on the same numbers.",
        _limited_domain,
    ),
    Section(
        "engines",
        "Engines: the same query without privacy",
        "A private top k and the query that anybody would write, on the same engine with its usual settings.",
        engine_tables,
    ),
    Section(
        "groups",
        "A list for each group: the same recall as one list",
        "One question about fifty countries, and a question about each country alone, which costs as much as all of "
        "them together: asked in the same way, and by podium's default for a single list.",
        _groups,
    ),
    Section(
        "utility",
        "Recall without a known domain",
        "What `podium.top` finds by default on public data, beside five other ways at the same guarantee.",
        _utility,
    ),
    Section(
        "utility_regimes",
        "Recall on small and large tables",
        "The default beside nine other ways at the same guarantee, simulated over users from 300 to 100,000, items per "
        "user from 1 to 50, lists from 1 to 1,000 and subsamples of public data. The cells were fixed beforehand. "
        "Means that are wanted were reached on other cells: see the next bench.",
        _regimes,
    ),
    Section(
        "utility_rule",
        "Recall on the same cells: the default and its first rule",
        "The rule that the default began as, on the cells of the bench above and on more even ones.",
        lambda report: [Shown(ABOUT_SAME_CELLS, *recall_table(report))],
    ),
    Section(
        "known",
        "Recall with a known domain",
        "The planner's choice beside other mechanisms at the same guarantee, in the mean over a block of cells. Which "
        "is best differs from cell to cell, and nobody knows it for private data: how far the planner is below the "
        "best by hindsight in each cell, and in how many by more than 0.01, is on "
        "[a page of its own](planner-known.md#distance-from-the-best-in-hindsight).",
        _known,
    ),
    Section(
        "known_rounds",
        "Stated facts",
        "The default where a domain is stated, where a bound on items per user is, and where neither is, on synthetic "
        "users; with it what the default for a known domain chooses among, each with all of epsilon.",
        _stated,
    ),
    Section(
        "known_order",
        "A set that is put into order",
        "What a ranking of a known domain with delta=0 would gain and lose if it were a set first.",
        lambda report: [Shown(ABOUT_ORDER, *order_table(report))],
    ),
    Section(
        "measures",
        "Lists by amounts: choosing the clip",
        "The 20 items with the largest sums in 52 generated tables (5,000 to 200,000 users, lognormal amounts, epsilon "
        "from .05 to 1; fixed beforehand) and on Steam. What comes back has a share of the sums of the true list; lost "
        "are points of it, against the same mechanism with the best stated power of two, known by hindsight. Beside "
        "it the 95 % quantile of the amounts of the table itself, which is not private, and a clip of 1. Every second "
        "table was used to fit the rule; the others were not.",
        _measures,
    ),
    Section(
        "opendp_recall",
        "Peeling at the same rho: OpenDP",
        "The planner's choice for a known domain (every item of the data set) beside OpenDP's `make_noisy_top_k` for "
        "zero-concentrated DP, both within the same rho. The laws are the same up to how tightly rho is bounded, so "
        "recall should differ by chance alone.",
        _opendp_recall,
    ),
    Section(
        "discovery",
        "The newest mechanisms for unknown items",
        ABOUT,
        _discovery,
    ),
    Section(
        "end_to_end",
        "Whole programs of other libraries",
        END_TO_END,
        _end_to_end,
    ),
    Section(
        "monitor",
        "Lists that keep up to date, inside one budget",
        "`TopKMonitor` beside asking again in every period with an even share of the same budget, on synthetic streams "
        "with drifting popularity and on real logs in the order of their records. The monitor's shares of finding and "
        "choosing were picked on streams like these.",
        _monitor,
        picture="Recall per period of several ways to use one budget, and how the monitor's budget burns down.",
    ),
    Section(
        "startup",
        "Starting: a new process",
        "Processor time until somebody at a terminal sees an answer, beside a Python that does nothing.",
        _startup,
    ),
)
"""Every bench that leaves a file, in the order of the page."""

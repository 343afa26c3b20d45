"""What the choice of a clip loses: ``python -m bench measures [--quick] [--json FILE]``; no engine, no wait.

The k items that come back have a share of what the k largest sums have, before any clip. The loss of a rule is how
many points that share is below the same mechanism with the best stated power of two for this table, known by
hindsight and not paid for. Shares are means over runs; those of the best clip are not the ones it was found by.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import bench_parser, bench_report, save_report
from bench.goals import Goal
from bench.measures.reader import ArrayReader
from bench.measures.worlds import WORLDS, Amounts, steam
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.planning.measured_budget import CLIP_SHARE
from podium.privacy import split_budget
from podium.privacy.calibration import largest_selection_epsilon

__all__ = ["GOALS", "RULES", "main", "summary"]

K, DELTA = 20, "1e-6"
RULES = ("chosen", "95 % of pairs", "clip 1")
DOMAINS = ("unknown", "known")
GOALS = {"mean": 0.5, "worst": 5.0}
"""Points of the sum of the true list."""
_SMALL, _RUNS_IF_SMALL, _MIN_RUNS = 5_000, 60, 2
"""Runs for each clip: small tables have more, because chance decides more there."""
_AGAIN, _HIGHEST = 3, 14
DEFAULT_FILE = Path("build/bench/measures.json")
_STEAM_EPSILONS = ("0.2", "1")


def _share(table: Amounts, items: tuple[Any, ...]) -> float:
    sums = np.bincount(table.items, weights=table.amounts, minlength=table.names)
    return float(sums[list(items)].sum() / np.sort(sums)[-K:].sum())


def _unknown(epsilon: str, clip: int | None) -> Any:
    """Rounds; ``clip`` bounds lengths and pairs alike where it is stated."""
    whole = AdaptiveTopK.within(K, epsilon=epsilon, delta=DELTA)
    if clip is not None:
        return MeasuredTopK(K, clip=clip, mu_squared=whole.mu_squared, delta=whole.delta)
    rest = whole.mu_squared * (1 - CLIP_SHARE)
    return MeasuredTopK(K, rho_clip=whole.mu_squared * CLIP_SHARE / 2, mu_squared=rest, delta=whole.delta)


def _known(epsilon: str, clip: int | None) -> Any:
    rho = split_budget(K, epsilon=epsilon, delta=DELTA, delta_for_calls=0).rho
    paid = Fraction(0) if clip is not None else rho * CLIP_SHARE
    single = largest_selection_epsilon((rho - paid) / K)
    return MeasuredTopK(K, clip=clip, rho_clip=paid or None, epsilon_per_item=single, known=True)


def _best(table: Amounts, domain: str, epsilon: str, runs: int) -> tuple[float, int]:
    """The share of the best clip by hindsight, and that clip."""
    mechanism = _unknown if domain == "unknown" else _known
    found = [(_mean(table, mechanism(epsilon, 1 << j), runs), 1 << j) for j in range(_HIGHEST)]
    _, clip = max(found)
    return _mean(table, mechanism(epsilon, clip), _AGAIN * runs), clip


def _mean(table: Amounts, mechanism: Any, runs: int) -> float:
    reader = ArrayReader(table)
    return float(np.mean([_share(table, mechanism.release(reader).items) for _ in range(runs)]))


def _cell(table: Amounts, domain: str, epsilon: str, runs: int) -> dict[str, Any]:
    mechanism = _unknown if domain == "unknown" else _known
    quantile = max(1, int(np.quantile(table.amounts, 0.95)))
    best, clip = _best(table, domain, epsilon, runs)
    shares = {}
    for rule, stated in zip(RULES, (None, quantile, 1), strict=True):
        shares[rule] = _mean(table, mechanism(epsilon, stated), _AGAIN * runs)
    return {"domain": domain, "epsilon": epsilon, "best": best, "best_clip": clip, "shares": shares}


def _cells(quick: bool, first: int, last: int) -> Iterator[dict[str, Any]]:
    worlds = [replace(world, users=min(world.users, 5000)) for world in WORLDS[:6]] if quick else list(WORLDS)
    for world in worlds[first:last]:
        table = world.table()
        for domain in DOMAINS:
            yield {"world": asdict(world), **_cell(table, domain, world.epsilon, 1 if quick else _runs(table))}
    played = steam() if last >= len(WORLDS) and not quick else None
    if played is not None:
        for epsilon in _STEAM_EPSILONS:
            for domain in DOMAINS:
                yield {"world": "steam", **_cell(played, domain, epsilon, _runs(played))}


def _runs(table: Amounts) -> int:
    users = int(table.users.max()) + 1
    return _RUNS_IF_SMALL if users <= _SMALL else max(_MIN_RUNS, 40 * _SMALL // users)


def summary(cells: list[dict[str, Any]], domain: str, rule: str) -> dict[str, float]:
    """Mean, 90 % quantile and worst loss in points over the generated worlds."""
    mine = [cell for cell in cells if cell["domain"] == domain and cell["world"] != "steam"]
    losses = [100 * (cell["best"] - cell["shares"][rule]) for cell in mine]
    return {"mean": float(np.mean(losses)), "90 %": float(np.quantile(losses, 0.9)), "worst": float(np.max(losses))}


def main() -> None:
    """Measure, print, and keep the numbers for the page."""
    parser = bench_parser("python -m bench measures", __doc__, DEFAULT_FILE, quick="six small worlds, one run")
    parser.add_argument("--first", type=int, default=0, help="the first world; what the file has of others is kept")
    parser.add_argument("--last", type=int, default=len(WORLDS), help="the world to stop before")
    options = parser.parse_args()
    cells: list[dict[str, Any]] = []
    if options.first and options.json.is_file():
        cells = json.loads(options.json.read_text(encoding="utf-8"))["cells"]
    for cell in _cells(options.quick, options.first, options.last):
        cells.append(cell)
        shown = " ".join(f"{rule}: {share:.3f}" for rule, share in cell["shares"].items())
        print(f"{cell['world']} {cell['domain']} best {cell['best']:.3f} at {cell['best_clip']}; {shown}", flush=True)
    for domain in DOMAINS:
        for rule in RULES:
            print(domain, rule, summary(cells, domain, rule))
    save_report(_report(cells, options.quick), options.json, indent=None)


def _report(cells: list[dict[str, Any]], quick: bool) -> dict[str, Any]:
    losses = {f"{domain}, {rule}": summary(cells, domain, rule) for domain in DOMAINS for rule in RULES}
    # The rule was fitted to tables with an even seed, and to more of the same kinds.
    others = [cell for cell in cells if cell["world"] != "steam" and cell["world"]["seed"] % 2]
    if others:
        name = f"{RULES[0]}, tables not fitted to"
        losses |= {f"{domain}, {name}": summary(others, domain, RULES[0]) for domain in DOMAINS}
    goals = []
    for domain in DOMAINS:
        for what, wanted in GOALS.items():
            measured = losses[f"{domain}, {RULES[0]}"][what]
            where = f"{sum(cell['domain'] == domain and cell['world'] != 'steam' for cell in cells)} tables"
            name, met = f"points lost by choosing the clip, {domain} domain, {what}", measured <= wanted
            goals.append(Goal(name, f"<= {wanted:g}", measured, None if quick else met, where))
    settings = {"quick": quick, "k": K, "delta": DELTA}
    return bench_report("measures", settings, cells=cells, losses=losses, goals=goals)


if __name__ == "__main__":
    main()

"""Runs every bench: ``python -m bench [--quick] [NAME ...]``. ``page`` and ``scale_page`` write pages of docs/.

With one NAME, further options are those of that bench: ``python -m bench engines --json engines.json``. All benches
together take many hours (``--quick``: minutes). A run of all that was interrupted goes on with the bench where it
ended, as long as the commit is the same; ``--again`` begins anew. One that fails does not keep the others from running.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from bench.measure import commit

BENCHES = {
    "selection": "bench.selection.run",
    "accounting": "bench.accounting",
    "ledger": "bench.ledger.run",
    "canonical": "bench.canonical",
    "joint": "bench.joint",
    "limited_domain": "bench.limited_domain",
    "engines": "bench.engines.run",
    "utility": "bench.utility.run",
    "utility_regimes": "bench.utility.regimes.run",
    "utility_rule": "bench.utility.regimes.same_cells",
    "discovery": "bench.discovery.run",
    "end_to_end": "bench.end_to_end.run",
    "counts": "bench.counts",
    "known": "bench.known.run",
    "measures": "bench.measures.run",
    "known_rounds": "bench.known.rounds",
    "known_order": "bench.known.order",
    "opendp_recall": "bench.opendp_recall",
    "service": "bench.service.run",
    "load": "bench.load",
    "timing": "bench.timing",
    "groups": "bench.groups",
    "monitor": "bench.monitor.run",
    "scale": "bench.scale.run",
    "startup": "bench.startup",
}
"""Each module has a ``main()`` that reads its own options."""

PAGES = {"page": "bench.page.write", "scale_page": "bench.scale.page"}
"""They measure nothing, so they run only when named."""

FINISHED = Path("build/bench/finished.json")
"""Which benches a run of all has finished, and at which commit."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the named benches, or all, one after the other: in parallel they would disturb each other."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run the benches.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one or more of {', '.join(BENCHES)}; default: all; {' and '.join(PAGES)} write pages of docs/",
    )
    parser.add_argument("--quick", action="store_true", help="the short form of each: minutes, not hours")
    parser.add_argument("--again", action="store_true", help="all: also those that an interrupted run has finished")
    options, further = parser.parse_known_args(argv)
    if further and len(options.names) != 1:
        parser.error(f"unrecognized arguments: {' '.join(further)}; one bench alone takes its own options")
    known = {**BENCHES, **PAGES}
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no bench called {', '.join(sorted(unknown))}; there is {', '.join(known)}")
    commit()
    if not options.names:
        return _run_all(quick=options.quick, again=options.again)
    for name in options.names:
        _run(name, [*(["--quick"] if options.quick and name not in PAGES else []), *further])
    return 0


def _run_all(*, quick: bool, again: bool) -> int:
    plan = f"{commit()}{' --quick' * quick}"
    finished = {} if again or not FINISHED.exists() else json.loads(FINISHED.read_text(encoding="utf-8"))
    done: dict[str, float] = finished.get("seconds", {}) if finished.get("plan") == plan else {}
    failed = []
    for name in BENCHES:
        if name in done:
            print(f"== {name}: finished before, in {done[name]:,.0f} s (--again measures it once more)")
            continue
        print(f"== {name}", flush=True)
        start = time.monotonic()
        try:
            _run(name, ["--quick"] * quick)
        except Exception:  # noqa: BLE001 - hours of other benches are still to come
            traceback.print_exc()
            failed.append(name)
            continue
        done[name] = time.monotonic() - start
        print(f"== {name}: {done[name]:,.0f} s", flush=True)
        FINISHED.parent.mkdir(parents=True, exist_ok=True)
        FINISHED.write_text(json.dumps({"plan": plan, "seconds": done}, indent=1) + "\n", encoding="utf-8")
    print(f"== {len(done)} of {len(BENCHES)} benches finished in {sum(done.values()):,.0f} s")
    if failed:
        print(f"== failed: {', '.join(failed)}. The same command tries these again.")
    else:
        FINISHED.unlink(missing_ok=True)
    return 1 if failed else 0


def _run(name: str, words: Sequence[str]) -> None:
    before = sys.argv
    sys.argv = [f"bench.{name}", *words]
    try:
        importlib.import_module({**BENCHES, **PAGES}[name]).main()
    finally:
        sys.argv = before


if __name__ == "__main__":
    raise SystemExit(main())

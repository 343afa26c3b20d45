"""Runs every bench: ``python -m bench [--quick] [NAME ...]``. ``page`` and ``scale_page`` write pages of docs/.

With one NAME, further options are those of that bench: ``python -m bench engines --json engines.json``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

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


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the named benches, or all, one after the other: in parallel they would disturb each other."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run the benches.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one or more of {', '.join(BENCHES)}; default: all; {' and '.join(PAGES)} write pages of docs/",
    )
    parser.add_argument("--quick", action="store_true", help="the short form of each bench")
    options, further = parser.parse_known_args(argv)
    if further and len(options.names) != 1:
        parser.error(f"unrecognized arguments: {' '.join(further)}; one bench alone takes its own options")
    known = {**BENCHES, **PAGES}
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no bench called {', '.join(sorted(unknown))}; there is {', '.join(known)}")
    before = sys.argv
    commit()
    try:
        for name in options.names or BENCHES:
            sys.argv = [f"bench.{name}", *(["--quick"] if options.quick and name not in PAGES else []), *further]
            importlib.import_module(known[name]).main()
    finally:
        sys.argv = before
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs every bench: ``python -m bench [--quick] [NAME ...]``. ``page`` and ``scale_page`` write pages of docs/."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence

BENCHES = (
    "selection", "accounting", "canonical", "joint", "limited_domain", "engines", "utility", "known", "opendp_recall",
    "service", "load", "timing", "monitor", "scale",
)  # fmt: skip
"""Modules of ``bench`` with a ``main()`` that reads its own options; one that is not there yet is passed over."""

PAGES = ("page", "scale_page")
"""They measure nothing, so they run only when named."""


def available() -> list[str]:
    """The registered benches that exist."""
    return [name for name in BENCHES if importlib.util.find_spec(f"bench.{name}") is not None]


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
    options = parser.parse_args(argv)
    unknown = set(options.names) - {*available(), *PAGES}
    if unknown:
        parser.error(f"no bench called {', '.join(sorted(unknown))}; there is {', '.join([*available(), *PAGES])}")
    before = sys.argv
    try:
        for name in options.names or available():
            sys.argv = [f"bench.{name}", *(["--quick"] if options.quick and name not in PAGES else [])]
            importlib.import_module(f"bench.{name}").main()
    finally:
        sys.argv = before
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

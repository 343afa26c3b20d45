"""Publish the top list of a table every night: JSON for programs and a card for people.

    python examples/nightly.py orders.csv --ledger ledger.db --dataset orders --item product --user customer \
        --folder published

The data set must have a budget (``podium budget create``). The night is the data version, so a second run in the same
night costs nothing and writes the same files. When the budget is spent, the script exits with 3 and leaves the last
list in place.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from pathlib import Path

import podium
from podium.errors import BudgetExceeded
from podium.ledger import open_ledger

SPENT = 3


def publish(options: argparse.Namespace) -> str:
    """Ask for tonight's list and write it; return a sentence that says what was published."""
    with open_ledger(options.ledger, create=False) as ledger:
        if ledger.status(options.dataset).data_version != options.night:
            ledger.set_data_version(options.dataset, options.night)
        with podium.Curator(options.source, dataset=options.dataset, user=options.user, ledger=ledger) as curator:
            release = curator.top(options.item, k=options.k)
            left = curator.status
    options.folder.mkdir(parents=True, exist_ok=True)
    replace(options.folder / f"{options.night}.json", release.to_json())
    replace(options.folder / f"{options.night}.card.md", release.card().to_markdown())
    replace(options.folder / "latest.json", release.to_json())
    rest = f"enough for {left.items_left} items or {left.questions_left} questions"
    return f"published {len(release.items)} items for {options.night}; {rest}"


def replace(path: Path, text: str) -> None:
    """Replace a file atomically: readers see the old or the new one, never a part."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def main() -> int:
    """Parse the command line and publish."""
    parser = argparse.ArgumentParser(description="Publish the top list of a table.")
    parser.add_argument("source", help="a file or a database URL")
    parser.add_argument("--ledger", required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--item", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument(
        "--night", default=dt.datetime.now(dt.UTC).date().isoformat(), help="the data version; default: today"
    )
    parser.add_argument("--folder", type=Path, default=Path("published"))
    try:
        print(publish(parser.parse_args()))
    except BudgetExceeded as spent:
        print(f"nothing was published: {spent}", file=sys.stderr)
        return SPENT
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Put MathJax, which sets the formulas of the documentation, beside its pages, so that no reader fetches it elsewhere.

    python -m tools.formulas docs/assets/mathjax

takes it from a package that the group ``docs`` installs. It has one file for TeX that draws its own letters as SVG,
so no font is needed. MathJax has the licence of podium, Apache-2.0, of which a copy goes with it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib import metadata
from pathlib import Path

__all__ = ["bring_mathjax"]

PACKAGE = "sphinx-mathjax-offline"
LICENCE = Path(__file__).resolve().parents[1] / "LICENSE"


def bring_mathjax(folder: Path) -> Path:
    """Copy MathJax and its licence into a folder; PackageNotFoundError if it is not installed."""
    place = metadata.distribution(PACKAGE).locate_file(f"{PACKAGE}/static/mathjax/tex-svg.js")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(LICENCE, folder / "LICENSE")
    return Path(shutil.copyfile(str(place), folder / "tex-svg.js"))


def main() -> int:
    """Copy it."""
    parser = argparse.ArgumentParser(prog="python -m tools.formulas", description="Put MathJax beside the pages.")
    parser.add_argument("folder", type=Path, help="where it goes")
    try:
        print(bring_mathjax(parser.parse_args().folder))
    except metadata.PackageNotFoundError:
        sys.exit(f"{PACKAGE} is not installed. Run: python -m pip install --constraint constraints.txt --group docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``python -m podium.present FOLDER``: every kind of picture, from made-up data, as PNG and SVG, light and dark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from podium.errors import PodiumError
from podium.present.gallery import draw_gallery

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the gallery and print the name of each file; exit code 2 if it cannot be drawn."""
    parser = argparse.ArgumentParser(
        prog="python -m podium.present", description="Draw every kind of picture from made-up data."
    )
    parser.add_argument("folder", help="where to write them; made if it is not there")
    options = parser.parse_args(arguments)
    try:
        for path in draw_gallery(options.folder):
            print(path)
    except PodiumError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

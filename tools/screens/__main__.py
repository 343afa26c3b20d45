"""Take a picture of every page, wide and narrow, light and dark."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from tools.screens.screens import IN_DOCS, SCREENS
from tools.screens.shop import LOOKS, open_screen, shop, visitors


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.screens", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--docs", action="store_true", help="those that the documentation shows, as they first appear")
    parser.add_argument("--only", action="append", choices=[one.name for one in SCREENS], help="may be repeated")
    options = parser.parse_args()
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        sys.exit("Chromium is not installed: tools/system-packages installs it.")
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in SCREENS if options.only is None or one.name in options.only]
    wanted = list(IN_DOCS) if options.docs else wanted
    looks = [look for look in LOOKS if not options.docs or look.startswith("1280")]
    with (
        tempfile.TemporaryDirectory() as folder,
        shop(Path(folder), bakery=options.docs) as service,
        sync_playwright() as playwright,
    ):
        # Without its own sandbox, which does not run as root; the pages are ours.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for look in looks:
            with visitors(browser, service, look) as pages:
                for screen in wanted:
                    page = open_screen(pages, service, screen)
                    name = f"{screen.name}-{look.removeprefix('1280-')}" if options.docs else f"{screen.name}-{look}"
                    page.screenshot(path=str(options.folder / f"{name}.png"), full_page=not options.docs)
        browser.close()
    print(f"{len(wanted) * len(looks)} pictures in {options.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

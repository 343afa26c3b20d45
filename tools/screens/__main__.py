"""Take a picture of every page, wide and narrow, light and dark."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from tools.screens.screens import SCREENS
from tools.screens.shop import LOOKS, open_screen, shop, visitors


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.screens", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", action="append", choices=[one.name for one in SCREENS], help="may be repeated")
    options = parser.parse_args()
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        sys.exit("Chromium is not installed: tools/system-packages installs it.")
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in SCREENS if options.only is None or one.name in options.only]
    with tempfile.TemporaryDirectory() as folder, shop(Path(folder)) as service, sync_playwright() as playwright:
        # Without its own sandbox, which does not run as root; the pages are ours.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for look in LOOKS:
            with visitors(browser, service, look) as pages:
                for screen in wanted:
                    page = open_screen(pages, service, screen)
                    page.screenshot(path=str(options.folder / f"{screen.name}-{look}.png"), full_page=True)
        browser.close()
    print(f"{len(wanted) * len(LOOKS)} pictures in {options.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

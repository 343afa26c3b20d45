"""Every page, wide and narrow, light and dark: nothing scrolls sideways, and axe finds nothing."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tools.screens.screens import NO_PAGES, SCREENS, page_routes
from tools.screens.shop import Shop, open_screen, shop, visitors

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# Each width and each colour once: no rule depends on both together. Of the second look, only what looks decide.
LOOKS: dict[str, dict[str, Any]] = {
    "1280-light": {"type": "tag", "values": list(TAGS)},
    "390-dark": {"type": "rule", "values": ["color-contrast", "target-size", "scrollable-region-focusable"]},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop(tmp_path_factory.mktemp("shop")) as started:
        yield started


def test_every_page_is_listed() -> None:
    listed = {screen.route for screen in SCREENS}
    assert listed.isdisjoint(NO_PAGES)
    assert listed | set(NO_PAGES) == page_routes()


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_fits_and_axe_finds_nothing(service: Shop, browser: Browser, look: str) -> None:
    found: dict[str, Any] = {}
    with visitors(browser, service, look) as pages:
        for screen in SCREENS:
            page = open_screen(pages, service, screen)
            # What is folded, or behind a tab, is a part of the page.
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
            found[screen.name] = [*_sideways(page), *_squeezed(page), *_axe(page, LOOKS[look])]
            for place in (2, 3, 4) if screen.name == "answer" else ():
                page.locator(f"label[for=tab-{place}]").click()
                found[screen.name] += [*_sideways(page), *_axe(page, LOOKS[look])]
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_axe_finds_what_is_wrong(browser: Browser) -> None:
    """The negative control, on a page with what most often goes wrong."""
    page = browser.new_page()
    page.set_content("<p style='color:#aaa;width:5000px'>pale</p><input><img src='x.png'>")
    assert {"color-contrast", "label", "image-alt"} <= {
        one.partition(":")[0] for one in _axe(page, LOOKS["1280-light"])
    }
    assert _sideways(page) != []
    page.set_content("<table style='width:100%'><tr><td style='display:block;width:1%'>one word in each line</table>")
    assert _squeezed(page) == ["squeezed: one word in each line"]
    page.close()


def _axe(page: Page, chosen: dict[str, Any]) -> list[str]:
    """The rules that the page breaks, with the elements."""
    if not page.evaluate("'axe' in window"):
        # Through the debugger: the policy of our pages forbids scripts from elsewhere.
        page.evaluate(_axe_source())
    broken: list[str] = page.evaluate(
        """async (chosen) => (await axe.run({runOnly: chosen})).violations
            .map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ")).join(", "))""",
        chosen,
    )
    return broken


def _axe_source() -> str:
    place = importlib.util.find_spec("axe_playwright_python")
    assert place is not None, "these tests need axe: pip install --group test"
    assert place.origin is not None
    return (Path(place.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def _squeezed(page: Page) -> list[str]:
    """Cells whose words stand one below the other, although there is room beside them."""
    narrow: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("td, th, dd, dt, p, li, label")].filter((one) => {
        const box = one.getBoundingClientRect(), em = parseFloat(getComputedStyle(one).fontSize);
        return box.height > 4 * em && box.width < 5 * em && one.innerText.trim().split(/\\s+/).length > 3;
        }).map((one) => "squeezed: " + one.innerText.trim().replace(/\\s+/g, " "))"""
    )
    return narrow


def _sideways(page: Page) -> list[str]:
    """What is wider than the screen, or than its own box."""
    wide: list[str] = page.evaluate(
        """() => {
        const wide = document.documentElement.scrollWidth > window.innerWidth ? ["the page"] : [];
        for (const one of document.querySelectorAll("body *"))
          if (["auto", "scroll"].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1)
            wide.push(one.tagName + "." + one.className);
        return wide.map((one) => "sideways: " + one); }"""
    )
    return wide

"""The pages in a browser: formulas are set by a program that lies beside them, and none is wrong."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright
from tools.formulas import PACKAGE, bring_mathjax
from tools.pages import blocks_of

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
IN_TEX = sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / "proofs").glob("*.md"))
"""The pages whose formulas are written in TeX. The others write the few that they have as text."""

FORMULA = re.compile(r"\$\$(?P<block>[^$]+)\$\$|\$(?P<inline>[^$\n]+)\$")
COUNT = "document.querySelectorAll('mjx-container').length"
WRONG = "[data-mml-node='merror'], mjx-merror"


def formulas(page: str) -> list[str]:
    return [found["block"] or found["inline"] for found in FORMULA.finditer(re.sub(r"`[^`\n]+`", "", page))]


@contextmanager
def opened(address: Path, width: int = 1280) -> Iterator[tuple[Page, list[str]]]:
    """A page in a browser, and all that it asks for."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found is not None, "these tests need Chromium: tools/system-packages installs it"
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address.as_uri())
        yield page, asked
        browser.close()


@pytest.mark.parametrize("name", IN_TEX)
def test_a_page_in_tex_has_no_other_formulas(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert len(formulas(text)) > 20
    prose = FORMULA.sub("", re.sub(r"`[^`\n]+`", "", text))
    assert "$" not in prose
    assert re.findall(r"^ {4}\S.*|\S*[\^\\]\S*|\S* [<>]=? \S*|\b\w_\w\b", prose, flags=re.MULTILINE) == []


def test_only_pages_in_tex_have_formulas_in_tex(site: Path) -> None:
    """A price in dollars is not one; and what is one is found."""
    counts = {
        page.relative_to(DOCS).as_posix(): (site / page.relative_to(DOCS).with_suffix("") / "index.html")
        .read_text(encoding="utf-8")
        .count('class="arithmatex"')
        for page in DOCS.rglob("*.md")
        if page.name != "index.md"
    }
    expected = {name: len(formulas((DOCS / name).read_text(encoding="utf-8"))) for name in IN_TEX}
    assert {name: count for name, count in counts.items() if count} == expected


def test_a_browser_sets_all_formulas_and_asks_no_other_host(site: Path) -> None:
    name = "proofs/truncated-noise.md"
    _bring(site)
    count = len(formulas((DOCS / name).read_text(encoding="utf-8")))
    assert count > 100
    with opened(site / Path(name).with_suffix("") / "index.html", width=390) as (page, asked):
        page.wait_for_function(f"{COUNT} >= {count}", timeout=60_000)
        assert (page.evaluate(COUNT), page.locator(WRONG).count()) == (count, 0)
        assert page.locator("mjx-assistive-mml math").count() == count  # For screen readers.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert [url for url in asked if not url.startswith(site.as_uri())] == []
        assert any(url.endswith("/mathjax/tex-svg.js") for url in asked)


def test_no_formula_of_any_page_is_wrong(site: Path) -> None:
    """In one page, each formula once: what MathJax cannot read it marks."""
    _bring(site)
    written = {formula for name in IN_TEX for formula in formulas((DOCS / name).read_text(encoding="utf-8"))}
    assert len(written) > 2000
    with opened(site / "proofs" / "rising" / "index.html") as (page, _asked):
        page.wait_for_function(f"{COUNT} > 0", timeout=60_000)
        find = 'all => all.filter(one => MathJax.tex2mml(one).includes("<merror"))'
        assert page.evaluate(find, sorted(written)) == []
        assert page.evaluate(find, [r"\Fi(x"]) == [r"\Fi(x"]


def _bring(site: Path) -> None:
    try:
        bring_mathjax(site / "assets" / "mathjax")
    except metadata.PackageNotFoundError:
        pytest.skip(f"{PACKAGE} is not installed: make test installs it")


def test_without_mathjax_formulas_stay_as_they_were_written(site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("mathjax"))
    with opened(copy / "proofs" / "truncated-noise" / "index.html") as (page, _asked):
        assert page.get_by_text(r"m(w) = P(N < w - A \mid |N| \le A)").is_visible()


def test_pages_without_formulas_do_not_load_it(site: Path) -> None:
    with opened(site / "index.html") as (_page, asked):
        assert any(url.endswith("/assets/formulas.js") for url in asked)
        assert not any("mathjax" in url for url in asked)
        assert [url for url in asked if not url.startswith(site.as_uri())] == []


def test_what_is_copied_from_a_session_is_what_was_typed(site: Path) -> None:
    with opened(site / "index.html") as (page, _asked):
        code = page.locator(".language-console code").first
        assert "rank  product" in code.inner_text()
        code.evaluate("code => code.setAttribute('data-md-copying', '')")  # As the button does.
        lines = [line for line in code.inner_text().splitlines() if line]
    commands = [block for block in blocks_of((DOCS / "index.md").read_text("utf-8")) if block.language == "console"]
    typed = [line[2:] for line in commands[0].text.splitlines() if line.startswith("$ ")]
    assert (lines, len(typed)) == (typed, 3)

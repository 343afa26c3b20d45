"""Two hundred lists on one page, in a real browser: the box finds groups, by keyboard too, and is not needed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import duckdb
import pytest
from playwright.sync_api import Page, expect, sync_playwright
from tests.support.serving import Running, new_token, running

GROUPS = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    rows = f"""SELECT g * 1000 + u AS user_id, printf('G%03d', g) AS country, 'a' || a AS article
        FROM range({GROUPS}) AS t(g), range(2) AS s(a), range(300) AS r(u) WHERE u < 300 - 150 * a"""
    duckdb.sql(f"COPY ({rows}) TO '{folder / 'views.parquet'}' (FORMAT parquet)")
    budget = "epsilon = 40\ndelta = 1e-6\nitems = 200\nquestions = 20\n"
    with running(folder, workers=1, budget=budget) as started:
        yield started


@pytest.fixture(scope="module", params=[True, False], ids=["with scripts", "without"])
def page(server: Running, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of an answer, asked with the form."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found is not None, "these tests need Chromium: tools/system-packages installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        opened = browser.new_context(java_script_enabled=request.param).new_page()
        opened.goto(f"{server.url}/")
        opened.get_by_label("Token").fill(new_token(server, f"ana-{request.param}"))
        opened.get_by_role("button", name="Sign in").click()
        opened.goto(f"{server.url}/datasets/views/ask")
        opened.get_by_label("Rank the values of").select_option("article")
        opened.get_by_label("One list for each value of").select_option("country")
        opened.get_by_label("How many (k)").fill("2")
        opened.locator("summary", has_text="More").click()
        opened.get_by_label("Total epsilon of the answer").fill("8")
        opened.get_by_role("button", name="Show what it would cost").first.click()
        expect(opened.get_by_text("Top 2 of article for each country")).to_be_visible()
        opened.get_by_role("button", name="Ask and spend").click()
        expect(opened.get_by_role("heading", level=1)).to_have_text("top 2 of article for each country", timeout=60_000)
        yield opened
        browser.close()


def test_every_group_is_found(page: Page, request: pytest.FixtureRequest) -> None:
    heads = page.locator("#lists th.group")
    expect(heads).to_have_count(GROUPS)
    box = page.get_by_label("Show only groups with")
    if "without" in request.node.name:
        expect(box).to_be_hidden()
        expect(heads.last).to_be_visible()
        return
    expect(box).to_be_visible()
    box.focus()
    page.keyboard.type("g19")
    expect(page.locator("#lists th.group:visible")).to_have_count(10)
    expect(page.get_by_role("status")).to_have_text(f"10 of {GROUPS} groups")
    address = page.url
    page.keyboard.press("Enter")
    assert page.url == address
    # What is hidden is hidden from those who listen, too; and after the box comes the table.
    expect(page.get_by_role("rowheader", name="G001", exact=True)).to_have_count(0)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="JSON")).to_be_focused()
    box.fill("")
    expect(page.locator("#lists th.group:visible")).to_have_count(GROUPS)

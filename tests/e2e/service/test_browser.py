"""The pages in a real browser: with scripts, without, by keyboard alone; one command and three clicks to an answer."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.serving import Running, new_token, running, views

# How long a page takes is not what these tests are about; a machine at work on other tests takes its time.
expect.set_options(timeout=60_000)

SMALL = {"Total epsilon": "1", "Total delta": "1e-6", "Items, over all questions": "6", "Questions": "3"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "more").mkdir()
    views(folder / "more" / "clicks.parquet")
    with running(folder, workers=1, extra='registration = "more"') as started:
        yield started


@contextmanager
def tab(browser: Browser, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**options)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Content Security" in message.text else None)
    yield page
    context.close()
    assert errors == []


def sign_in(page: Page, server: Running, token: str) -> None:
    page.goto(f"{server.url}/")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data sets")


def ask(page: Page, server: Running, dataset: str, k: int, *, counts: bool = False) -> None:
    page.goto(f"{server.url}/datasets/{dataset}/ask")
    page.get_by_label("Rank the values of").select_option("article")
    page.get_by_label("How many (k)").fill(str(k))
    if counts:
        page.get_by_label("Also estimate the value of each item").check()
    page.get_by_role("button", name="Show what it would cost").first.click()
    expect(page.get_by_text("it cannot be undone")).to_be_visible()
    page.get_by_role("button", name="Ask and spend").click()


def test_register_ask_confirm_see_download_run_out_and_sign_out(
    server: Running, browser: Browser, tmp_path: Path
) -> None:
    with tab(browser) as page:
        sign_in(page, server, new_token(server, "olga", "owner"))
        page.get_by_role("link", name="Owner").click()
        page.locator("summary", has_text="Register a file").click()
        page.get_by_label("Name of the data set").fill("clicks")
        page.get_by_label("User column").fill("user_id")
        for label, text in SMALL.items():
            page.get_by_label(label, exact=True).fill(text)
        page.get_by_role("button", name="Register").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("clicks")
        page.goto(f"{server.url}/owner")
        page.locator("summary", has_text="Issue a token").click()
        page.get_by_label("Name", exact=True).fill("ana")
        page.get_by_label("clicks", exact=True).check()
        page.get_by_label("views", exact=True).check()
        page.get_by_role("button", name="Issue a token").click()
        secret = page.locator("#secret").inner_text()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")

        sign_in(page, server, secret)
        expect(page.get_by_text("Protects one user_id, with all their rows")).to_have_count(2)
        ask(page, server, "clicks", 2, counts=True)
        expect(page.get_by_role("heading", level=1)).to_have_text("top 2 of article, with counts")
        expect(page.get_by_role("cell", name="a0").or_(page.get_by_role("rowheader", name="a0"))).to_be_visible()
        expect(page.get_by_text("podium.connect(")).to_be_hidden()
        page.get_by_text("Code", exact=True).click()
        expect(page.get_by_text("podium.connect(")).to_be_visible()
        page.get_by_role("button", name="Copy").first.click()
        expect(
            page.get_by_role("button", name="Copied").or_(page.get_by_role("button", name="Selected"))
        ).to_be_visible()
        with page.expect_download() as started:
            page.get_by_role("link", name="CSV").click()
        saved = tmp_path / "release.csv"
        started.value.save_as(saved)
        with saved.open(encoding="utf-8") as file:
            assert next(csv.DictReader(file))["article"] == "a0"
        page.get_by_text("Receipt", exact=True).click()
        page.get_by_role("link", name="verify").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The chain is sound")

        ask(page, server, "clicks", 6)
        expect(page.get_by_role("heading", level=1)).to_have_text("No answer")
        expect(page.get_by_role("alert")).to_contain_text("This answer may cost ")
        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{server.url}/datasets/clicks")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_everything_works_without_scripts(server: Running, browser: Browser) -> None:
    with tab(browser, java_script_enabled=False) as page:
        sign_in(page, server, new_token(server, "noscript"))
        ask(page, server, "views", 3)
        expect(page.get_by_role("heading", level=1)).to_have_text("top 3 of article")
        page.goto(f"{server.url}/datasets/views/ask")
        page.get_by_label("Question").fill(
            "SELECT country, COUNT(DISTINCT user_id) AS n FROM views GROUP BY country ORDER BY n DESC LIMIT 1"
        )
        page.get_by_role("button", name="Show what it would cost").last.click()
        page.get_by_role("button", name="Ask and spend").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("top 1 of country, with counts")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_mistake_keeps_what_was_written(server: Running, browser: Browser) -> None:
    with tab(browser) as page:
        sign_in(page, server, new_token(server, "careless"))
        page.goto(f"{server.url}/datasets/views/ask")
        page.get_by_label("Only rows where").fill("country = DE")
        page.get_by_role("button", name="Show what it would cost").first.click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Only rows where")).to_have_value("country = DE")


def test_the_form_says_what_a_question_would_cost(server: Running, browser: Browser) -> None:
    with tab(browser) as page:
        sign_in(page, server, new_token(server, "typist"))
        page.goto(f"{server.url}/datasets/views/ask")
        told = page.locator(".live").first
        fits, cannot = re.compile(r"uses \d+ % · \d+ % left"), re.compile(r"needs \d+ % · only \d+ % left")
        expect(told).to_contain_text(fits)
        before = told.inner_text()
        page.get_by_label("How many (k)").fill("40")
        expect(told).not_to_have_text(before)
        expect(told).to_contain_text(fits)
        expect(told).to_contain_text("You could still afford k = ")
        page.get_by_label("How many (k)").fill("4000")
        expect(told).to_contain_text(cannot)
        page.get_by_label("How many (k)").fill("1")
        where = page.get_by_label("Only rows where")
        where.focus()
        page.get_by_role("button", name="country text").click()
        page.keyboard.type(" = DE")
        expect(where).to_have_value("country = DE")
        expect(told).to_contain_text("DE")
        page.keyboard.press("Backspace")
        page.keyboard.press("Backspace")
        page.keyboard.type("'DE'")
        expect(told).to_contain_text(fits)


def test_the_keyboard_is_enough(server: Running, browser: Browser) -> None:
    with tab(browser) as page:
        page.goto(f"{server.url}/")
        # The field for the token has the focus already, without a click, once the page is drawn.
        expect(page.get_by_label("Token")).to_be_focused()
        page.keyboard.type(new_token(server, "keys"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Data sets")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        # A link within the page is followed by and by, like any other.
        expect(page.locator("#main")).to_be_focused()
        _tab_to(page, "Ask")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Ask")
        _tab_to(page, "Show what it would cost")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Before you ask")
        _tab_to(page, "Ask and spend")
        # The page may be read before its style sheet is.
        expect(page.locator(":focus")).to_have_css("outline-style", "solid")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("top 10 of article")
        page.get_by_label("Receipt", exact=True).first.focus()
        expect(page.get_by_text("of the budget", exact=False).first).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("theorem", exact=True)).to_be_visible()
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("theorem", exact=True)).to_be_hidden()
        _tab_to(page, "Sign out")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def _tab_to(page: Page, text: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
    raise AssertionError(f"the keyboard does not reach {text!r}")

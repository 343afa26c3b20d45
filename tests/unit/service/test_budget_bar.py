"""Budget bars: what they show is never less spent, nor more left, than there is."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.serving import BUDGET, World, views, world
from tests.unit.service.test_pages import Browser, signed_in

from podium.service.pages.budget_bar import BudgetBar, bar_of

SHARES = st.fractions(0, 1)


@pytest.mark.parametrize(
    ("used", "asked", "text"),
    [
        ("0", None, "0 % used · 100 % left"),
        ("1/1000", None, "less than 1 % used · over 99 % left"),
        ("401/1000", None, "41 % used · 59 % left"),
        ("999/1000", None, "100 % used · less than 1 % left"),
        ("1", None, "100 % used · 0 % left"),
        ("0", "1/50", "uses 2 % · 98 % left"),
        ("2/5", "1/50", "uses 2 % · 58 % left"),
        ("9/10", "1/5", "needs 20 % · only 10 % left"),
        ("1", "1/1000", "needs less than 1 % · only 0 % left"),
    ],
)
def test_bars_in_words(used: str, asked: str | None, text: str) -> None:
    part = None if asked is None else Fraction(asked)
    bar = BudgetBar(Fraction(used), part, fits=Fraction(used) + (part or 0) <= 1)
    assert bar.text == text
    assert text in bar.label


@given(used=SHARES, asked=st.none() | st.fractions(0, 3))
def test_bars_are_on_the_safe_side_and_stay_inside(used: Fraction, asked: Fraction | None) -> None:
    bar = BudgetBar(used, asked, fits=used + (asked or 0) <= 1)
    numbers = [int(number) for number in re.findall(r"(\d+) %", bar.text)]
    spent = used if asked is None else asked
    if "less than" not in bar.text and "over" not in bar.text:
        assert Fraction(numbers[0], 100) >= spent
        assert Fraction(numbers[1], 100) <= max(Fraction(0), 1 - used - (asked or 0) * bar.fits)
    widths = [float(width) for width in (bar.filled, bar.hatched, bar.start)]
    assert all(0 <= width <= 100 for width in widths)
    assert widths[1] + widths[2] <= 100.001
    # What is not nothing can be seen.
    assert (widths[0] > 0) == (used > 0)


def test_every_page_about_a_budget_has_its_bar(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        browser = signed_in(here, "owner")
        before = _bars(browser, "/datasets", "/datasets/views", "/datasets/views/ask", "/datasets/views/rank",
                       "/datasets/views/ledger", "/owner", "/owner/datasets/views")  # fmt: skip
        assert {text for texts in before.values() for text in texts} == {"Of the budget: 0 % used · 100 % left"}
        assert all(len(texts) == 1 for texts in before.values())
        (planned,) = _bars(browser, "/datasets/views/preview?item=article&k=2").values()
        assert planned == ["Of the budget: 0 % used before; this question uses 5 % · 95 % left"]
        asked = here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": 2}).json()
        (answered,) = _bars(browser, f"/datasets/views/releases/{asked['entry']}").values()
        assert answered == ["Of the budget: 5 % used · 95 % left"]


def test_budgets_with_a_gaussian_filter_have_bars_and_prices(tmp_path: Path) -> None:
    with world(tmp_path, budget={**BUDGET, "delta": "1e-4", "filter": "gaussian"}) as here:
        browser = signed_in(here, "analyst")
        assert here.service.datasets.status("views").totals.books.filter == "gaussian"
        (planned,) = _bars(browser, "/datasets/views/preview?item=article&k=8").values()
        live = browser.get("/datasets/views/live?item=article&k=8").text
        used = re.search(r"uses (\d+) %", planned[0])
        assert used is not None
        assert used[0] in live
        afford = re.search(r"afford k = (\d+)", live)
        assert afford is not None
        most = browser.get(f"/datasets/views/live?item=article&k={afford[1]}").text
        assert "uses" in most
        assert "needs" in browser.get(f"/datasets/views/live?item=article&k={int(afford[1]) + 1}").text
        asked = here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": 8}).json()
        page = browser.get(f"/datasets/views/releases/{asked['entry']}").text
        price = re.search(r"<dt>price</dt><dd>(\d+) % of the budget", page)
        assert price is not None
        assert 0 < int(price[1]) <= int(used[1])
        (left,) = _bars(browser, "/datasets/views").values()
        assert left == [f"Of the budget: {price[1]} % used · {100 - int(price[1])} % left"]
        assert browser.get("/datasets/views/ledger").status_code == 200


def test_several_tables_share_one_bar(tmp_path: Path) -> None:
    views(tmp_path / "views.parquet", users=300)
    views(tmp_path / "more.parquet", users=200)
    tables = {name: {"source": f"{name}.parquet"} for name in ("views", "more")}
    datasets = {"shop": {"user": "user_id", "tables": tables, "budget": BUDGET}}
    with world(tmp_path, datasets=datasets) as here:
        browser = signed_in(here, "owner")
        question = "item=article&k=2&table=more"
        shown = _bars(browser, "/datasets", "/datasets/shop", "/datasets/shop/ask?table=more", "/owner/datasets/shop",
                      "/datasets/shop/rank?table=more", "/datasets/shop/ledger")  # fmt: skip
        assert {text for texts in shown.values() for text in texts} == {"Of the budget: 0 % used · 100 % left"}
        (live, preview) = _bars(
            browser, f"/datasets/shop/live?{question}", f"/datasets/shop/preview?{question}"
        ).values()
        assert live == preview == ["Of the budget: 0 % used before; this question uses 5 % · 95 % left"]


def _bars(browser: Browser, *paths: str) -> dict[str, list[str]]:
    pages = {path: browser.get(path).text for path in paths}
    return {path: re.findall(r'<svg role="img" aria-label="([^"]+)"', page) for path, page in pages.items()}


def test_an_analyst_with_a_cap_sees_that_cap_and_nothing_of_others(tmp_path: Path) -> None:
    with world(tmp_path, budget={**BUDGET, "epsilon_per_analyst": 1}) as here:
        _ask(here, "ana", 2)
        status = here.service.datasets.status("views")
        tokens = {one.name: one for one in here.service.tokens.all()}
        _ask(here, "bob", 5)
        after = here.service.datasets.status("views")
        tokens = {one.name: one for one in here.service.tokens.all()}
        assert bar_of(status, tokens["ana"]) == bar_of(after, tokens["ana"])
        assert bar_of(after, tokens["ana"]).whose == "your cap"
        assert 0 < bar_of(after, tokens["ana"]).used < bar_of(after, tokens["bob"]).used


def _ask(here: World, who: str, k: int) -> None:
    assert here.call("POST", "/v1/datasets/views/releases", {"item": "article", "k": k}, who=who).status_code == 200

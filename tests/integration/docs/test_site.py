"""The site builds without a complaint, and its pages, links and pictures hang together."""

from __future__ import annotations

import json
import re
import tomllib
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


def listed(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else []
    return [page for part in parts for page in listed(part)]


def test_every_page_is_in_the_navigation_once() -> None:
    nav = listed(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    assert sorted(nav) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_the_tabs_are_few() -> None:
    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    assert [*chain(*nav)] == ["Start", "Guides", "Service", "Reference", "Trust", "Project"]


def test_the_page_about_installing_has_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = (DOCS / "install.md").read_text(encoding="utf-8").partition("## Extras")[2].partition("## ")[0]
    assert re.findall(r"^\| ([\w-]+) \| [^-]", page, flags=re.MULTILINE) == ["extra", *sorted(extras)]


@pytest.mark.parametrize(
    ("word", "page"),
    [("install", "install/"), ("encoding", "first-minutes/"), ("jupyter", "first-minutes/"), ("container", "install/")],
)
def test_the_search_knows_what_people_look_for(site: Path, word: str, page: str) -> None:
    entries = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    found = {entry["location"].partition("#")[0] for entry in entries if word in json.dumps(entry).casefold()}
    assert page in found


def test_every_page_has_what_helps_reading(site: Path) -> None:
    """A logo of our own, tabs, a way to the next page, and code that is copied with a click."""
    page = (site / "install" / "index.html").read_text(encoding="utf-8")
    for sign in ('src="../assets/logo.svg"', 'class="md-tabs"', "md-footer__link--next", '"content.code.copy"'):
        assert sign in page, sign


def test_every_page_is_built(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        built = site / ("index.html" if name.name == "index" else f"{name}/index.html")
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition("`")[0]
        assert "<h1" in built.read_text(encoding="utf-8"), name
        assert title, name


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def test_links_to_headings_find_them(site: Path) -> None:
    """The builder checks pages; this checks the part after #."""
    missing = []
    for page in DOCS.rglob("*.md"):
        for target, anchor in re.findall(r"\]\(([^):#]*\.md)#([\w-]+)\)", page.read_text(encoding="utf-8")):
            name = (page.parent / target).resolve().relative_to(DOCS).with_suffix("").as_posix()
            if f'id="{anchor}"' not in (site / name / "index.html").read_text(encoding="utf-8"):
                missing.append((page.name, target, anchor))
    assert missing == []


class Loaded(HTMLParser):
    """What a browser fetches by itself to show a page: everything but what the reader clicks on."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster") or (name.endswith("href") and tag not in ("a", "base")):
                self.addresses.append(value or "")
            elif name == "class" and {"mermaid", "glightbox"} & set((value or "").split()):
                self.addresses.append(f"https://theme/{value}")  # The theme would fetch a program for these.


def foreign(text: str, *, is_page: bool) -> list[str]:
    """The addresses on other hosts from which a page or a style sheet loads something."""
    addresses = Loaded(text).addresses if is_page else []
    addresses += re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""", text)
    return [address for address in addresses if re.match(r"(?:https?:)?//", address)]


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    pages, styles = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert len(pages) > 50
    assert len(styles) > 1
    found = {path.name: foreign(path.read_text(encoding="utf-8"), is_page=path in pages) for path in pages + styles}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


@pytest.mark.parametrize(
    "line",
    [
        '<link rel="preconnect" href="https://fonts.gstatic.com" crossorigin>',
        '<link rel="stylesheet" href="//fonts.googleapis.com/css?family=Inter">',
        '<script src="http://unpkg.com/mathjax@3/es5/tex-svg.js"></script>',
        '<svg><image xlink:href="https://example.org/a.png"/></svg>',
        "<style>@import 'https://example.org/a.css';</style>",
        '<p style="background: url(//example.org/a.png)">a</p>',
        '<pre class="mermaid">graph LR</pre>',
    ],
)
def test_what_is_loaded_from_another_host_is_found(line: str) -> None:
    assert len(foreign(f"<html><body>{line}<a href='https://example.org/'>a link</a></body></html>", is_page=True)) == 1

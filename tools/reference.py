"""The reference of the library, made from the code: ``python tools/reference.py`` writes docs/reference/*.md.

What a name does is its docstring, how it is called is its signature: this only puts them on a page.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from podium.mechanisms.catalogue import catalogue
from podium.mechanisms.gaussian.in_rounds import MechanismInRounds
from podium.mechanisms.noisy_histogram import NoisyHistogram
from podium.mechanisms.one_item import OneItem
from podium.mechanisms.sparse_vector.threshold_budget import AboveThreshold
from podium.mechanisms.weights import SharesOneVote
from podium.privacy.documents import Document, StoredDocument
from podium.release.outcome import OneList

__all__ = ["FOLDER", "PAGES", "library_page", "mechanisms_page"]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
_WIDTH = 100
_MODULES = {
    "podium": "What most programs need: ask once with `top` or `sql`, or keep a budget with `Curator`.",
    "podium.mechanisms": "For counts that you have already. [The table](mechanisms.md) says which to take.",
    "podium.ledger": "Budgets that outlive the process.",
    "podium.estimates": "Counts of selected items, from fresh measurements and from gaps.",
    "podium.present.card.release_card": "The card to publish with a release.",
    "podium.errors": "Everything that podium raises on purpose.",
}
_SECTION = re.compile(r"^(?P<name>[A-Z][a-z]+)\n(?P<text>(?:[ ]{4}.*\n?|\n)+)", flags=re.MULTILINE)
_HIDDEN = ("Shape",)


def library_page() -> str:
    """docs/reference/python.md."""
    head = (
        "# The library\n\nThis page is made by `python tools/reference.py`, from the code itself. Numbers may be int, "
        "Fraction, Decimal, str or\nfloat (`Number`); a float means the decimal that it prints.\n"
    )
    return "\n".join([head, *(part for name, about in _MODULES.items() for part in _module(name, about))])


def mechanisms_page() -> str:
    """docs/reference/mechanisms.md."""
    rows = "\n".join(
        f"| [{one.name}](python.md#{one.name.lower()}) | {one.domain} | {one.result} | {one.values} | {one.use} |"
        for one in catalogue()
    )
    details = "\n".join(
        f"## {one.name}\n\n{_markdown(one.what)}\n\n**Guarantee.** {_markdown(one.guarantee)}\n\n"
        f"**Source.** {_markdown(one.source)}\n"
        for one in catalogue()
    )
    return (
        "# The mechanisms\n\nThis page is made by `python tools/reference.py`; `podium mechanisms` prints the same "
        "table. `podium top` picks one by itself.\n\n"
        "| mechanism | domain | result | values | use it when |\n|---|---|---|---|---|\n"
        f"{rows}\n\n{details}"
    )


def _module(name: str, about: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"## {name}\n\n{about}\n"
    if name == "podium.errors":
        _, tree, _ = (module.__doc__ or "").split("\n\n", 2)
        yield f"```text\n{textwrap.dedent(tree)}\n```\n"
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isfunction(value):
            yield from _entry(public, value)


def _entry(name: str, value: object) -> Iterator[str]:
    yield f"### {name}\n"
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        yield f"```python\n{_signature(name, value)}\n```\n"
    yield f"{_markdown(inspect.getdoc(value) or '')}\n"
    if inspect.isclass(value) and not issubclass(value, BaseException):
        members = list(_members(name, value))
        if members:
            yield "\n".join(members) + "\n"


def _members(owner: str, cls: type) -> Iterator[str]:
    # What to_json means is the same everywhere, so it is inherited; the page names it with each class that has it. So
    # it does what families of mechanisms share, which have no entry of their own.
    bases = (
        Document, StoredDocument, AboveThreshold, MechanismInRounds, NoisyHistogram, OneItem, OneList, SharesOneVote,
    )  # fmt: skip
    shared = [vars(base).items() for base in bases if issubclass(cls, base)]
    inherited = {name: member for members in shared for name, member in members}
    for name, member in (inherited | dict(vars(cls))).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"- **`.{name}`**: {_one_line(member.fget)}"
        elif isinstance(member, classmethod):
            yield f"- **`{owner}.{name}{_short(member.__func__)}`**: {_one_line(member.__func__)}"
        elif inspect.isfunction(member):
            yield f"- **`.{name}{_short(member)}`**: {_one_line(member)}"


def _one_line(function: object) -> str:
    return _markdown((inspect.getdoc(function) or "").replace("\n\n", " ").replace("\n", " "))


def _short(function: object) -> str:
    """The names of the arguments, without types: the list stays readable."""
    parameters = list(inspect.signature(function).parameters.values())[1:]  # type: ignore[arg-type]
    shown = [f"{each.name}=" if each.kind is each.KEYWORD_ONLY else str(each).partition(":")[0] for each in parameters]
    return f"({', '.join(shown)})"


def _signature(name: str, value: object) -> str:
    signature = inspect.signature(value)  # type: ignore[arg-type]
    if inspect.isclass(value):
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    text = f"{name}{signature}".replace("'", "")
    if len(text) <= _WIDTH:
        return text
    lines = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        lines.append(f"    {parameter},".replace("'", ""))
    end = "" if signature.return_annotation is inspect.Signature.empty else f" -> {signature.return_annotation}"
    return "\n".join([f"{name}(", *lines, f"){end}"])


def _markdown(text: str) -> str:
    """A docstring as Markdown: sections become paragraphs, double backquotes single ones."""

    def paragraph(found: re.Match[str]) -> str:
        words = " ".join(found["text"].split())
        return "" if found["name"] in _HIDDEN else f"**{found['name']}.** {words}\n\n"

    made = _SECTION.sub(paragraph, text.replace("``", "`")).strip()
    # Of asterisks only those around words are emphasis; the others are formulas.
    return re.sub(r"(`[^`]*`|\*\*|(?<![\w)*])\*\w(?:[^*`]*\w)?\*(?![\w(*]))|\*", lambda m: m[1] or r"\*", made)


PAGES = {"mechanisms.md": mechanisms_page, "python.md": library_page}


def main() -> int:
    """Write the pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

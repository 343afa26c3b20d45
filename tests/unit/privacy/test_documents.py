"""One rule for JSON: ``to_dict`` gives an object, ``to_json`` its text, and ``from_json`` reads that text."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest

from podium import Budget, Histogram, Release
from podium.errors import InvalidArgument
from podium.ledger import Totals
from podium.mechanisms import LimitedDomain
from podium.privacy import Guarantee

PUBLIC = (
    "podium", "podium.audit", "podium.estimates", "podium.ledger", "podium.mechanisms", "podium.mechanisms.catalogue",
    "podium.planning", "podium.present.card.release_card", "podium.privacy", "podium.release",
)  # fmt: skip
BUDGET = Budget(epsilon=1, delta="1e-6", items=10, questions=2, epsilon_per_analyst="1/3")
READ_BACK: dict[str, Any] = {
    "budget": BUDGET,
    "totals": Totals.of(BUDGET),
    "first rules": Totals.of(BUDGET, rules=1),
    "guarantee": Guarantee.approximate("1/3", "1e-9"),
    "profile": Guarantee.profile([(1, "0.001"), (2, "1e-6")]),
    "release": LimitedDomain(2, 3, "1/2", "1e-6").release(Histogram({"ä": 900, "b": 600})),
}


def public_classes() -> Iterator[type]:
    for name in PUBLIC:
        module = importlib.import_module(name)
        yield from (value for value in vars(module).values() if inspect.isclass(value))


def test_json_is_text_everywhere() -> None:
    written = {cls for cls in public_classes() if hasattr(cls, "to_json")}
    assert {Budget, Totals, Guarantee, Release} < written
    for cls in written:
        assert inspect.signature(cls.to_json).return_annotation == "str", cls
        assert inspect.signature(cls.to_dict).return_annotation.startswith("dict["), cls  # type: ignore[attr-defined]
        assert hasattr(cls, "from_dict") <= hasattr(cls, "from_json"), cls


@pytest.mark.parametrize("name", READ_BACK)
def test_what_was_written_is_read_back(name: str) -> None:
    value = READ_BACK[name]
    text = value.to_json()
    assert json.loads(text) == value.to_dict()
    assert type(value).from_json(text) == value
    assert type(value).from_json(text).to_json() == text


@pytest.mark.parametrize("kind", [Budget, Totals, Guarantee])
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"a"', "[" * 100_000, None, 5])
def test_anything_else_is_refused_in_our_words(kind: Any, text: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"what {kind.__name__}\.to_json wrote"):
        kind.from_json(text)

"""Documents that are almost right: a valid one with a few parts taken away, replaced or added."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

__all__ = ["HOSTILE_TEXTS", "damaged", "values"]

HOSTILE_TEXTS = (
    "", " ", "0", "-1", "1/0", "1/3", "-1/2", "0/0", "1e-6", "1e999999999", "1e-999999999", "9" * 5000, "NaN", "sNaN",
    "Infinity", "-0", "0x10", "1_000", "\u0661\u0662", "2026-02-30", "2026-01-31", "24:00", "+99:99", "=", "AAAA",
    "\x00", "\ud800", "\u202e", "__class__", "selection", "counts", "gaps", "True", "null", "{}", "[]",
)  # fmt: skip
"""Texts that readers of numbers, dates and names trip over."""

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**400]),
    st.floats(),
    st.sampled_from(HOSTILE_TEXTS),
    st.text(max_size=8),
)
values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value, with a liking for those that hurt."""


@st.composite
def damaged(draw: st.DrawFn, valid: st.SearchStrategy[Any]) -> Any:
    """One of the valid documents after one to three accidents."""
    document = copy.deepcopy(draw(valid))
    for _ in range(draw(st.integers(1, 3))):
        document = _accident(draw, document)
    return document


def _accident(draw: st.DrawFn, document: Any) -> Any:
    """Walk down to a random place and hurt it."""
    if not document or not isinstance(document, (dict, list)) or draw(st.integers(0, 9)) == 0:
        return draw(values)
    key = draw(st.sampled_from(list(document) if isinstance(document, dict) else range(len(document))))
    what = draw(st.sampled_from(["deeper", "deeper", "deeper", "replace", "remove", "add", "double"]))
    if what == "deeper":
        document[key] = _accident(draw, document[key])
    elif what == "replace":
        document[key] = draw(values)
    elif what == "remove":
        del document[key]
    elif isinstance(document, dict):
        document[draw(st.sampled_from(HOSTILE_TEXTS) | st.text(max_size=8))] = draw(values)
    else:
        document.insert(key, document[key] if what == "double" else draw(values))
    return document

"""What podium says where it refuses an argument: the whole text, which a person has to act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.histogram import Histogram

__all__ = [
    "UNKNOWN_DOMAIN",
    "check_refused_domains",
    "check_refused_sizes",
    "refusal",
    "too_many",
    "whole_domain",
]

UNKNOWN_DOMAIN = (
    "histogram='an unknown-domain histogram' is not valid. Allowed: a histogram with a known domain. "
    "Give the domain (domain=... or domain_size=...), or use LimitedDomain."
)


def refusal(call: Callable[[], object]) -> str:
    """The text with which the call refuses an argument."""
    with pytest.raises(InvalidArgument) as caught:
        call()
    return str(caught.value)


def too_many(k: int, size: int) -> str:
    """What is said of more places than a domain has items."""
    return (
        f"k={k} is not valid. Allowed: at most {size}, the number of items in the domain. "
        "Ask for fewer items, or give the whole domain (domain=... or domain_size=...)."
    )


def whole_domain(k: int) -> str:
    """What is said of as many places as a domain has items, where a list of all would be no question."""
    return (
        f"k={k} is not valid. Allowed: less than {k}, the number of items in the domain. "
        "All items of a known domain are no secret: with k equal to their number publish the domain itself."
    )


def check_refused_domains(mechanism: Callable[[int, int], Any], histogram: Histogram, k: int, text: str) -> None:
    """A mechanism of k and epsilon says this of k items of the histogram, and needs a known domain."""
    assert refusal(lambda: mechanism(k, 1).release(histogram)) == text
    assert refusal(lambda: mechanism(k, 1).distribution(histogram)) == text
    assert refusal(lambda: mechanism(1, 1).release(Histogram({"a": 1}, known=False))) == UNKNOWN_DOMAIN


def check_refused_sizes(mechanism: Callable[[int, int], Any]) -> None:
    """A mechanism of k and epsilon refuses a domain that is too large to draw from, or to list all outcomes of."""
    assert refusal(lambda: mechanism(1, 1).release(Histogram({}, domain_size=2**900 + 1))) == (
        "histogram='a domain of more than 2^900 items' is not valid. Allowed: a domain of at most 2^900."
    )
    assert "at most 100000 outcomes" in refusal(lambda: mechanism(9, 1).distribution(Histogram({}, domain_size=40)))

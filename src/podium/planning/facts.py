"""What is public about a question, checked against limits that do not depend on any data."""

from __future__ import annotations

from dataclasses import dataclass

from podium.errors import InvalidArgument
from podium.exact import exact_integer

__all__ = ["LARGEST_K", "LARGEST_K_BAR", "LARGEST_MAX_ITEMS_PER_USER", "LONGEST_SHORT_LIST", "MECHANISMS", "Facts"]

LARGEST_K = 10_000
LARGEST_K_BAR = 1_000_000
LARGEST_MAX_ITEMS_PER_USER = 1_000_000
MECHANISMS = ("auto", "limited-domain", "adaptive", "set")
LONGEST_SHORT_LIST = 10
"""Up to here one selection after the other is as good as anything, needs one query, and costs only what it returns."""
_ROWS_PER_ITEM = 10
_FEWEST_ROWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is public about a question: how many items, from which domain, with or without counts.

    ``domain_size`` is None where the items are unknown. ``k_bar`` is how many of the largest rows compete for the
    places of an unknown domain; by default it is generous, because a larger one usually lowers the bar.
    ``mechanism`` is for those who know better than the planner how to answer from an unknown domain, or to whom it does
    not matter in which order the items of a known one come (set): that can be answered better.
    """

    k: int
    domain_size: int | None = None
    max_items_per_user: int | None = None
    counts: bool = False
    k_bar: int | None = None
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        self._whole("k", least=1, most=LARGEST_K)
        if self.k_bar is not None:
            self._whole("k_bar", least=self.k, most=LARGEST_K_BAR)
        if self.max_items_per_user is not None:
            self._whole("max_items_per_user", least=1, most=LARGEST_MAX_ITEMS_PER_USER)
        if not isinstance(self.counts, bool):
            raise InvalidArgument("counts", self.counts, allowed="True or False")
        if self.mechanism not in MECHANISMS:
            raise InvalidArgument("mechanism", self.mechanism, allowed=", ".join(map(repr, MECHANISMS)))
        if self.domain_size is None:
            self._check_unknown()
            return
        if self.mechanism not in ("auto", "set"):
            raise InvalidArgument("mechanism", self.mechanism, allowed="'auto' or 'set' where the domain is known")
        size = exact_integer(self.domain_size, "domain_size", minimum=1)
        if self.k > size:
            raise InvalidArgument("k", self.k, allowed=f"at most {size}, the size of the domain")
        object.__setattr__(self, "domain_size", size)
        if self.k_bar is not None:
            raise InvalidArgument("k_bar", self.k_bar, allowed="None where the domain is known: all of it competes")

    def _check_unknown(self) -> None:
        if self.mechanism == "set":
            raise InvalidArgument(
                "mechanism",
                self.mechanism,
                allowed="'auto', 'limited-domain' or 'adaptive' where the domain is unknown",
                hint="A set is chosen from a known domain: state it with domain=... or domain_size=...",
            )
        if self.mechanism == "adaptive" and self.k_bar is not None:
            raise InvalidArgument(
                "k_bar",
                self.k_bar,
                allowed="None with mechanism='adaptive': all items compete",
                hint="mechanism='limited-domain' has a k_bar.",
            )

    def _whole(self, name: str, *, least: int, most: int) -> None:
        """Keep a number as Python's own, within limits that do not depend on any data."""
        value = getattr(self, name)
        number = exact_integer(value, name, minimum=1)
        if not least <= number <= most:
            first = f"k={least}" if name == "k_bar" else str(least)
            raise InvalidArgument(name, value, allowed=f"a whole number from {first} to {most}")
        object.__setattr__(self, name, number)

    @property
    def rows(self) -> int:
        """k_bar, stated or not."""
        return max(_ROWS_PER_ITEM * self.k, _FEWEST_ROWS) if self.k_bar is None else self.k_bar

    @property
    def adaptive(self) -> bool:
        """Whether the answer is looked for in rounds, which reads more and finds more: see docs/planner.md."""
        if self.domain_size is not None or self.mechanism == "limited-domain" or self.k_bar is not None:
            return False
        return self.mechanism == "adaptive" or self.k > LONGEST_SHORT_LIST

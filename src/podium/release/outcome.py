"""Outcomes: items in released order with BOTTOM at the end of a list that stopped early, or a set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from fractions import Fraction
from typing import Final, Self, TypeAlias

from podium.exact import ShownFraction
from podium.histogram import Item, item_order

__all__ = ["BOTTOM", "Bottom", "ItemSet", "OneList", "Outcome"]


class Bottom:
    """The symbol for "nothing more can be told apart": there is one, BOTTOM."""

    _only: Bottom | None = None

    def __new__(cls) -> Bottom:
        """The only one."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "BOTTOM"

    def __reduce__(self) -> tuple[type[Bottom], tuple[()]]:
        return (Bottom, ())


BOTTOM: Final = Bottom()


class ItemSet(frozenset[Item]):
    """A frozenset that carries nothing but its value: every way to list it is in the order of the items themselves.

    A plain frozenset lists items with colliding hashes in the order in which they were put in, which is that of the
    true counts where a mechanism went down the ranks.
    """

    __slots__ = ("_listed",)
    _listed: tuple[Item, ...]

    def __new__(cls, items: Iterable[Item] = ()) -> Self:
        """The items, each once; of equal ones (1 and True) the first in their order, not the first that came."""
        listed = tuple(dict.fromkeys(sorted(items, key=lambda item: (item_order(item), repr(item)))))
        made = super().__new__(cls, listed)
        made._listed = listed
        return made

    def __iter__(self) -> Iterator[Item]:
        return iter(self._listed)

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self._listed))}}})" if self._listed else "frozenset()"

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Item, ...]]]:
        return (type(self), (self._listed,))


Outcome: TypeAlias = tuple[Item, ...] | frozenset[Item]


class OneList:
    """What came out of one selection: an outcome for ``k`` items, and values in its order."""

    __slots__ = ()
    outcome: Outcome
    k: int
    values: tuple[Fraction, ...] | None

    def _keep_order(self) -> None:
        """Whatever was given as outcome and values, keep what lists itself in the order of the items."""
        if isinstance(self.outcome, Set) and type(self.outcome) is not ItemSet:
            object.__setattr__(self, "outcome", ItemSet(self.outcome))
        if self.values is not None:
            object.__setattr__(self, "values", tuple(map(ShownFraction, self.values)))

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that came out, without BOTTOM; a set in the order of the items themselves."""
        return tuple(item for item in self.outcome if item is not BOTTOM)

    @property
    def ordered(self) -> bool:
        """Whether the order of the items means anything."""
        return not isinstance(self.outcome, frozenset)

    @property
    def complete(self) -> bool:
        """Whether all k items came back."""
        return len(self.items) >= self.k

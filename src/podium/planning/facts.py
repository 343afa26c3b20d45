"""The public facts of a question, checked against limits that do not depend on data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from podium.errors import InvalidArgument
from podium.exact import exact_integer, flag

__all__ = [
    "MAX_K",
    "MAX_K_BAR",
    "MAX_MAX_ITEMS_PER_USER",
    "MAX_SHORT_LIST",
    "MECHANISMS",
    "NAMED",
    "Facts",
    "GroupFacts",
    "MeasureFacts",
]

MAX_K = 10_000
MAX_K_BAR = 1_000_000
MAX_AT_LEAST = 2**62
MAX_MAX_ITEMS_PER_USER = 1_000_000
_HYBRIDS = ("hybrid", "hybrid-estimates")
NAMED = (
    "limited-domain-laplace", "limited-domain-strict", "limited-domain-private-k-bar", "fixed-threshold", *_HYBRIDS,
)  # fmt: skip
"""Mechanisms of the papers that a single question may name; the planner never chooses them."""
MECHANISMS = ("auto", "limited-domain", "adaptive", *NAMED)
MAX_SHORT_LIST = 2
"""Up to this k, a ledger's selections need one query, and cost only what they return; longer lists have rounds."""
MAX_SHORT_KNOWN_LIST = 10
"""Up to this k, a ledger's selections tell known items apart as well as rounds, or better."""
MAX_SHORT_COUNTED_KNOWN_LIST = 3
"""The same for a single question with counts: what rounds measure to rank is part of their counts."""
MAX_IN_TURN = 1
"""Up to this k, a selection from a known domain is as good as Laplace noise where everybody has one item."""
_ROWS_PER_ITEM = 10
_MIN_ROWS = 1_000


class MeasureFacts(NamedTuple):
    """What ranks items instead of distinct users: events or a sum, in units.

    ``clip`` is the most that one user adds to one item, in units, None if it is chosen privately; ``floor`` is the
    least, below 0 for signed sums.
    """

    by: str
    unit: Fraction = Fraction(1)
    clip: int | None = None
    floor: int = 0


class GroupFacts(NamedTuple):
    """A list for each group: in how many groups a user counts, and how many are listed (None: they are unknown).

    ``per_user`` is None where a user counts in all of theirs, with weights that share one budget.
    """

    per_user: int | None = 1
    known: int | None = None

    @property
    def most(self) -> int:
        """For how many groups a user pays."""
        if self.per_user is None:
            return 1
        return self.per_user if self.known is None else min(self.per_user, self.known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The public facts of a question: how many items, from which domain, with or without counts.

    ``domain_size`` is None if the items are unknown. ``k_bar`` is how many of the most frequent items of an unknown
    domain compete; the default is large, because a larger one usually lowers the threshold. ``mechanism`` overrides the
    planner; a known domain has rounds too ("adaptive"). If the order does not matter (``ordered`` is False), the answer
    from a known domain can be more accurate. ``measure`` is None where distinct users are counted, ``groups`` where
    there is one list. ``at_least`` leaves out items with less, in units of the measure: rounds do that by the values
    that they measure, so there they imply ``counts``. ``others``: what is beside the list is measured too.
    """

    k: int
    domain_size: int | None = None
    max_items_per_user: int | None = None
    counts: bool = False
    k_bar: int | None = None
    mechanism: str = "auto"
    ordered: bool = True
    measure: MeasureFacts | None = None
    at_least: int | None = None
    others: bool = False
    groups: GroupFacts | None = None

    def __post_init__(self) -> None:
        self._bound("k", minimum=1, maximum=MAX_K)
        if self.k_bar is not None:
            self._bound("k_bar", minimum=self.k, maximum=MAX_K_BAR)
        if self.max_items_per_user is not None:
            self._bound("max_items_per_user", minimum=1, maximum=MAX_MAX_ITEMS_PER_USER)
        flag(self.counts, "counts")
        if self.mechanism not in MECHANISMS:
            raise InvalidArgument("mechanism", self.mechanism, allowed=", ".join(map(repr, MECHANISMS)))
        if self.measure is not None:
            self._check_measure(self.measure)
        self._check_least()
        if self.groups is not None:
            self._check_groups(self.groups)
        if self.named:
            self._check_named()
        if self.domain_size is None:
            self._check_unknown()
        else:
            self._check_known(self.domain_size)

    def _check_named(self) -> None:
        """Raise unless a mechanism of a paper answers this: users of one list, which it ranks and does not measure."""
        hybrid = self.mechanism in _HYBRIDS
        refused: tuple[tuple[str, object, bool], ...] = (
            ("by", None if self.measure is None else self.measure.by, self.measure is not None),
            ("per", "a column", self.groups is not None),
            ("counts", True, self.counts),
            ("others", True, self.others),
            ("at_least", self.at_least, self.at_least is not None and not hybrid),
            ("domain", None, self.domain_size is None and hybrid),
            ("domain", "a known domain", self.domain_size is not None and not hybrid),
            ("ordered", False, not self.ordered and self.mechanism != "fixed-threshold"),
        )
        for name, value, wrong in refused:
            if wrong:
                known = "a known domain" if name == "domain" and hybrid else "its default"
                raise InvalidArgument(
                    name, value, allowed=f"{known} with mechanism={self.mechanism!r}",
                    hint="mechanism='auto' leaves it to the planner.",
                )  # fmt: skip

    def _check_known(self, domain_size: int) -> None:
        if self.mechanism == "limited-domain":
            raise InvalidArgument("mechanism", self.mechanism, allowed="'auto' or 'adaptive' where the domain is known")
        size = exact_integer(domain_size, "domain_size", minimum=1)
        if self.k > size:
            raise InvalidArgument("k", self.k, allowed=f"at most {size}, the size of the domain")
        object.__setattr__(self, "domain_size", size)
        if self.k_bar is not None:
            raise InvalidArgument("k_bar", self.k_bar, allowed="None where the domain is known: all of it competes")

    def _check_measure(self, measure: MeasureFacts) -> None:
        if not self.ordered:
            raise InvalidArgument("ordered", self.ordered, allowed=f"True with by={measure.by!r}")
        if self.others and (measure.floor or self.at_least is not None):
            # What a user adds to the rest must not be negative, and values must not be left out beside a total.
            raise InvalidArgument("others", True, allowed="False for signed sums, and beside at_least")
        if self.mechanism == "adaptive" and (measure.floor or self.domain_size is not None):
            raise InvalidArgument(
                "mechanism",
                self.mechanism,
                allowed="'auto' for signed sums and for sums over a known domain",
                hint="Rounds add up contributions that are not negative, of items that are found in the data.",
            )

    def _check_least(self) -> None:
        if self.at_least is None:
            return
        self._bound("at_least", minimum=1, maximum=MAX_AT_LEAST)
        if self.adaptive:
            object.__setattr__(self, "counts", True)

    def _check_together(self) -> None:
        """Raise unless one noisy histogram of all pairs answers: it ranks, and measures nothing."""
        refused: tuple[tuple[str, object, bool], ...] = (
            ("by", None if self.measure is None else self.measure.by, self.measure is not None),
            ("at_least", self.at_least, self.at_least is not None),
            ("others", True, self.others),
            ("counts", True, self.counts),
            ("k_bar", self.k_bar, self.k_bar is not None),
            ("mechanism", self.mechanism, self.mechanism == "limited-domain"),
        )
        for name, value, wrong in refused:
            if wrong:
                raise InvalidArgument(
                    name,
                    value,
                    allowed="its default with groups_per_user='all'",
                    hint="With groups_per_user=1, or another number, it can be asked for.",
                )

    def _check_groups(self, groups: GroupFacts) -> None:
        if groups.per_user is None:
            self._check_together()
            return
        if self.k * groups.most > MAX_K:
            raise InvalidArgument(
                "groups_per_user",
                groups.per_user,
                allowed=f"an integer from 1 to {MAX_K // self.k} with k={self.k}",
                hint="A user pays for the lists of all groups in which they count.",
            )
        if self.mechanism == "adaptive" and not self.hides:
            raise InvalidArgument(
                "mechanism",
                self.mechanism,
                allowed="'auto' where there is a list for each group, and known items are ranked",
                hint="Rounds in groups find items.",
            )

    def _check_unknown(self) -> None:
        if self.mechanism == "adaptive" and self.k_bar is not None:
            raise InvalidArgument(
                "k_bar",
                self.k_bar,
                allowed="None with mechanism='adaptive': all items compete",
                hint="mechanism='limited-domain' has a k_bar.",
            )

    def _bound(self, name: str, *, minimum: int, maximum: int) -> None:
        """Convert a field to int and check its limits."""
        value = getattr(self, name)
        number = exact_integer(value, name, minimum=1)
        if not minimum <= number <= maximum:
            first = f"k={minimum}" if name == "k_bar" else str(minimum)
            raise InvalidArgument(name, value, allowed=f"an integer from {first} to {maximum}")
        object.__setattr__(self, name, number)

    @property
    def rows(self) -> int:
        """k_bar, or its default."""
        return max(_ROWS_PER_ITEM * self.k, _MIN_ROWS) if self.k_bar is None else self.k_bar

    @property
    def selections(self) -> int:
        """How many items one user may have a part in: k of one list, or of each of the user's groups."""
        return self.k if self.groups is None else self.k * self.groups.most

    @property
    def hides(self) -> bool:
        """Whether a threshold hides which items there are, for which a delta is needed."""
        if self.groups is None:
            return self.domain_size is None
        if self.groups.per_user is None:
            return True
        # A mechanism that returns k items whatever there is would show groups that have no rows.
        return self.domain_size is None or self.groups.known is None or self.measure is not None

    @property
    def named(self) -> bool:
        """Whether the question names a mechanism of a paper."""
        return self.mechanism in NAMED

    @property
    def adaptive(self) -> bool:
        """Whether a ledger's question is answered in rounds, which read more and find more: see docs/planner.md."""
        if self.groups is not None and self.groups.per_user is None:
            return True
        if self.groups is not None and (self._known_sums or not self.hides):
            return False
        if self.domain_size is not None and self.groups is None:
            return self.mechanism == "adaptive"
        signed = self.measure is not None and self.measure.floor < 0
        if self.mechanism == "limited-domain" or self.named or self.k_bar is not None or signed:
            return False
        return self.mechanism == "adaptive" or self.k > MAX_SHORT_LIST

    @property
    def _known_sums(self) -> bool:
        """Whether known items are ranked by events or a sum."""
        return self.measure is not None and self.domain_size is not None

    @property
    def long_and_known(self) -> bool:
        """Whether a list of known items is so long that rounds find more of it, where selections are the other way."""
        return self.ordered and self._is_known_beyond(MAX_SHORT_KNOWN_LIST)

    @property
    def long_known_and_counted(self) -> bool:
        """The same where counts are wanted too, by which items have an order, for a question with its own budget."""
        return self.counts and self.at_least is None and self._is_known_beyond(MAX_SHORT_COUNTED_KNOWN_LIST)

    def _is_known_beyond(self, shorter: int) -> bool:
        plain = self.measure is None and self.groups is None
        if self.domain_size is None or self.mechanism != "auto" or not plain:
            return False
        if self.at_least is not None and not self.counts:
            return False
        return shorter < self.k < self.domain_size

    @property
    def undecided(self) -> bool:
        """Whether the planner may choose, for a question with its own budget, what tells items apart the best."""
        if self.mechanism != "auto" or self.k_bar is not None or self.measure is not None:
            return False
        if self.counts or self.at_least is not None or self.groups is not None:
            return False
        if self.domain_size is None:
            return True
        return self.ordered and MAX_IN_TURN < self.k < self.domain_size

    @property
    def one_item_each(self) -> bool:
        """Whether each user is said to have one item, or is cut to one."""
        return self.max_items_per_user == 1

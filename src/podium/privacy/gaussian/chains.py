"""Chains: what the steps of one call are reserved at, in the order in which they run, and what it is settled at.

A price depends on what is left after its step, so one call's steps have several prices: the chain writes them down
when the call is reserved, from what was free at that moment. Settling charges the prices of the steps that ran and
recomputes nothing. docs/proofs/gaussian-filter.md, section 6, says why that is enough, and under which conditions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer
from podium.privacy.documents import read_object
from podium.privacy.gaussian.prices import nodes, price, required_remainder
from podium.privacy.gaussian.steps import Step
from podium.privacy.rounding import decimal_repr

__all__ = ["Chain", "ChainPart", "FoundChain", "chain", "find_chain"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class ChainPart:
    """Equal steps at one price, each of which leaves what its node asks for."""

    __repr__ = decimal_repr

    step: Step
    node: int
    price: Fraction

    @property
    def total(self) -> Fraction:
        """What all steps of the part cost."""
        return self.step.count * self.price


@dataclass(frozen=True, slots=True)
class Chain:
    """The prices of a call's steps in the order of execution, fixed when it is reserved."""

    __repr__ = decimal_repr

    parts: tuple[ChainPart, ...]

    @classmethod
    def at_zero(cls, steps: Iterable[Step]) -> Chain:
        """The chain with every price at node 0: it holds whatever is left, also where that is less than nothing."""
        return cls(tuple(ChainPart(step, 0, price(step, 0)) for step in steps))

    @property
    def total(self) -> Fraction:
        """What is reserved, and charged where a call dies or is cancelled."""
        return sum((part.total for part in self.parts), Fraction(0))

    @property
    def any_order(self) -> bool:
        """Whether the prices hold in whatever order the steps run, and a call that never ran may be refunded."""
        return all(part.node == 0 for part in self.parts)

    def charge(self, executed: Iterable[Step]) -> Fraction:
        """What to charge for the steps that ran, in the order in which they ran.

        Gaussian steps may be smaller and later than reserved, together not larger; of the others any may be left out.
        If the steps cannot be found in the chain, all of it is charged; ask ``has_price`` whether that is enough.
        Never settle a call like this that was cancelled, or did not start, unless ``any_order``: whether it ran may
        depend on what others were answered.
        """
        found = self._found(tuple(executed))
        return self.total if found is None else found

    def has_price(self, executed: Iterable[Step]) -> bool:
        """Whether what is charged for these steps is enough: they are in the chain, in its order.

        If they are not, they may be the way that a whole mechanism took, of which a pure step was reserved: all of the
        chain is its price. The steps of a chain in another order are no such way.
        """
        steps = tuple(executed)
        if self._found(steps) is not None:
            return True
        whole = any(part.step.kind == "pure" for part in self.parts)
        return whole and _charge_any_order(self.parts, steps) is None

    def _found(self, steps: tuple[Step, ...]) -> Fraction | None:
        return _charge_any_order(self.parts, steps) if self.any_order else _charge_in_order(self.parts, steps)

    def to_dict(self) -> dict[str, Any]:
        """The chain as a JSON object; every ratio is text."""
        parts = [[*part.step.to_list(), part.node, str(part.price)] for part in self.parts]
        return {"version": _VERSION, "parts": parts}

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Chain:
        """The chain that ``to_json`` wrote."""
        return cls.from_dict(read_object(text))

    @classmethod
    def from_dict(cls, document: object) -> Chain:
        """The chain that ``to_dict`` wrote."""
        if not isinstance(document, dict):
            document = {}
        fields = set(document)
        if fields != {"version", "parts"} or document["version"] != _VERSION or not isinstance(document["parts"], list):
            raise InvalidArgument("chain", document, allowed=f"a JSON object with version {_VERSION} and parts")
        return cls(tuple(map(_part, document["parts"])))


class FoundChain(NamedTuple):
    """A chain, or None, and what may be free where it is the one: ``lowest`` or more, and less than ``end``.

    None is no bound.
    """

    chain: Chain | None
    lowest: Fraction | None
    end: Fraction | None

    def holds_at(self, free: Fraction) -> bool:
        """Whether the same is found where this is free."""
        return (self.lowest is None or self.lowest <= free) and (self.end is None or free < self.end)


def chain(steps: Iterable[Step], free: Fraction, *, one_shot: bool = True) -> Chain | None:
    """The cheapest prices that these steps may have, one after the other; None if they do not fit into what is free.

    Gaussian steps come first, except those at the end: they may run later than reserved, and never earlier. Where one
    kind of step comes back after another, as in lists for several groups, all have the prices of node 0: such a call
    may be settled for other lists than ran first.
    ``one_shot``: which steps run is decided by the call's own answers alone. A session, whose later rounds react
    to what other calls were answered meanwhile, has to say False and gets the prices of node 0.
    """
    return find_chain(steps, free, one_shot=one_shot).chain


def find_chain(steps: Iterable[Step], free: Fraction, *, one_shot: bool = True) -> FoundChain:
    """What ``chain`` finds, and for which amounts: those on which every comparison with what is free comes out alike.

    A ledger is verified with one search for many entries that ask for the same while ever less is free.
    """
    parts: list[ChainPart] = []
    wanted = _noise_first(steps)
    one_shot = one_shot and not _comes_back(wanted)
    at_first, lowest, end = free, None, None
    for step in wanted:
        count = step.count
        while count:
            part, enough, too_much = _largest_part(step.times(count), free, one_shot=one_shot)
            spent = at_first - free
            if too_much is not None:
                end = too_much + spent if end is None else min(end, too_much + spent)
            if part is None or enough is None:
                return FoundChain(None, lowest, end)
            lowest = enough + spent if lowest is None else max(lowest, enough + spent)
            parts.append(part)
            free -= part.total
            count -= part.step.count
    return FoundChain(Chain(tuple(parts)), lowest, end)


def _noise_first(steps: Iterable[Step]) -> list[Step]:
    """Gaussian steps before the others, but for those that end the call: these see the others' remainder."""
    wanted = list(steps)
    last = max((place for place, step in enumerate(wanted) if step.kind != "gaussian"), default=-1)
    # Sorting is stable, and False comes first.
    return sorted(wanted[: last + 1], key=lambda step: step.kind != "gaussian") + wanted[last + 1 :]


def _comes_back(steps: Iterable[Step]) -> bool:
    kinds = [kind for kind, _ in groupby(step.times(1) for step in steps if step.kind != "gaussian")]
    return len(set(kinds)) < len(kinds)


def _largest_part(
    step: Step, free: Fraction, *, one_shot: bool
) -> tuple[ChainPart | None, Fraction | None, Fraction | None]:
    """As many of these steps as the highest node that fits can price; and from what is free on, and below what."""
    end: Fraction | None = None
    for node in reversed(nodes(step)) if one_shot else (0,):
        cost, remainder = price(step, node), required_remainder(step, node)
        # An epsilon below the list of certificates can be cheaper at node 0, where it needs none.
        if node and cost > price(step, 0):
            continue
        most = free - remainder
        count = max(0, min(step.count, int(most // cost)))
        if count < step.count:
            one_more = remainder + (count + 1) * cost
            end = one_more if end is None else min(end, one_more)
        if count:
            return ChainPart(step.times(count), node, cost), remainder + count * cost, end
    return None, None, end


def _charge_any_order(parts: Iterable[ChainPart], executed: Iterable[Step]) -> Fraction | None:
    reserved, noise, charged = Counter[Step](), Fraction(0), Fraction(0)
    for part in parts:
        reserved[part.step.times(1)] += part.step.count
        noise += part.total if part.step.kind == "gaussian" else 0
    for step in executed:
        cost = step.count * price(step, 0)
        if step.kind == "gaussian":
            noise -= cost
        else:
            reserved[step.times(1)] -= step.count
        if noise < 0 or reserved[step.times(1)] < 0:
            return None
        charged += cost
    return charged


def _charge_in_order(parts: Iterable[ChainPart], executed: Iterable[Step]) -> Fraction | None:
    """Each step takes the first place after the ones before it: a rule that needs no knowledge of later steps."""
    noise = charged = Fraction(0)
    ahead, left = iter(parts), 0
    current: ChainPart | None = None
    for step in executed:
        wanted = step.count
        while True:
            if step.kind == "gaussian":
                if noise >= step.count * step.size:
                    noise -= step.count * step.size
                    charged += step.count * step.size
                    break
            elif current is not None and current.step.times(1) == step.times(1):
                taken = min(wanted, left)
                charged += taken * current.price
                wanted, left = wanted - taken, left - taken
                if wanted == 0:
                    break
            current = next(ahead, None)
            if current is None:
                return None
            left = current.step.count
            if current.step.kind == "gaussian":
                noise += current.total
    return charged


def _part(document: Any) -> ChainPart:
    if not isinstance(document, list) or len(document) != 5:
        raise InvalidArgument("part", document, allowed="[kind, size, count, node, price]")
    node = exact_integer(document[3], "node", minimum=0)
    return ChainPart(Step.from_list(document[:3]), node, exact_fraction(document[4], "price"))

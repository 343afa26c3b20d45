"""Plans that may be asked once: what was planned, for whom, and at what price."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from podium.planning.question_plan import Plan
from podium.wire.identifiers import new_id
from podium.wire.refusals import Refusal

__all__ = ["PLAN_SECONDS", "PricedPlan", "PricedPlans", "PricedPlansHere", "price_of", "stale_plan", "unknown_plan"]

PLAN_SECONDS: Final = 600
"""How long a plan may be asked."""
MAX_OPEN_PLANS: Final = 100
"""How many plans of one analyst are kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """The literal question of one analyst about one data set, and the most that it was said to cost."""

    analyst: str
    dataset: str
    question: str
    price: str


class PricedPlans(Protocol):
    """Where plans are kept until they are asked."""

    def keep(self, plan: PricedPlan) -> str:
        """Keep a plan; the id is random and cannot be guessed."""

    def take(self, id_: str, analyst: str) -> PricedPlan:
        """The plan, which is gone afterwards; a refusal if it is not this analyst's, was taken, or has expired."""


class PricedPlansHere:
    """Plans in the memory of this process."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, PricedPlan]] = OrderedDict()
        self._lock = Lock()

    def keep(self, plan: PricedPlan) -> str:
        """Keep a plan."""
        id_ = new_id()
        with self._lock:
            self._kept[id_] = (time.monotonic() + PLAN_SECONDS, plan)
            while len(self._kept) > MAX_OPEN_PLANS:
                self._kept.popitem(last=False)
        return id_

    def take(self, id_: str, analyst: str) -> PricedPlan:
        """The plan, once."""
        with self._lock:
            expires, found = self._kept.get(id_, (0.0, None))
            if found is None or found.analyst != analyst or expires < time.monotonic():
                raise unknown_plan()
            del self._kept[id_]
        return found


def price_of(plan: Plan) -> str:
    """The most that a plan costs, exactly."""
    return json.dumps(plan.to_dict()["at_most"], sort_keys=True)


def unknown_plan() -> Refusal:
    """A plan that cannot be asked; whether it ever existed is not said."""
    return Refusal(
        404,
        "plan is not the id of a plan that you may ask now: each can be asked once, by whoever planned it, within ten "
        "minutes. Call plan_question again, which is free; repeating a question that was answered costs nothing.",
        error="UnknownPlan",
    )


def stale_plan() -> Refusal:
    """A plan whose price is no longer what was said."""
    return Refusal(
        409,
        "The price of this question has changed since it was planned. Nothing was charged. Call plan_question again, "
        "and decide with the new price.",
        error="PriceChanged",
    )

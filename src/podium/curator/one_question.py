"""How a question is paid from a budget of its own, which no ledger remembers."""

from __future__ import annotations

from dataclasses import dataclass

from podium.curator.pricing import AnyFacts, single_strategy
from podium.exact import Number
from podium.planning.strategy import Strategy

__all__ = ["OneQuestion"]


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """A budget for one question, stored nowhere: a caller who asks twice pays twice and must keep count."""

    epsilon: Number
    delta: Number = 0

    def strategy(self, facts: AnyFacts) -> Strategy:
        """The strategy for which the whole answer is (epsilon, delta)-private."""
        return single_strategy(facts, epsilon=self.epsilon, delta=self.delta)

"""Strategies for engines without temporary tables: a mechanism that reads the table once, where one is as good."""

from __future__ import annotations

from dataclasses import replace

from podium.mechanisms import SizedTopK
from podium.planning.question_budget import question_budget
from podium.planning.strategy import Strategy, strategy_for

__all__ = ["read_once"]


def read_once(strategy: Strategy) -> Strategy | None:
    """Selections with the whole budget instead of a choice for one or two places; None for everything else.

    Longer lists would lose more than their askers may expect, so they must ask for ``limited-domain`` themselves. What
    is measured beside a list needs kept pairs, and is never left out silently.
    """
    mechanism = strategy.mechanism
    if not (isinstance(mechanism, SizedTopK) and mechanism.asks_lead) or strategy.others is not None:
        return None
    facts = replace(strategy.facts, mechanism="limited-domain")
    return strategy_for(facts, question_budget(facts, epsilon=mechanism.epsilon, delta=mechanism.delta))

"""Schedules of ``podium watch``: calendar, shares of the budget, plan."""

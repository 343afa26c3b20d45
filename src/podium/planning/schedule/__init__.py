"""Schedules of ``podium watch``: their calendar, their shares of the budget, their plan."""

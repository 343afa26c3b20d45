"""Monitors: a new private top k for every period of a schedule, within one budget."""

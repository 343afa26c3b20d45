"""Identifiers of requests, jobs and tokens."""

from __future__ import annotations

from podium.randomness import system_bits

__all__ = ["new_id"]


def new_id() -> str:
    """A random identifier that cannot be guessed."""
    return system_bits().read(16).hex()

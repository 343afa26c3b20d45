"""Identifiers of requests, jobs and tokens."""

from __future__ import annotations

from podium.randomness import system_bits

__all__ = ["new_id"]


def new_id() -> str:
    """A name that nobody can guess."""
    return system_bits().read(16).hex()

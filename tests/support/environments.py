"""Programs in environments of their own, which ``make outside`` makes: dbt, Airflow and an emulator of Snowflake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["programs_of"]

ROOT = Path(__file__).parents[2]


def programs_of(name: str) -> Path:
    """The folder of an environment's programs; skips where there is none."""
    folder = os.environ.get("PODIUM_ENVIRONMENTS")
    if folder is None:
        pytest.skip(f"{name} runs in an environment of its own: make outside")
    return ROOT / folder / name / "bin"

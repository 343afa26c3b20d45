"""Tables of the whole path, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.curator.tables import views


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a module may have otherwise."""
    return views(tmp_path_factory.mktemp("views") / "views.parquet")


@pytest.fixture
def table(made: Path, tmp_path: Path) -> Path:
    """The table in a folder of its own, for a ledger beside it."""
    return Path(shutil.copy(made, tmp_path / made.name))

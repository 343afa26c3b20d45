"""Both databases, for what needs processes, files and broken connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.ledger.servers import empty_database, postgresql_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


@pytest.fixture
def postgresql(server: str) -> str:
    return empty_database(server)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return str(request.getfixturevalue("postgresql"))

"""Every test of this folder runs on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.ledger.servers import empty_database, postgresql_server

from podium.ledger import Ledger, open_ledger


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return empty_database(request.getfixturevalue("server"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with open_ledger(url) as opened:
        yield opened

"""A service for a whole file of tests, unless the file makes one of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.serving import World, world


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made

"""The contract of scaled pair values on DuckDB, by names of their own: what ``tools.mutants`` runs."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.support.sources.norms import AMOUNTS, NormContract

from podium.sources import Source, open_source


@pytest.fixture
def amounts() -> Iterator[Source]:
    names = [column.name for column in AMOUNTS.columns[:3]]
    columns = zip(*(row[:3] for row in AMOUNTS.rows), strict=True)
    source = open_source(pa.table({name: pa.array(list(values)) for name, values in zip(names, columns, strict=True)}))
    yield source
    source.close()


def test_scaled_pairs_are_those_of_plain_python(amounts: Source) -> None:
    NormContract().test_parts_and_weights(amounts)


def test_scaled_pairs_of_named_items_are_too(amounts: Source) -> None:
    NormContract().test_parts_of_kept_pairs(amounts)

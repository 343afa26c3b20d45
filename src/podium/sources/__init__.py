"""Sources: the engines that hold the rows. Only the few rows that a question needs ever leave them."""

from podium.sources.duckdb.source import DuckDBSource
from podium.sources.open import open_source
from podium.sources.protocol import (
    Domain,
    DomainFile,
    DomainItems,
    DomainSize,
    DomainTable,
    Reading,
    Snapshot,
    Source,
)

__all__ = [
    "Domain", "DomainFile", "DomainItems", "DomainSize", "DomainTable", "DuckDBSource", "Reading", "Snapshot", "Source",
    "open_source",
]  # fmt: skip

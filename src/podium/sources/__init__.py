"""Sources: the engines that hold the rows. Only the few rows that a question needs ever leave them."""

from podium.sources.base import (
    Domain,
    DomainFile,
    DomainItems,
    DomainSize,
    DomainTable,
    Reading,
    Snapshot,
    Source,
)
from podium.sources.duckdb import DuckDBSource
from podium.sources.opening import open_source

__all__ = [
    "Domain", "DomainFile", "DomainItems", "DomainSize", "DomainTable", "DuckDBSource", "Reading", "Snapshot", "Source",
    "open_source",
]  # fmt: skip

"""Sources: the engines that hold the rows. Only the few rows that a question needs leave them."""

from podium.sources.duckdb.column_names import column_names
from podium.sources.duckdb.source import DuckDBSource
from podium.sources.open import SOURCE_DEFAULTS, SourceOptions, open_source
from podium.sources.pair_norm import PairNorm
from podium.sources.protocol import (
    MAX_CLIP,
    CountQuery,
    Domain,
    DomainFile,
    DomainItems,
    DomainSize,
    DomainTable,
    Group,
    GroupCut,
    GroupedKeptPairs,
    GroupedPairs,
    GroupedSnapshot,
    GroupProfiles,
    KeptPairs,
    NamedPairs,
    PairValue,
    Snapshot,
    Source,
)
from podium.sources.sql.pretty import pretty_sql

__all__ = [
    "MAX_CLIP", "SOURCE_DEFAULTS",
    "CountQuery", "Domain", "DomainFile", "DomainItems", "DomainSize", "DomainTable", "DuckDBSource", "Group",
    "GroupCut", "GroupProfiles", "GroupedKeptPairs", "GroupedPairs", "GroupedSnapshot", "KeptPairs", "NamedPairs",
    "PairNorm", "PairValue", "Snapshot", "Source", "SourceOptions", "column_names", "open_source", "pretty_sql",
]  # fmt: skip

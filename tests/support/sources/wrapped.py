"""What a source says of itself, handed on by sources that stand before another to see what is read."""

from __future__ import annotations

from typing import Any

from podium.query import Schema
from podium.sources import CountQuery, Domain, Group, Source

__all__ = ["WrappedSource"]


class WrappedSource:
    """Everything that reads no rows of events comes from ``inner``."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self.name, self.dialect = inner.name, inner.dialect

    def schema(self) -> Schema:
        return self.inner.schema()

    def max_clip(self, weight: int = 1) -> int:
        return self.inner.max_clip(weight)

    def check(self, query: CountQuery, *, domain: Domain | None = None, refresh: bool = True) -> None:
        self.inner.check(query, domain=domain, refresh=refresh)

    def queries(self, query: CountQuery, **how: Any) -> tuple[str, ...]:
        return self.inner.queries(query, **how)

    def domain_size(self, query: CountQuery, domain: Domain) -> int:
        return self.inner.domain_size(query, domain)

    def known_groups(self, query: CountQuery) -> tuple[Group, ...]:
        return self.inner.known_groups(query)

    def close(self) -> None:
        self.inner.close()

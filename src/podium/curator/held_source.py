"""The source of a data set while its curator is open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from podium.errors import PodiumError, SourceUnavailable
from podium.query.join import Join
from podium.sources import DuckDBSource, Source, SourceOptions, open_source
from podium.sources.sql.sql_source import SqlSource

__all__ = ["HeldSource"]


class HeldSource:
    """A source that is reopened once its files changed and the owner declared a new version of the data.

    ``given`` is what the caller passed. An open source belongs to the caller, who closes it.
    """

    def __init__(self, given: object, options: SourceOptions) -> None:
        self._given, self._options = given, options
        self._opened: list[Source] = []
        self._lock = threading.Lock()
        self._version: str | None = None
        self.source: Source = open_source(given, **options)
        self._own = self.source is not given
        if self._own:
            self._opened.append(self.source)

    def declare(self, joins: Sequence[Join]) -> None:
        """Let questions join these tables, also after the source was opened again."""
        self._options = {**self._options, "joins": tuple(joins)}
        if isinstance(self.source, SqlSource):
            self.source.declare_joins({join.name: join for join in joins})

    def at(self, version: str) -> None:
        """Record the version of the data that the source was opened for."""
        self._version = version

    @property
    def changed(self) -> bool:
        """Whether files that were opened here have changed since."""
        return self._own and isinstance(self.source, DuckDBSource) and self.source.changed

    def renew(self, version: Callable[[], str]) -> Source:
        """The source at the owner's version. Files that changed without a new one are refused by the source itself."""
        if self.changed:
            with self._lock:
                # Read inside the lock: a version read before another thread reopened would be out of date.
                now = version()
                if now != self._version:
                    try:
                        self._open_again()
                    except PodiumError:
                        # The caller may be an analyst; only the owner may learn which line is wrong.
                        raise SourceUnavailable(
                            "The new version of the data could not be opened. Nothing was read or charged. Its owner "
                            "learns the reason by opening the same source, for example with --dry-run."
                        ) from None
                    self._version = now
        return self.source

    def refresh(self) -> Source:
        """The source as it is now, for an owner who runs a schedule: running it accepts new rows."""
        if self.changed:
            self._open_again()
        return self.source

    def _open_again(self) -> None:
        opened = open_source(self._given, **self._options)
        # Other threads may still read the previous one, so it is closed together with this one.
        self._opened.append(opened)
        self.source = opened

    def close(self) -> None:
        """Close what was opened here."""
        for source in self._opened:
            source.close()

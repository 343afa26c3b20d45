"""The source of a data set, for as long as questions are asked about it."""

from __future__ import annotations

import threading

from podium.errors import PodiumError, SourceUnavailable
from podium.sources import DuckDBSource, Source, SourceOptions, open_source

__all__ = ["HeldSource"]


class HeldSource:
    """A source that is opened again where its files changed and the owner has declared a new version of the data.

    ``given`` is what the caller passed: an open source stays the caller's, who alone opens and closes it.
    """

    def __init__(self, given: object, options: SourceOptions) -> None:
        self._given, self._options = given, options
        self._opened: list[Source] = []
        self._lock = threading.Lock()
        self._version: str | None = None
        self.source = open_source(given, **options)
        self._own = self.source is not given
        if self._own:
            self._opened.append(self.source)

    def at(self, version: str) -> None:
        """Remember which version of the data the source was opened for."""
        self._version = version

    @property
    def changed(self) -> bool:
        """Whether files that were opened here are no longer what they were."""
        return self._own and isinstance(self.source, DuckDBSource) and self.source.changed

    def renew(self, now: str) -> Source:
        """The source at this version. Files that changed without a new version are left to the source to refuse."""
        if self.changed:
            with self._lock:
                if now != self._version:
                    try:
                        self._open_again()
                    except PodiumError:
                        # Whoever asks may be an analyst, and what is wrong in which line is the owner's to know.
                        raise SourceUnavailable(
                            "The new version of the data could not be opened. Nothing was read or charged. Its owner "
                            "learns the reason by opening the same source, for example with --dry-run."
                        ) from None
                    self._version = now
        return self.source

    def refresh(self) -> Source:
        """The source as it is now, for an owner who runs a schedule: running it says that new rows belong to it."""
        if self.changed:
            self._open_again()
        return self.source

    def _open_again(self) -> None:
        opened = open_source(self._given, **self._options)
        # Others may still be reading the one before: it is closed with this one.
        self._opened.append(opened)
        self.source = opened

    def close(self) -> None:
        """Close what was opened here."""
        for source in self._opened:
            source.close()

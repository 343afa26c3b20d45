"""The source of a data set, for as long as questions are asked about it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from podium.errors import PodiumError, SourceUnavailable
from podium.sources import DuckDBSource, Source

__all__ = ["HeldSource"]


class HeldSource:
    """A source that is opened again where its files changed and the owner has declared a new version of the data.

    ``given`` is what the caller passed: an open source stays the caller's, who alone opens and closes it.
    """

    def __init__(self, given: object, opening: Callable[[], Source]) -> None:
        self._opening = opening
        self._opened: list[Source] = []
        self._lock = threading.Lock()
        self._version: str | None = None
        self.source = opening()
        self._own = self.source is not given
        if self._own:
            self._opened.append(self.source)

    def at(self, version: str) -> None:
        """Remember which version of the data the source was opened for."""
        self._version = version

    def renew(self, version: Callable[[], str]) -> Source:
        """The source. Files that changed without a new version are left to the source, which refuses them."""
        if self._changed:
            with self._lock:
                now = version()
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
        if self._changed:
            self._open_again()
        return self.source

    @property
    def _changed(self) -> bool:
        return self._own and isinstance(self.source, DuckDBSource) and self.source.changed

    def _open_again(self) -> None:
        opened = self._opening()
        # Others may still be reading the one before: it is closed with this one.
        self._opened.append(opened)
        self.source = opened

    def close(self) -> None:
        """Close what was opened here."""
        for source in self._opened:
            source.close()

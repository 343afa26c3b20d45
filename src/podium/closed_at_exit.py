"""What is used in a block and closed at its end: curators, ledgers, connections."""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import Self

__all__ = ["ClosedAtExit"]


class ClosedAtExit:
    """``with`` gives the object itself, and closes it at the end, whatever happened."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""Silencing drivers that log server messages: only while podium connects or queries, and only in its own context."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

__all__ = ["silence_loggers", "silence_package"]

_hushed: ContextVar[bool] = ContextVar("_hushed", default=False)


class _Hush(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record may pass: records from other contexts always may."""
        return not _hushed.get()


_HUSH = _Hush()


@contextmanager
def silence_loggers(*loggers: str) -> Iterator[None]:
    """Drop what this thread or task logs to these loggers inside the block; child loggers are not included."""
    for logger in loggers:
        # Adding the same filter again does nothing.
        logging.getLogger(logger).addFilter(_HUSH)
    token = _hushed.set(True)
    try:
        yield
    finally:
        _hushed.reset(token)


def silence_package(package: str) -> AbstractContextManager[None]:
    """The same for all loggers of a package that are known by now."""
    known = list(logging.root.manager.loggerDict)
    return silence_loggers(*(name for name in known if name.startswith(package)))

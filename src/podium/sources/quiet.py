"""Silence for drivers that log what a server says: only while podium connects or asks, and only in its own context."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["silence_loggers"]

_hushed: ContextVar[bool] = ContextVar("_hushed", default=False)


class _Hush(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record may pass: all that others cause may."""
        return not _hushed.get()


_HUSH = _Hush()


@contextmanager
def silence_loggers(*loggers: str) -> Iterator[None]:
    """Drop what these loggers are given by this thread or task meanwhile; a logger's children are others."""
    for logger in loggers:
        # Adding the same filter again does nothing.
        logging.getLogger(logger).addFilter(_HUSH)
    token = _hushed.set(True)
    try:
        yield
    finally:
        _hushed.reset(token)

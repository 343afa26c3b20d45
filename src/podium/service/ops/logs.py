"""Logs: one JSON object a line. They say who asked for which route and what became of it, never a value of a row."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import Any

__all__ = ["JsonLines", "configure", "log"]

_logger = logging.getLogger("podium.service")


class JsonLines(logging.Formatter):
    """A record as one line of JSON. Traces of exceptions are left out: their frames hold rows."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {
            "at": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "worker": record.process,
            **facts,
        }
        return json.dumps(line, ensure_ascii=True, default=str)


def configure() -> None:
    """Write the service's own log to stderr, and the server's remarks in the same form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("podium.service", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """One line."""
    _logger.log(level, event, extra={"facts": facts})

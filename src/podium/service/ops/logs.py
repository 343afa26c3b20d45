"""Logs: one JSON object per line, with caller, route and outcome, never values of rows."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import Any

__all__ = ["JsonLines", "configure", "log"]

_logger = logging.getLogger("podium.service")


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, without tracebacks, which could show rows."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {
            "at": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "worker": record.process,
            **facts,
        }
        return json.dumps(line, ensure_ascii=True, default=str)


def configure(file: str | None = None) -> None:
    """Write the logs of the service and of the server to a file or to stderr, in the same format."""
    handler = logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(JsonLines())
    for name in ("podium.service", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log one event."""
    _logger.log(level, event, extra={"facts": facts})

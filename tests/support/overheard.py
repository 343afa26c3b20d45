"""Everything that anybody could read when an engine fails, to look for values of rows in it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

import pytest

from podium.errors import SourceError, SourceFailure

__all__ = ["Overheard", "assert_nothing_was_said", "failure", "overheard", "spelled_out"]

Overheard = Callable[..., str]
"""Called with an error or without: what was said since the last call."""


def spelled_out(error: BaseException | None) -> str:
    """An error with all that led to it, whether or not it would be printed."""
    text = ""
    while error is not None:
        text += "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
        error = error.__cause__ or error.__context__
    return text


def overheard(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], *loggers: str) -> Overheard:
    """Errors with what led to them, both streams, the logs at DEBUG, also of loggers whose names start like these."""
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(loggers):
            caplog.set_level(logging.DEBUG, logger=name)

    def said(error: BaseException | None = None) -> str:
        out, err = capfd.readouterr()
        return caplog.text + out + err + spelled_out(error)

    return said


def assert_nothing_was_said(error: SourceError, said: Overheard, *unsaid: str) -> None:
    """The error has one text for every failure of an engine, nothing led to it, and nobody heard any of these."""
    assert isinstance(error, SourceFailure)
    assert str(error) == str(SourceFailure())
    assert error.__context__ is None
    assert error.__cause__ is None
    text = said(error)
    for words in unsaid:
        assert words not in text


def failure(action: Callable[[], object]) -> SourceError:
    """The error of a source with which the action fails."""
    with pytest.raises(SourceError) as caught:
        action()
    return caught.value

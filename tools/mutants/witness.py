"""A pytest plugin that says which podium was tested, and how each test that failed did: by assertion or by accident."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tools.mutants.trees import REPORT

import podium

__all__ = ["Witness", "pytest_configure"]


class Witness:
    """Collects outcomes, by node id; ``failures`` are lists of the types of errors with the last line of their text."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._seen: dict[str, str] = {}
        self._errors: dict[str, tuple[str, str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
        """Keep the type of whatever was raised."""
        report = yield
        if call.excinfo is not None and report.failed:
            error = call.excinfo.value
            self._errors[item.nodeid] = (_kind(error, report.when), str(error).strip().partition("\n")[0][:200])
        if report.failed or report.when == "call":
            self._seen[item.nodeid] = "failed" if report.failed else report.outcome
        return report

    def pytest_sessionfinish(self) -> None:
        """Write down what was seen."""
        document = {"podium": str(Path(podium.__file__).resolve()), "seen": self._seen, "errors": self._errors}
        self._target.write_text(json.dumps(document), encoding="utf-8")


def _kind(error: BaseException, when: str) -> str:
    if when != "call":
        return f"{type(error).__name__} in {when}"
    if isinstance(error, BaseExceptionGroup):
        kinds = {_kind(part, when) for part in error.exceptions}
        return kinds.pop() if len(kinds) == 1 else "several kinds"
    return "assertion" if isinstance(error, AssertionError | pytest.fail.Exception) else type(error).__name__


def pytest_configure(config: pytest.Config) -> None:
    """Watch this run, if somebody asks for a report."""
    if REPORT in os.environ:
        config.pluginmanager.register(Witness(Path(os.environ[REPORT])), "mutants-witness")

"""Fuzzing: the properties of tests/property that end in "answered or refused", run for as long as one likes.

    python -m tools.fuzz                      what there is
    python -m tools.fuzz releases --seconds 300

Each target is a hypothesis test. With atheris installed, bytes that reach new branches of podium are kept and changed
again (coverage-guided); without it, or with --plain, hypothesis draws at random. Exits with 1 and the traceback at
the first failure.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["FAILURES", "TARGETS", "main"]

FAILURES = Path("build/fuzz")
"""Where atheris keeps the bytes that made a target fail."""

TARGETS = {
    "conditions": "tests.property.query.test_fuzz:test_conditions_are_understood_or_refused",
    "statements": "tests.property.query.test_fuzz:test_statements_are_understood_or_refused",
    "hostile": "tests.property.query.test_fuzz:test_damaged_hostile_texts_never_crash",
    "releases": "tests.property.readers.test_releases:test_a_damaged_release_is_refused_or_can_be_used",
    "shown": "tests.property.readers.test_releases:test_a_release_that_was_read_can_be_shown",
    "events": "tests.property.readers.test_releases:test_damaged_events",
    "guarantees": "tests.property.readers.test_releases:test_a_damaged_guarantee",
    "settings": "tests.property.readers.test_settings:test_damaged_settings",
    "questions": "tests.property.readers.test_settings:test_a_damaged_question",
    "problems": "tests.property.readers.test_settings:test_a_damaged_problem_is_still_an_error",
    "budgets": "tests.property.readers.test_settings:test_a_damaged_budget",
    "grouped": "tests.property.readers.test_inputs:test_a_damaged_release_with_groups",
    "joins": "tests.property.readers.test_inputs:test_a_join_in_text",
    "declarations": "tests.property.readers.test_inputs:test_declared_joins",
    "batches": "tests.property.readers.test_inputs:test_a_damaged_batch",
    "measures": "tests.property.readers.test_inputs:test_a_damaged_question_about_measures_and_groups",
    "options": "tests.property.readers.test_inputs:test_options_of_the_command_line",
    "tools": "tests.property.readers.test_inputs:test_a_damaged_tool_call",
    "plans": "tests.property.readers.test_inputs:test_a_damaged_plan",
    "batch_plans": "tests.property.readers.test_inputs:test_a_damaged_plan_of_a_batch",
    "chains": "tests.property.readers.test_inputs:test_a_damaged_chain",
    "bytes": "tests.property.ledger.test_damage:test_flipped_and_missing_bytes",
    "cells": "tests.property.ledger.test_damage:test_changed_cells",
    "migrations": "tests.property.ledger.test_damage:test_another_schema",
    "foreign": "tests.property.ledger.test_damage:test_a_file_that_is_no_ledger_is_refused_and_kept",
    "parquet": "tests.property.sources.test_schemas:test_parquet_files",
    "frames": "tests.property.sources.test_schemas:test_frames",
    "files": "tests.property.sources.test_schemas:test_any_file",
    "json": "tests.property.sources.test_schemas:test_json_with_declared_types",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one target; without a name, list them."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description="Fuzz one part of podium.")
    parser.add_argument("target", nargs="?", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--plain", action="store_true", help="draw at random, also where atheris is installed")
    chosen = parser.parse_args(arguments)
    if chosen.target is None:
        print("\n".join(TARGETS))
        return 0
    guided = not chosen.plain and importlib.util.find_spec("atheris") is not None
    run = _guided if guided else _plain
    run(TARGETS[chosen.target], chosen.seconds)
    return 0


def _test(address: str) -> Any:
    module, _, name = address.partition(":")
    importlib.import_module("tests.conftest")
    return getattr(importlib.import_module(module), name)


def _plain(address: str, seconds: float) -> None:
    """Rounds of random cases, shrunk by hypothesis where one fails."""
    from hypothesis import HealthCheck, settings  # noqa: PLC0415 - an error about arguments needs no libraries

    test, start, cases = _test(address), time.monotonic(), 0
    test._hypothesis_internal_use_settings = settings(
        max_examples=200, derandomize=False, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    while time.monotonic() - start < seconds:
        test()
        cases += 200
    print(f"{cases} cases in {time.monotonic() - start:.0f} s, none failed")


def _guided(address: str, seconds: float) -> None:
    """The same test, its bytes chosen by the branches that they reach."""
    import atheris  # noqa: PLC0415 - optional, and it instruments what is imported after it

    with atheris.instrument_imports(include=["podium"], enable_loader_override=False):
        test = _test(address)
    options = [sys.argv[0], f"-max_total_time={int(seconds)}", "-rss_limit_mb=4096"]
    FAILURES.mkdir(parents=True, exist_ok=True)
    options.append(f"-artifact_prefix={FAILURES}/")
    # Hypothesis reads many bytes for one case; short inputs would end before the first accident.
    options += ["-max_len=8192", "-len_control=0"]
    atheris.Setup(options, test.hypothesis.fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

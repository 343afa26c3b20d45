"""Errors: three lines and an exit code; where it happened, but never a value."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from tests.support.command_line import ASK, TOTAL, create_budget, podium

import podium as library
from podium import errors
from podium.cli.exit_codes import EXIT_CODES, exit_code_of
from podium.cli.failures import debug_text, failure_text, interruption_text, report


def kinds(root: type[errors.PodiumError] = errors.PodiumError) -> Iterator[type[errors.PodiumError]]:
    yield root
    for child in root.__subclasses__():
        yield from kinds(child)


def blank(kind: type[errors.PodiumError]) -> errors.PodiumError:
    """An error of that kind, whatever it takes to make one."""
    return kind.__new__(kind)


def test_every_error_has_the_code_of_its_closest_ancestor_in_the_table() -> None:
    expected: dict[type[errors.PodiumError], int] = {
        errors.PodiumError: 1, errors.InvalidArgument: 2, errors.UnknownEvent: 2, errors.QuestionRefused: 2,
        errors.UnknownColumn: 2, errors.BudgetError: 3, errors.BudgetExceeded: 3, errors.BudgetMismatch: 3,
        errors.DatasetLocked: 3, errors.SourceError: 4, errors.SourceUnavailable: 4, errors.MissingLibrary: 4,
        errors.LedgerError: 5, errors.DatasetExists: 5, errors.LedgerLocked: 5, errors.LedgerUnavailable: 5,
        errors.ReservationClosed: 5, errors.UnknownDataset: 5, errors.QuestionForfeited: 6, errors.SourceFailure: 6,
        errors.EntropyFailure: 6, errors.LedgerTampered: 7,
    }  # fmt: skip
    assert {kind: exit_code_of(blank(kind)) for kind in expected} == expected
    assert all(exit_code_of(blank(kind)) in {entry.code for entry in EXIT_CODES} for kind in kinds())
    codes = [entry.code for entry in EXIT_CODES]
    assert codes == sorted(set(codes))


def test_sentences_become_lines() -> None:
    assert failure_text(errors.DatasetLocked("views", 3)).split("\n") == [
        "DatasetLocked: dataset='views' is locked after 3 failed questions.",
        "  Stored releases can still be read; new questions are refused.",
        "  Its owner should find out why they failed, then unlock it.",
    ]
    exceeded = errors.BudgetExceeded("rho", Fraction(1, 20), Fraction(31, 1000), budget="'clicks'", hint="Ask for k=6.")
    assert failure_text(exceeded).split("\n") == [
        "BudgetExceeded: this release may cost rho=0.05 but 'clicks' has rho=0.031 left (short by 0.019).",
        "  Ask for k=6.",
    ]


def test_a_value_with_a_full_stop_does_not_break_a_line() -> None:
    error = errors.InvalidArgument("where", "a. B", allowed="c. D", hint="Do e. F.")
    assert error.lines == ("where='a. B' is not valid.", "Allowed: c. D.", "Do e. F.")
    assert str(error) == " ".join(error.lines)
    refused = errors.QuestionRefused("x = 'A. B'", "no. Never", hint="Write: Y. Z.")
    assert refused.lines == ("\"x = 'A. B'\" is not allowed: no. Never.", "Write: Y. Z.")


def test_an_interruption_says_what_is_forfeited() -> None:
    interruption = KeyboardInterrupt()
    assert interruption_text(interruption) == (
        "Interrupted: nothing was released.\n  Any budget that was reserved stays charged."
    )
    interruption.add_note(errors.interruption_note("views", Fraction(1, 3), Fraction(1, 10**6)))
    assert interruption_text(interruption) == (
        "Interrupted: The question on 'views' was interrupted after its data may have been read, so what was reserved "
        "for it (rho=0.3334, delta=0.000001) is forfeited.\n  Nothing was released.\n  Asking again costs again."
    )
    assert report(interruption, debug=False) == 130


def broken(*_arguments: object, **_options: object) -> None:
    secret = {"user": "SECRET-ROW"}
    raise KeyError(secret["user"])


@pytest.mark.parametrize("debug", [False, True])
def test_a_defect_shows_neither_its_text_nor_its_values(debug: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.Curator, "ask", broken)
    ran = podium("top", "views.parquet", *ASK, *TOTAL, *["--debug"] * debug)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.endswith(
        "KeyError: podium failed because of an internal error.\n"
        "  The details are withheld, because they may quote private rows.\n"
        "  Run the command again with --debug, and report the locations that it prints.\n"
    )
    assert "SECRET" not in ran.stderr
    assert ("podium/cli/top.py:" in ran.stderr) is debug
    assert "test_failures" not in ran.stderr


def test_debug_shows_the_places_of_an_error_in_our_code() -> None:
    ran = podium("top", "views.parquet", "--item", "artcle", "--user", "user_id", *TOTAL, "--debug", "--quiet")
    assert ran.exit_code == 2
    first, *places, error, _, _ = ran.stderr.rstrip("\n").split("\n")
    assert first == "Traceback (podium's own code, without values):"
    assert places[-1].startswith("  podium/query/schema.py:")
    assert all(place.startswith("  podium/") for place in places)
    assert error == "UnknownColumn: item='artcle' is not a column."


def test_debug_has_no_places_where_rows_may_have_been_read() -> None:
    assert debug_text(errors.SourceFailure()).split("\n")[1] == (
        "  (the locations are withheld: rows may have been read)"
    )


def test_quiet_says_nothing_but_errors() -> None:
    create_budget()
    ledger = ("--ledger", "ledger.db", "--dataset", "views")
    assert podium("top", "views.parquet", *ASK, *ledger, "-k", "1", "-q").stderr == ""
    assert podium("top", "views.parquet", *ASK, *ledger, "-k", "999", "-q").stderr.startswith("BudgetExceeded: ")

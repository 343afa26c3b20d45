"""Every error that has fields survives the way between processes, with its text and its fields."""

from __future__ import annotations

import pickle
from fractions import Fraction
from inspect import getattr_static
from types import FunctionType

import pytest

from podium import errors
from podium.errors import PodiumError
from podium.wire.refusals import Refusal, too_many

ERRORS = [
    errors.BudgetExceeded("rho", Fraction(1, 3), Fraction(1, 9), budget="'views'", hint="Wait.", total=Fraction(2)),
    errors.DatasetExists("a", "b"),
    errors.DatasetLocked("a", 3, "ana"),
    errors.InvalidArgument("k", [0], allowed="1 or more", hint="Say k=1."),
    errors.LedgerLocked("ledger.db", 0.5),
    errors.LedgerTampered("a", "it was changed"),
    errors.MissingLibrary("fastapi", purpose="podium serve", extra="service"),
    errors.NotRandom("It repeats itself.", constant=True),
    errors.OutputFailed("answer.csv"),
    errors.QuestionForfeited("views", Fraction(1, 3), Fraction(1, 7)),
    errors.QuestionPending("views", 2.5),
    errors.QuestionRefused("x" * 100, "it is long", hint="Ask less."),
    errors.ReservationClosed("a", 3, "settled"),
    errors.SamplerFailed("KeyError", "left of 'x'", 3),
    errors.SourceFailure(),
    errors.UnknownColumn("item", "page", ["Page", "user"]),
    errors.UnknownDataset("a", None),
    errors.UnknownEvent("other", 2),
    too_many("questions", 1, 3),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_the_way_between_processes(error: PodiumError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(again), str(again), again.lines) == (type(error), str(error), error.lines)
    assert vars(again) == vars(error)


def test_no_error_is_left_out() -> None:
    public = [getattr(errors, name) for name in errors.__all__]
    with_fields = {
        one for one in public if isinstance(one, type) and isinstance(getattr_static(one, "__init__"), FunctionType)
    }
    assert with_fields | {Refusal} == {type(error) for error in ERRORS}

"""Samplers that misbehave get a typed error that says what to do; all others are counted as they are."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from podium import BOTTOM
from podium.audit import REFUSED, Pair, Progress, Transcripts, statistical_audit, worst_pairs
from podium.audit.statistical.draws import Recorder
from podium.audit.statistical.observation import Raised
from podium.audit.targets.neighbours import as_pairs
from podium.errors import AuditError, BudgetExceeded, InvalidArgument, NotRandom, SamplerFailed, UnusableOutcome

PAIRS = [Pair("zero or one", 0, 1)]


def coin(seed: int) -> Callable[[Any], str]:
    generator = np.random.default_rng(seed)
    return lambda data: "heads" if generator.random() < 0.5 else "tails"


def fails(sampler: Any, error: type[Exception], **options: Any) -> str:
    with pytest.raises(error) as caught:
        statistical_audit(sampler, 1, pairs=PAIRS, samples=2_000, **options)
    return str(caught.value)


def test_a_sampler_that_raises() -> None:
    """An error is an outcome, and a report says how many there were; not of a batch, where it is not one draw's."""
    calls = itertools.count()

    def sampler(data: int) -> str:
        return "fine" if next(calls) < 300 else str(1 / 0)

    report = statistical_audit(sampler, 1, pairs=PAIRS, samples=2_000)
    assert (report.draws, report.raised) == (2_000, 1_700)
    assert report.verdict.startswith("No violation found in 2,000 draws, of which 1,700 were errors. ")
    assert fails(lambda data, size: [1 / 0], SamplerFailed, batch=True) == (
        "the sampler raised ZeroDivisionError on the input left of 'zero or one' after 0 draws. A sampler must "
        "answer every input: to an analyst an error is an outcome too. Catch it in the sampler and return it as an "
        "outcome, or mend it."
    )


def test_outcomes_that_cannot_be_compared() -> None:
    assert fails(lambda data: [1, 2], UnusableOutcome) == (
        "the sampler returned a list, or has one inside its outcome, which cannot be counted. Allowed: text, numbers, "
        "BOTTOM, frozensets and tuples of these, and releases. Give outcome=..., for example outcome=tuple, to say how "
        "two outcomes are compared."
    )
    assert "returned a tuple, or has one inside" in fails(lambda data: ("a", {}), UnusableOutcome)
    generator = np.random.default_rng(0)
    report = statistical_audit(lambda data: [int(generator.integers(2))], 1, pairs=PAIRS, samples=2_000, outcome=tuple)
    assert not report.violated


def test_outcomes_without_end() -> None:
    numbers = itertools.count()
    with pytest.raises(UnusableOutcome, match="more than 10,000 different outcomes, so none of them can be counted"):
        statistical_audit(lambda data: f"ticket {next(numbers)}", 1, pairs=PAIRS, samples=40_000)
    assert "an outcome with 33 numbers. Allowed: at most 32." in fails(lambda data: (0.5,) * 33, UnusableOutcome)


def test_a_sampler_that_is_not_random() -> None:
    assert fails(lambda data: "always", NotRandom) == (
        "the sampler returned one and the same outcome in all 2,000 draws, whatever the input. A mechanism to audit "
        "must be random and look at its input. Check that it is not seeded, and give pairs=... on which its answer "
        "can change."
    )
    generator, calls = np.random.default_rng(0), itertools.count()
    stuck = [int(value) for value in generator.integers(0, 50, size=400)]
    text = fails(lambda data: stuck[next(calls) // 40], NotRandom)
    assert text.startswith("the sampler repeats itself: on the left of 'zero or one' neighbouring draws agree far more")


def test_a_function_of_its_input_is_a_violation_not_an_error() -> None:
    report = statistical_audit(str, 1, pairs=PAIRS, samples=2_000)
    assert report.violated
    assert report.draws < 2_000
    assert report.stopped == "stopped at a certain violation"


def test_a_batch_of_the_wrong_size() -> None:
    text = fails(lambda data, size: ["x"] * (size - 1), UnusableOutcome, batch=True)
    assert text.startswith("the sampler returned 249 outcomes where size=250 were asked for. Allowed: exactly as many.")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"samples": 100}, "samples=100 is not valid. Allowed: at least 160 for 1 pairs."),
        ({"samples": None, "seconds": 0}, "seconds=0 is not valid. Allowed: a number above 0."),
        ({"pairs": []}, "pairs=() is not valid. Allowed: at least one pair of neighbouring inputs."),
        ({"pairs": [3]}, "pairs=3 is not valid. Allowed: Pair(name, left, right), or tuples (left, right)."),
        (
            {"claim": None},
            "claim=None is not valid. Allowed: a Guarantee, or an epsilon. A function states none itself.",
        ),
        ({"workers": 2}, "workers=2 is not valid. Allowed: 1 where the sampler cannot be pickled."),
        ({"alpha": 2}, "alpha=2 is not valid. Allowed: a number with 0 < value < 1."),
        ({"sampler": 3}, "sampler='int' is not valid. Allowed: a function, or a mechanism with release()."),
    ],
)
def test_bad_arguments(options: dict[str, Any], text: str) -> None:
    given = {"sampler": coin(1), "claim": 1, "pairs": PAIRS, "samples": 2_000, **options}
    with pytest.raises(InvalidArgument) as caught:
        statistical_audit(given.pop("sampler"), given.pop("claim"), **given)
    assert str(caught.value) == text


def test_errors_are_one_family_and_survive_a_round_trip() -> None:
    for error in (SamplerFailed("KeyError", "left of 'x'", 3), NotRandom("text", constant=True)):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
        assert isinstance(again, AuditError)
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_outcomes_are_split_into_names_and_numbers() -> None:
    recorder = Recorder()
    draws = recorder.record([("a", 1, 0.5), ("a", 1, 0.75), ("a", BOTTOM), 7, math.nan, True])
    assert recorder.outcomes[0] == ("a", 1, recorder.outcomes[2])
    assert draws.codes.tolist() == [0, 0, 1, 2, 3, 4]
    assert draws.reals[:4, 0].tolist()[:2] == [0.5, 0.75]
    assert draws.reals[3, 0] == 7
    assert np.isnan(draws.reals[[2, 4, 5], 0]).all()


def test_types_tell_outcomes_apart_and_numbers_are_looked_at_to_the_last_digit() -> None:
    recorder = Recorder()
    alike: list[Any] = [("a", 1), ("a", True), (0.0,), (-0.0,), (Fraction(0),), 1, np.int64(1)]
    assert recorder.record(alike).codes.tolist() == list(range(len(alike)))
    draws = recorder.record([Fraction(1, 2), Fraction(1, 3), Fraction(1, 2) + Fraction(1, 2**100), Fraction(10**400)])
    assert draws.codes.tolist() == [7, 8, 8, 7]
    assert draws.reals[2].tolist() == [0.5, 2.0**-100]
    assert Fraction(draws.reals[1, 0]) + Fraction(draws.reals[1, 1]) == pytest.approx(Fraction(1, 3), rel=1e-30)
    assert draws.reals[3, 0] == math.inf
    for large in (2**60 + 1, np.int64(2**60 + 1), Decimal(2**60 + 1)):
        assert recorder.record([large]).reals.tolist() == [[2.0**60, 1.0]]


def test_progress_and_the_sum_of_alphas() -> None:
    told: list[Progress] = []
    report = statistical_audit(coin(2), 1, pairs=worst_pairs(), samples=20_000, alpha="1e-6", progress=told.append)
    assert not report.violated
    assert report.draws <= 20_000
    assert [one.draws for one in told] == sorted(one.draws for one in told)
    assert 0 < told[0].share <= told[-1].share <= 1
    assert 0 < report.spent <= report.alpha == 1e-6
    assert {test.stage for test in report.tests} == set(range(1, max(test.stage for test in report.tests) + 1))


def test_a_budget_of_time_is_kept() -> None:
    report = statistical_audit(coin(3), 1, pairs=PAIRS, seconds=0.5)
    assert report.stopped == "the time is up"
    # A stage that began is ended; on a machine that has other things to do this takes its time.
    assert report.seconds < 60


def test_an_audit_whose_time_is_up_too_soon_still_tests_something() -> None:
    """Starting and the first draws may take all of it; a report without a test would say that nothing was found."""
    slow = coin(4)

    def sampler(data: Any) -> str:
        time.sleep(0.0005)
        return slow(data)

    report = statistical_audit(sampler, 1, pairs=PAIRS, seconds=0.001)
    assert report.stopped == "the time is up"
    assert {test.stage for test in report.tests} == {1}
    assert "no violation" in report.to_markdown().lower()


def test_worst_pairs_are_neighbours_within_the_bound() -> None:
    for bound in (1, 2, None):
        pairs = worst_pairs(items=5, k=2, k_bar=3, level=4, max_items_per_user=bound)
        assert len({pair.name for pair in pairs}) == len(pairs) >= 6
        for pair in pairs:
            moved = [pair.right[item] - pair.left[item] for item in pair.left]
            assert set(moved) <= {0, 1}
            assert 1 <= sum(moved) <= (bound or 5)
    assert as_pairs([(1, 2)]) == (Pair("pair 1", 1, 2),)


def test_a_transcript_is_what_an_analyst_sees() -> None:
    closed = []

    class Session:
        def close(self) -> None:
            closed.append(True)

    def ask(session: Session, seen: tuple[Any, ...]) -> Any:
        if len(seen) == 2:
            raise BudgetExceeded("calls", Fraction(1), Fraction(0))
        return f"answer {len(seen)}"

    assert Transcripts(lambda data: Session(), ask)("data") == (
        *("answer 0", "answer 1", REFUSED),
        Raised.of(BudgetExceeded("calls", Fraction(1), Fraction(0))),
    )
    assert Transcripts(lambda data: Session(), ask, calls=1)("data") == ("answer 0",)
    assert Transcripts(lambda data: Session(), lambda session, seen: None)("data") == ()
    assert closed == [True] * 3
    with pytest.raises(InvalidArgument, match="calls=0"):
        Transcripts(lambda data: Session(), ask, calls=0)

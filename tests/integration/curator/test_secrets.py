"""Nothing from rows in an error, a log line, an output or the ledger, whatever fails and whenever."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pytest
from tests.support.curator.tables import BUDGET, curator

import podium
from podium import Curator
from podium.curator import settle
from podium.errors import (
    EntropyFailure,
    LedgerUnavailable,
    PodiumError,
    QuestionForfeited,
    SourceFailure,
    interruption_note,
    settlement_note,
)
from podium.estimates import MeasureCounts, MeasureTogether
from podium.ledger import Kind, Ledger, Reason, open_ledger
from podium.mechanisms import LimitedDomain
from podium.release import Release
from podium.sources.sql.snapshot import SqlSnapshot

SECRET = "the-secret-of-user-4711"  # noqa: S105 - not a password
FORFEITED = (
    "The question on 'views' failed after its data may have been read, so what was reserved for it "
    "(rho=0.001758, delta=2.5e-8) is forfeited. Nothing was released. "
    "Why is withheld, because it may depend on private rows: ask the owner to look at the engine."
)


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A database whose view fails on one row, in a message that quotes it."""
    path = tmp_path / "failing.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT range AS user_id, '{SECRET}' AS article FROM range(3000)")
        connection.execute("CREATE VIEW bad AS SELECT user_id, CAST(article AS INTEGER) AS article FROM t")
        connection.execute(
            "CREATE VIEW worse AS SELECT user_id, error('quoting ' || article)::VARCHAR AS article FROM t"
        )
        with pytest.raises(duckdb.Error, match=SECRET):
            connection.execute("FROM bad").fetchall()
        with pytest.raises(duckdb.Error, match=SECRET):
            connection.execute("FROM worse").fetchall()
    return path


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        yield from chain(error.__cause__)
        error = error.__context__


def frames(trace: TracebackType | None) -> Iterator[str]:
    """What a debugger, or an error report with local variables, would show of podium's own frames."""
    while trace is not None:
        if "podium" in trace.tb_frame.f_code.co_filename:
            yield repr(trace.tb_frame.f_locals)
        trace = trace.tb_next


def said(error: BaseException) -> str:
    texts = [*traceback.format_exception(error)]
    for part in chain(error):
        texts += [
            str(part),
            repr(part),
            repr(part.args),
            repr(getattr(part, "__dict__", "")),
            *frames(part.__traceback__),
        ]
        texts += getattr(part, "__notes__", [])
    return "\n".join(texts)


class Everywhere:
    """All the places in which something could turn up."""

    def __init__(self, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
        self._caplog = caplog
        self._capfd = capfd
        caplog.set_level(logging.DEBUG)

    def __call__(self, error: BaseException, *files: Path) -> str:
        records = [f"{record.getMessage()} {record.__dict__}" for record in self._caplog.records]
        stored = [file.read_bytes().decode("utf-8", "replace") for file in files]
        return "\n".join([said(error), self._caplog.text, *records, *self._capfd.readouterr(), *stored])


@pytest.fixture
def everywhere(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Everywhere:
    return Everywhere(caplog, capfd)


@pytest.mark.parametrize("view", ["bad", "worse"])
@pytest.mark.parametrize("options", [{}, {"domain_size": 1000}, {"counts": True, "max_items_per_user": 2}])
def test_an_engine_that_fails_on_a_row(
    failing: Path, view: str, options: dict[str, Any], everywhere: Everywhere
) -> None:
    if view == "worse" and "domain_size" in options:
        options = {"domain": ["x", "y", "z"]}
    ledger = failing.with_name("ledger.db")
    with Curator(failing, table=view, dataset="views", user="user_id", ledger=ledger, budget=BUDGET) as asked:
        plan = asked.plan("article", k=2, **options).strategy
        with pytest.raises(QuestionForfeited) as caught:
            asked.top("article", k=2, **options)
        status = asked.status
    with pytest.raises(SourceFailure) as alone:
        podium.top(failing, table=view, item="article", user="user_id", k=2, epsilon=1, delta="1e-6", **options)
    assert str(alone.value) == str(SourceFailure())
    for error in (caught.value, alone.value):
        assert (error.__cause__, error.__context__) == (None, None)
        assert SECRET not in everywhere(error, ledger)
    # The text is constant but for what was reserved, which is public.
    error = caught.value
    assert str(error) == str(QuestionForfeited("views", error.rho, error.delta))
    assert status.spent.rho == error.rho >= podium.privacy.worst_case(plan.worst_case).rho
    assert (status.failures, status.open_reservations) == (1, 0)


def test_the_text_of_a_failure(failing: Path) -> None:
    with (
        Curator(
            failing, table="bad", dataset="views", user="user_id", ledger=failing.with_name("l.db"), budget=BUDGET
        ) as asked,
        pytest.raises(QuestionForfeited) as caught,
    ):
        asked.top("article", k=2)
    assert str(caught.value) == FORFEITED


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def quoting(*_: object, **__: object) -> None:
    try:
        raising(ValueError(f"row {SECRET}"))()
    except ValueError as error:
        raise RuntimeError(f"while reading {SECRET}") from error


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (SqlSnapshot, "top_rows"),
        (LimitedDomain, "release"),
        (MeasureTogether, "release"),
        (Release, "to_json"),
        (Ledger, "settle"),
    ],
)
def test_anything_that_fails_after_the_read(
    table: Path, owner: Any, name: str, everywhere: Everywhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    with curator(table) as (asked, source):
        monkeypatch.setattr(owner, name, quoting)
        with pytest.raises(QuestionForfeited) as caught:
            asked.top("article", k=2, counts=True)
        monkeypatch.undo()
        assert SECRET not in everywhere(caught.value, table.with_name("ledger.db"))
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        assert asked.status.failures == 1
        if owner not in (Ledger, Release):
            # Without a ledger, two counts are measured one by one.
            monkeypatch.setattr(MeasureCounts if owner is MeasureTogether else owner, name, quoting)
            with pytest.raises(SourceFailure) as alone:
                podium.top(source, item="article", user="user_id", k=2, epsilon=1, delta="1e-6", counts=True)
            assert SECRET not in everywhere(alone.value)
            assert (alone.value.__cause__, alone.value.__context__) == (None, None)


def test_the_answer_is_not_in_the_frames_of_a_failed_settlement(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "PATIENCE", 0)
    with curator(table) as (asked, _):
        monkeypatch.setattr(Ledger, "settle", raising(LedgerUnavailable("gone")))
        with pytest.raises(QuestionForfeited) as caught:
            asked.top("article", k=2)
    assert not any("LimitedDomainCall" in text or "'a'" in text for text in frames(caught.value.__traceback__))


class Stop(BaseException):
    """Like KeyboardInterrupt: not an Exception."""


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, Stop])
@pytest.mark.parametrize(("owner", "name"), [(SqlSnapshot, "top_rows"), (LimitedDomain, "release"), (Ledger, "settle")])
def test_an_interrupted_question_is_forfeited(
    table: Path,
    kind: type[BaseException],
    owner: Any,
    name: str,
    everywhere: Everywhere,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        try:
            raising(ValueError(SECRET))()
        except ValueError:
            raise kind from None

    with curator(table) as (asked, _):
        monkeypatch.setattr(owner, name, interrupt)
        with pytest.raises(kind) as caught:
            asked.top("article", k=2)
        monkeypatch.undo()
        status = asked.status
        assert (status.failures, status.open_reservations) == (1, 0)
        assert status.spent.rho > 0
    assert caught.value.__notes__ == [interruption_note("views", status.spent.rho, status.spent.delta)]
    assert SECRET not in everywhere(caught.value, table.with_name("ledger.db"))
    with open_ledger(table.with_name("ledger.db")) as ledger:
        last = ledger.history("views")[-1]
        assert (last.kind, last.facts) == (Kind.FORFEITED, {"reason": Reason.FAILED.value})


def test_broken_entropy_is_reported_as_such(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not depend on rows, and the user of a single question must know."""
    with curator(table) as (_, source):
        monkeypatch.setattr(LimitedDomain, "release", raising(EntropyFailure("the bits repeat")))
        with pytest.raises(EntropyFailure, match="the bits repeat"):
            podium.top(source, item="article", user="user_id", k=2, epsilon=1, delta="1e-6")


def test_a_lost_reply_of_the_ledger_is_asked_for_again(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle = Ledger.settle
    calls: list[int] = []

    def unreliable(self: Ledger, *arguments: Any) -> Any:
        calls.append(1)
        entry = settle(self, *arguments)
        if len(calls) < 4:
            raise LedgerUnavailable("the reply was lost")
        return entry

    with curator(table) as (asked, _):
        monkeypatch.setattr(Ledger, "settle", unreliable)
        release = asked.top("article", k=2)
        assert release.items == ("a", "b")
        assert len(calls) == 4
        assert asked.status.failures == 0
        assert release.paid.entry == asked.status.head


def _then(error: BaseException) -> Callable[..., None]:
    """Settle, and fail just after."""
    settle = Ledger.settle

    def settled(self: Ledger, *arguments: Any) -> None:
        settle(self, *arguments)
        raise error

    return settled


@pytest.mark.parametrize("k", [2, 30])
def test_a_failure_after_the_answer_was_settled_does_not_lose_it(
    table: Path, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with curator(table) as (asked, source):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "settle", _then(RuntimeError(SECRET)))
            release = asked.top("article", k=k)
        status = asked.status
        assert (status.failures, status.open_reservations) == (0, 0)
        # The receipt says what was paid just now, as if the reply had come.
        assert (release.paid.entry, release.paid.events != ()) == (status.head, True)
        read = source.snapshots
        assert replace(asked.top("article", k=k), paid=release.paid) == release
        assert (asked.status, source.snapshots) == (status, read)


def test_an_interruption_after_the_answer_was_settled_says_that_it_is_stored(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with curator(table) as (asked, source):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "settle", _then(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt) as caught:
                asked.top("article", k=2)
        assert caught.value.__notes__ == [settlement_note("views")]
        assert not any("'a'" in text for text in frames(caught.value.__traceback__))
        assert asked.status.failures == 0
        again = asked.top("article", k=2)
        assert (again.items, again.paid.events, source.snapshots) == (("a", "b"), (), 1)


def test_a_ledger_that_stays_away_leaves_the_reservation_charged(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with curator(table) as (asked, _):
        monkeypatch.setattr(settle, "PATIENCE", 0)
        for name in ("settle", "forfeit"):
            monkeypatch.setattr(Ledger, name, raising(LedgerUnavailable("gone")))
        with pytest.raises(QuestionForfeited):
            asked.top("article", k=2)
        monkeypatch.undo()
        status = asked.status
        assert status.open_reservations == 1
        assert status.reserved.rho > 0
        assert status.spent.rho == 0


def test_a_released_answer_and_its_logs(table: Path, everywhere: Everywhere) -> None:
    """What comes out is in the release and in the ledger; nothing else is said, at any level."""
    with curator(table) as (asked, _):
        release = asked.top("article", k=2, where="country = 'DE'")
    heard = everywhere(PodiumError())
    assert release.items == ("a", "b")
    assert "article" not in heard
    assert "DE" not in heard


def test_the_ledger_holds_no_items_that_were_not_released(table: Path) -> None:
    with curator(table) as (asked, _):
        assert asked.top("country", k=1).items == ("DE",)
        assert asked.top("article", k=2).items == ("a", "b")
        assert asked.status.spent.rho > Fraction(0)
    with open_ledger(table.with_name("ledger.db")) as ledger:
        releases = [entry.release for entry in ledger.history("views") if entry.release]
    assert not any('"c"' in release for release in releases)

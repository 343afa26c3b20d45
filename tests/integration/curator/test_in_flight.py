"""The conditions under which questions may be in flight together (docs/proofs/concurrency.md), one by one.

A question is asked while another one reads: from inside the other's source, so nothing depends on how threads run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.tables import BUDGET, COUNTS, PURE, Watched, curator, events

from podium import Budget, Curator, Histogram, Release
from podium.curator import settle
from podium.errors import BudgetExceeded, InvalidArgument, QuestionForfeited, SourceFailure
from podium.ledger import Kind, Ledger, Status, open_ledger
from podium.mechanisms import ExponentialTopK, HybridTopK, LimitedDomain, SparseVector, TestedTopK
from podium.privacy import Cost, Limits, actual_cost, worst_case
from podium.randomness import BitSource
from podium.sources import CountQuery, Domain, Snapshot, open_source

DOMAIN = ["a", "b", "c"]
UNIT = Fraction(1, 2**64)
"""What the ledger may round up a cost by."""


class Busy(Watched):
    """A source during whose reading something else happens, once."""

    meanwhile: Callable[[], object] | None = None

    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[Snapshot]:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        return super().snapshot(query, domain=domain)


@contextmanager
def busy(path: Path, budget: Budget = BUDGET) -> Iterator[tuple[Curator, Busy, Ledger]]:
    with open_ledger(path.with_name("ledger.db")) as ledger:
        source = Busy(open_source(path))
        with Curator(source, dataset="views", user="user_id", ledger=ledger, budget=budget) as asked:
            yield asked, source, ledger
        source.close()


# 1. The worst case is reserved before a row is read or noise is drawn; open reservations count


@pytest.mark.parametrize("options", [{}, {"domain": DOMAIN}, {"counts": True}, {"mechanism": "adaptive"}])
def test_the_worst_case_is_charged_before_a_row_is_read_or_noise_is_drawn(
    table: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    charged: list[Cost] = []
    with busy(table) as (asked, source, ledger):

        def look() -> None:
            assert ledger.status("views").open_reservations == 1
            charged.append(ledger.status("views").reserved)

        def watched(module: str) -> None:
            drawing = sys.modules[f"podium.randomness.{module}"]
            source_of_bits: Callable[[], BitSource] = drawing.system_bits

            def asked_for() -> BitSource:
                look()
                return source_of_bits()

            monkeypatch.setattr(drawing, "system_bits", asked_for)

        for module in ("race", "choice", "noisy_values", "centred_gaussian", "discrete", "number"):
            watched(module)
        source.meanwhile = look
        worst = worst_case(asked.plan("article", k=2, **options).strategy.worst_case)
        assert charged == []
        asked.top("article", k=2, **options)
    assert len(charged) >= 2
    for cost in charged:
        assert worst.rho <= cost.rho <= worst.rho + UNIT
        assert cost.delta == worst.delta


def test_a_question_is_admitted_beside_what_others_have_reserved(table: Path) -> None:
    """Two questions that would each fit, and together do not: whoever comes second is refused, until the first ends."""
    with busy(table, PURE) as (asked, source, ledger):
        refused: list[BudgetExceeded] = []

        def second() -> None:
            assert ledger.status("views").remaining.epsilon == Fraction(2, 5)
            with pytest.raises(BudgetExceeded) as caught:
                asked.top("article", k=1, epsilon="0.41", domain=DOMAIN, where="flag = TRUE")
            refused.append(caught.value)
            assert asked.top("article", k=1, epsilon="0.4", domain=DOMAIN, where="flag = TRUE").complete

        source.meanwhile = second
        asked.top("article", k=1, epsilon="0.6", domain=DOMAIN)
        assert len(refused) == 1
        assert ledger.status("views").spent.epsilon == 1
        assert source.snapshots == 2


def test_the_limits_of_a_batch() -> None:
    limits = Limits(None, Fraction(3, 10), Fraction(0))
    held = Cost(epsilon=None, rho="1/10") + Cost(epsilon=None, rho="1/10")
    assert limits.excess(Cost(epsilon=None, rho="1/10"), held) is None
    held = held + Cost(epsilon=None, rho="1/10")
    assert limits.excess(Cost(epsilon=None, rho="1/1000"), held) is not None


# 2. What is settled follows from what is released; a run that dies forfeits


@pytest.mark.parametrize(
    "options", [{}, {"domain": DOMAIN}, {"counts": True}, {"mechanism": "adaptive", "counts": True}]
)
def test_what_is_settled_is_a_function_of_the_release(table: Path, options: dict[str, Any]) -> None:
    with busy(table) as (asked, _, ledger):
        asked.top("article", k=3, **options)
        reserved, settled = ledger.history("views")[-2:]
        assert (reserved.kind, settled.kind) == (Kind.RESERVED, Kind.SETTLED)
        told = actual_cost(Release.from_json(settled.release or "").paid.events)
        assert settled.cost is not None
        assert reserved.cost is not None
        assert told.rho <= settled.cost.rho <= told.rho + UNIT
        assert settled.cost.delta == told.delta
        assert settled.cost <= reserved.cost


def test_a_run_that_dies_beside_another_forfeits_and_the_other_goes_on(table: Path) -> None:
    with busy(table, PURE) as (asked, source, ledger):

        def dies() -> None:
            source.failure = SourceFailure()
            with pytest.raises(QuestionForfeited):
                asked.top("article", k=1, epsilon="0.3", domain=DOMAIN, where="flag = TRUE")
            source.failure = None

        source.meanwhile = dies
        assert asked.top("article", k=1, epsilon="0.6", domain=DOMAIN).complete
        assert ledger.status("views").spent.epsilon == Fraction(9, 10)
        with pytest.raises(BudgetExceeded):
            asked.top("article", k=1, epsilon="0.11", domain=DOMAIN, where="flag = FALSE")


# 3. Refusals look at history only


def test_a_question_in_flight_shows_nothing_before_it_is_settled(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others see of it after its noise was drawn is what they saw before its rows were read."""
    seen: list[tuple[Status, list[Kind]]] = []
    with busy(table) as (asked, source, ledger):

        def look() -> None:
            seen.append((ledger.status("views"), [entry.kind for entry in ledger.history("views")]))

        unwatched = settle.settle

        def settled(*arguments: Any) -> Release:
            look()
            return unwatched(*arguments)

        monkeypatch.setattr(settle, "settle", settled)
        source.meanwhile = look
        asked.top("article", k=2)
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert seen[0][1][-1] is Kind.RESERVED


def test_a_refusal_is_the_same_whatever_the_rows_are(tmp_path: Path) -> None:
    """The same history on very different tables: the same words, and no row is read for them."""
    told: list[str] = []
    for name, counts in {"many": COUNTS, "one more": {**COUNTS, "a": COUNTS["a"] + 1}, "none": {}}.items():
        folder = tmp_path / name
        folder.mkdir()
        with curator(events(folder / "views.parquet", counts), PURE) as (asked, source):
            # A known domain: what a pure selection costs does not depend on what it selects.
            asked.top("article", k=1, epsilon="0.7", domain=DOMAIN)
            read = source.snapshots
            for epsilon in ("0.31", "2"):
                with pytest.raises(BudgetExceeded) as caught:
                    asked.top("article", k=2, epsilon=epsilon, domain=DOMAIN)
                told.append(str(caught.value))
            assert source.snapshots == read
    assert len(set(told)) == 2


# 4. No secret state between steps


HIDDEN = [SparseVector(2, 2, 1), SparseVector(2, 2, 1, branches=3), HybridTopK(2, 3, 1), TestedTopK(2, 1)]


@pytest.mark.parametrize("mechanism", HIDDEN, ids=lambda mechanism: type(mechanism).__name__)
def test_a_mechanism_with_a_hidden_threshold_is_one_step(mechanism: Any) -> None:
    """One event, charged in rho as it was reserved, however much of it came out."""
    for counts in ({"a": 9, "b": 0, "c": 0}, {"a": 0, "b": 0, "c": 0}):
        release = mechanism.release(Histogram(counts))
        assert len(release.paid.events) == len(mechanism.worst_case) == 1
        assert actual_cost(release.paid.events).rho == worst_case(mechanism.worst_case).rho


def test_an_open_session_is_charged_whole_from_its_first_answer() -> None:
    session = SparseVector(2, 3, 1).open()
    reserved = worst_case(SparseVector(2, 3, 1).worst_case)
    for value in (0, 100, 0):
        assert actual_cost(session.paid.events).rho == reserved.rho
        session.ask(value)


@pytest.mark.parametrize("mechanism", [*HIDDEN, LimitedDomain(2, 3, 1, "0.01"), ExponentialTopK(2, 1)])
def test_a_mechanism_keeps_nothing_of_a_release(mechanism: Any) -> None:
    before = repr(mechanism)
    mechanism.release(Histogram({"a": 9, "b": 5, "c": 0}))
    assert repr(mechanism) == before
    with pytest.raises((AttributeError, TypeError)):
        mechanism.threshold_drawn = 1
    assert not hasattr(mechanism, "__dict__")


# 5. Retries never draw again under an old reservation


def test_a_retry_never_draws_again_under_an_old_reservation(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[str] = []
    release = LimitedDomain.release

    def drawn(self: LimitedDomain, *arguments: Any, **options: Any) -> Release:
        draws.append("drawn")
        return release(self, *arguments, **options)

    monkeypatch.setattr(LimitedDomain, "release", drawn)
    with busy(table) as (asked, source, ledger):
        first = asked.top("article", k=2, idempotency_key="one")
        stored = [entry.release for entry in ledger.history("views")]
        again = asked.top("article", k=2, idempotency_key="one")
        assert replace(again, paid=first.paid) == first
        assert len(draws) == 1

        source.failure = SourceFailure()
        with pytest.raises(QuestionForfeited):
            asked.top("article", k=3, mechanism="limited-domain", idempotency_key="two")
        source.failure = None
        charged = ledger.status("views").spent
        with pytest.raises(InvalidArgument, match="idempotency_key='two' is not valid"):
            asked.top("article", k=3, mechanism="limited-domain", idempotency_key="two")
        assert len(draws) == 1
        assert ledger.status("views").spent == charged

        asked.top("article", k=3, mechanism="limited-domain", idempotency_key="three")
        kinds = [entry.kind for entry in ledger.history("views")]
        assert kinds.count(Kind.RESERVED) == 3
        assert kinds.count(Kind.SETTLED) == len(draws) == 2
        assert [entry.release for entry in ledger.history("views")][: len(stored)] == stored
        assert ledger.verify().sound

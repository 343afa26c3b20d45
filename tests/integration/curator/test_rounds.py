"""Long lists of unknown items are found in rounds: what comes out, what is charged for it, and what if it fails."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator import workers
from tests.support.curator.tables import BUDGET, Watched, curator, tables_of_all_sizes
from tests.support.postgres import new_table
from tests.support.processes import context

import podium
from podium import Budget, Curator, Release
from podium.errors import BudgetExceeded, InvalidArgument, QuestionForfeited, SourceFailure
from podium.exact import exact_fraction
from podium.histogram import Item
from podium.ledger import Kind, Reason, open_ledger
from podium.privacy import CorrelatedNoise, GaussianNoise, HiddenItems, best_bound, worst_case
from podium.sources import CountQuery, Domain, KeptPairs, open_source
from podium.sources.duckdb.connection import DuckDBSession

ITEMS = {f"item {number:02}": 410 - 8 * number for number in range(40)}
PAIRS = [((7 * place + user) % 500, item) for place, (item, count) in enumerate(ITEMS.items()) for user in range(count)]
"""Users have from 1 to 40 items each, so rounds that weigh users by that have something to get wrong."""
SURE: dict[str, Any] = {"epsilon": 10**6, "delta": "1e-6"}
"""A budget at which noise is next to nothing: each count is within 0.5 but with probability below 1e-9."""
GENEROUS = Budget(epsilon=1000, delta="1e-6", items=200, questions=20)
"""Enough to find more than was asked for, so that there is a border to measure."""
UNIT = Fraction(1, 2**64)
"""What the ledger may round up a cost by."""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "views.parquet"
    users, items = (list(column) for column in zip(*PAIRS, strict=True))
    pq.write_table(pa.table({"user_id": users, "article": items, "country": ["DE"] * len(users)}), path)
    return path


@pytest.fixture
def both(long: Path, tmp_path: Path) -> Iterator[tuple[Curator, Watched]]:
    source = Watched(open_source(long))
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=GENEROUS) as asked:
        yield asked, source
    source.close()


def counted(release: Release) -> dict[Any, int]:
    assert release.value_kind == "counts"
    return {item: round(value) for item, value in zip(release.items, release.values or (), strict=True)}


def best(k: int) -> dict[str, int]:
    return dict(list(ITEMS.items())[:k])


@pytest.fixture(params=["duckdb", "postgresql", "sqlite"])
def engine(request: pytest.FixtureRequest, long: Path, tmp_path: Path) -> Iterator[tuple[object, str | None]]:
    """The same rows on an engine: what to open, and which table."""
    if request.param == "duckdb":
        yield long, None
    elif request.param == "sqlite":
        with closing(sqlite3.connect(tmp_path / "views.db")) as file, file:
            file.execute("CREATE TABLE views (user_id BIGINT, article TEXT)")
            file.executemany("INSERT INTO views VALUES (?, ?)", PAIRS)
        yield f"sqlite:///{tmp_path / 'views.db'}", "views"
    else:
        with new_table("views", "user_id bigint, article text", PAIRS) as url:
            yield url, "views"


def test_without_noise_it_is_the_true_list_on_every_engine(engine: tuple[object, str | None]) -> None:
    source, table = engine
    options: dict[str, Any] = {"item": "article", "user": "user_id", "table": table, "k": 15, **SURE}
    release = podium.top(source, counts=True, **options)
    assert release.mechanism == "AdaptiveTopK"
    assert counted(release) == best(15)
    assert set(podium.top(source, **options).items) == set(best(15))


def test_a_known_domain_has_rounds_on_request_on_every_engine(engine: tuple[object, str | None]) -> None:
    source, table = engine
    domain = [*ITEMS, *(f"unseen {number}" for number in range(9))]
    options: dict[str, Any] = {"item": "article", "user": "user_id", "table": table, "domain": domain, **SURE}
    release = podium.top(source, counts=True, k=15, mechanism="adaptive", **options)
    assert release.mechanism == "RefinedTopK"
    assert counted(release) == best(15)
    # All k places are filled, the last ones by items that nobody has.
    everything = podium.top(source, k=49, mechanism="adaptive", **options)
    assert set(everything.items) == set(domain)
    assert everything.complete


def test_rounds_of_a_known_domain_in_a_ledger(both: tuple[Curator, Watched]) -> None:
    asked, _ = both
    options: dict[str, Any] = {"k": 20, "mechanism": "adaptive", "domain": list(ITEMS), "counts": True}
    reserved = worst_case(asked.plan("article", **options).strategy.worst_case)
    release = asked.top("article", **options)
    assert (release.mechanism, len(release.items), reserved.delta) == ("RefinedTopK", 20, Fraction(0))
    spent = asked.status.spent
    assert release.paid.rho <= spent.rho <= min(release.paid.rho, reserved.rho) + UNIT
    assert asked.top("article", **options).paid.events == ()
    # Who leaves the mechanism open asks another question, which is answered in rounds as well.
    again = asked.top("article", **{**options, "mechanism": "auto"})
    assert (again.mechanism, bool(again.paid.events)) == ("RefinedTopK", True)


@pytest.mark.parametrize("options", [{}, {"counts": True}, {"max_items_per_user": 5}, {"epsilon": 99}])
def test_what_is_paid_is_within_what_was_reserved(both: tuple[Curator, Watched], options: dict[str, Any]) -> None:
    asked, source = both
    plan = asked.plan("article", k=20, **options).strategy
    reserved = worst_case(plan.worst_case)
    assert source.snapshots == 0
    release = asked.top("article", k=20, **options)
    assert release.guarantee == plan.guarantee
    assert len(set(release.items) & set(ITEMS)) == len(release.items) == 20
    noise = [event for event in release.paid.events if isinstance(event, GaussianNoise | CorrelatedNoise)]
    hidden = [event for event in release.paid.events if isinstance(event, HiddenItems)]
    assert len(noise) + len(hidden) == len(release.paid.events)
    # Exact rationals: the rounds add up to what they were told they may use, never more.
    assert sum(event.rho for event in noise) <= reserved.rho
    assert release.paid.delta <= reserved.delta
    spent = asked.status.spent
    assert release.paid.rho <= spent.rho <= release.paid.rho + UNIT
    assert spent.rho <= reserved.rho + UNIT
    assert spent.delta == release.paid.delta > 0
    assert asked.status.open_reservations == 0


def test_the_ledger_adds_up_receipts(both: tuple[Curator, Watched]) -> None:
    asked, _ = both
    releases = [asked.top("article", k=20, where=f"user_id <> {1000 + number}") for number in range(3)]
    paid = sum((release.paid.rho for release in releases), start=Fraction(0))
    assert paid <= asked.status.spent.rho <= paid + 3 * UNIT
    assert asked.status.spent.delta == sum(release.paid.delta for release in releases)
    assert asked.status.questions_asked == 3


def test_rounds_cost_what_as_many_selections_would(both: tuple[Curator, Watched]) -> None:
    asked, _ = both
    rounds, in_turn = (
        worst_case(asked.plan("article", k=20, mechanism=name).strategy.worst_case)
        for name in ("adaptive", "limited-domain")
    )
    assert abs(rounds.rho - in_turn.rho) <= in_turn.rho / 10**6
    assert rounds.delta == in_turn.delta


def test_an_epsilon_of_its_own(both: tuple[Curator, Watched]) -> None:
    asked, _ = both
    call = asked.status.totals.delta_per_call
    delta = 2 * call / (1 + call)
    for counts in (False, True):
        plan = asked.plan("article", k=20, epsilon="1.5", counts=counts).strategy
        assert best_bound(plan.worst_case, delta).epsilon <= exact_fraction("1.5", "epsilon")
        assert worst_case(plan.worst_case).delta == delta / 2


def test_a_budget_that_is_too_small_for_all_rounds(table: Path) -> None:
    with curator(table, BUDGET) as (asked, source):
        before = asked.status
        with pytest.raises(BudgetExceeded) as caught:
            asked.top("article", k=300)
        assert asked.status == before
        assert source.snapshots == 0
    assert str(caught.value) == (
        "This answer may cost 150 % of the budget of 'views', and 100 % is left. Ask for fewer items, "
        "lower epsilon, or ask the owner to raise the total; 'podium budget show views' lists what was spent."
    )


@pytest.mark.parametrize("options", [{}, {"counts": True}, {"epsilon": 99}])
def test_asking_again_is_free_and_so_is_a_shorter_list(both: tuple[Curator, Watched], options: dict[str, Any]) -> None:
    asked, source = both
    first = asked.top("article", k=20, **options)
    after, read = asked.status, source.snapshots
    again = asked.top("article", k=20, **options)
    shorter = asked.top("article", k=15, **options)
    assert (again.outcome, again.values, again.paid.events) == (first.outcome, first.values, ())
    assert (shorter.outcome, shorter.k, shorter.paid.events) == (first.items[:15], 15, ())
    assert shorter.values == (None if first.values is None else first.values[:15])
    assert (asked.status, source.snapshots) == (after, read)
    # A short list would be answered by another mechanism; that is not what was asked for, so it is free too.
    assert asked.top("article", k=10, **options).paid.events == ()
    assert (asked.status, source.snapshots) == (after, read)
    assert asked.top("article", k=20, mechanism="limited-domain", **options).paid.events != ()


def test_all_rounds_cut_users_by_one_salt(both: tuple[Curator, Watched]) -> None:
    asked, source = both
    salts = []
    for number in range(2):
        before = len(source.rounds)
        asked.top("article", k=20, max_items_per_user=5, where=f"user_id <> {1000 + number}")
        assert source.snapshots == number + 1
        weighted = [query for query in source.rounds[before:] if isinstance(query, CountQuery)]
        assert {query.max_items_per_user for query in weighted} == {5}
        assert {query.where for query in weighted} == {source.readings[-1].where}
        salts.append({query.salt for query in weighted})
    assert [len(some) for some in salts] == [1, 1]
    assert salts[0] != salts[1]


def test_a_bound_is_for_finding_only(long: Path) -> None:
    """Items that are found are measured among each other, where users are weighed and need no cut."""
    # With ten items of each user no item is found with a third of the users that it should have (below 1e-9).
    release = podium.top(long, item="article", user="user_id", k=15, max_items_per_user=10, counts=True, **SURE)
    assert counted(release) == best(15)


def test_the_first_round_that_is_shown_is_the_one_that_is_sent(
    both: tuple[Curator, Watched], long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    keep = DuckDBSession.keep

    def listening(self: DuckDBSession, table: str, query: Any, **how: Any) -> None:
        sent.append(query.sql("duckdb"))
        keep(self, table, query, **how)

    monkeypatch.setattr(DuckDBSession, "keep", listening)
    asked, source = both
    shown = asked.plan("article", k=20, where="country = 'DE'")
    assert sent == []
    asked.top("article", k=20, where="country = 'DE'")
    (salt,) = {query.salt for query in source.rounds if isinstance(query, CountQuery)}
    assert salt is not None
    place = f"READ_PARQUET('{long}')"
    assert place in sent[0]
    assert shown.queries[0].endswith(sent[0].replace(place, '"views"'))
    # What is shown of the first round is what was sent, but for the numbers of the tables.
    assert shown.queries[1].endswith(sent[1].replace(salt, "0" * 32))
    assert not any(place in query for query in sent[1:])


# What the table holds


@pytest.mark.parametrize("options", [{}, {"counts": True}, {"max_items_per_user": 2}])
def test_fewer_items_than_asked_for_is_an_ordinary_paid_release(tmp_path: Path, options: dict[str, Any]) -> None:
    shapes = []
    for _, sure, path in tables_of_all_sizes(tmp_path):
        with curator(path) as (asked, source):
            release = asked.top("article", k=20, **options)
            assert len(release.items) == sure
            assert not release.complete
            assert 0 < release.paid.rho <= asked.status.spent.rho
            assert 0 < release.paid.delta == asked.status.spent.delta
            read = source.snapshots
            again = asked.top("article", k=20, **options)
            assert (again.outcome, again.values, again.paid.events) == (release.outcome, release.values, ())
            assert source.snapshots == read
        fixed = {name: value for name, value in release.parameters.items() if not name.startswith("count_")}
        # The noise on counts depends on how many there are, which the list says.
        assert release.parameters.get("count_items", "0") == str(len(release.values or ()))
        shapes.append((release.mechanism, release.k, fixed, release.guarantee, release.value_kind))
        assert Release.from_json(release.to_json()).outcome == release.outcome
    assert shapes == shapes[:1] * 4


def test_items_of_several_columns_and_of_lists() -> None:
    users = [user for user, _ in PAIRS]
    frame = pa.table(
        {
            "user_id": users,
            "article": [item for _, item in PAIRS],
            "country": ["DE" if user % 2 else "FR" for user in users],
            "tags": [[item, f"{item}!"] for _, item in PAIRS],
        }
    )
    options: dict[str, Any] = {"user": "user_id", "counts": True, **SURE}
    true: dict[Any, int] = {}
    for user, item in set(PAIRS):
        for key in ((item, "DE" if user % 2 else "FR"), item, f"{item}!"):
            true[key] = true.get(key, 0) + 1
    several = counted(podium.top(frame, item=["article", "country"], k=12, **options))
    lists = counted(podium.top(frame, item="tags", k=12, **options))
    assert several.items() <= true.items()
    assert min(several.values()) >= sorted((n for key, n in true.items() if isinstance(key, tuple)), reverse=True)[11]
    assert lists == {f"{item}{mark}": count for item, count in best(6).items() for mark in ("", "!")}


def test_a_long_list_needs_a_delta(long: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        podium.top(long, item="article", user="user_id", k=20, epsilon=1)
    assert str(caught.value) == (
        "delta=0 is not valid. Allowed: a number with 0 < value < 1. Delta is the probability that the bound "
        "of epsilon fails. Unless the items are known (--domain), it must be above 0, and well below one over the "
        "number of users: such as 1e-6."
    )


# Failures


class Breaking(Watched):
    """A source that fails when it is read for the n-th time."""

    def __init__(self, source: Any, breaks_at: int) -> None:
        super().__init__(source)
        self.breaks_at = breaks_at

    @property
    def steps(self) -> int:
        return len(self.readings) + len(self.rounds)

    def keep_pairs(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[KeptPairs]:
        if self.breaks_at == 1:
            self.failure = SourceFailure()
        return super().keep_pairs(query, domain=domain)

    def note_round(self, what: CountQuery | tuple[Item, ...]) -> None:
        if self.steps + 1 == self.breaks_at:
            self.failure = SourceFailure()
        super().note_round(what)


@pytest.mark.parametrize("breaks_at", [1, 2, 3])
def test_a_failure_in_any_round_forfeits_all_of_them(long: Path, tmp_path: Path, breaks_at: int) -> None:
    source = Breaking(open_source(long), breaks_at)
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=GENEROUS) as asked:
        reserved = worst_case(asked.plan("article", k=20).strategy.worst_case)
        with pytest.raises(QuestionForfeited) as caught:
            asked.top("article", k=20)
        assert not any(item in str(caught.value) for item in ITEMS)
        assert source.steps == breaks_at
        assert reserved.rho <= asked.status.spent.rho <= reserved.rho + UNIT
        assert asked.status.spent.delta == reserved.delta
        assert asked.status.failures == 1
    source.close()


@pytest.mark.parametrize(
    "step", ["after reserving", "after naming", "after measuring its sizes", "after all rounds", "after settling"]
)
def test_kill_9_between_rounds(long: Path, tmp_path: Path, step: str) -> None:
    table = tmp_path / "views.parquet"
    table.write_bytes(long.read_bytes())
    with curator(table, GENEROUS) as (asked, _):
        reserved = worst_case(asked.plan("article", k=20, counts=True).strategy.worst_case)
    killed = context().Process(target=workers.ask, args=(table, step), kwargs={"known": False, "k": 20})
    killed.start()
    killed.join(timeout=120)
    assert killed.exitcode == -signal.SIGKILL
    assert not table.with_name("answer.json").exists()
    settled = step == "after settling"
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        status, last = ledger.status("views"), ledger.history("views")[-1]
        assert status.open_reservations == 0
        if settled:
            assert last.kind is Kind.SETTLED
            assert 0 < status.spent.rho <= reserved.rho + UNIT
        else:
            assert (last.kind, last.facts) == (Kind.FORFEITED, {"reason": Reason.CRASHED.value})
            assert reserved.rho <= status.spent.rho <= reserved.rho + UNIT
            assert status.spent.delta == reserved.delta
    with curator(table, GENEROUS) as (asked, source):
        again = asked.top("article", k=20, counts=True)
        assert (again.paid.events == ()) is (source.snapshots == 0) is settled
        assert counted(again).keys() == best(20).keys()

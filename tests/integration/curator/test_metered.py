"""Every way to ask, against a meter at the source and at the noise: each read is noised, each draw is paid, exactly.

``tests.metering`` prices what was in fact drawn; the receipt must have those events and no others, and a ledger must
charge their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator import monitoring
from tests.support.metering.meter import Meter, MeteredSource
from tests.support.metering.prices import Due, Facts, check_links, check_receipt, due

import podium
from podium import Budget, Curator
from podium.ledger import open_ledger
from podium.privacy.rounding import above
from podium.release import Receipt, Release
from podium.sources import open_source

ITEMS = {number: 410 - 8 * number for number in range(40)}
PAIRS = [((7 * item + user) % 500, item) for item, count in ITEMS.items() for user in range(count)]
"""Neighbouring items differ by few users, who have from 1 to 40 items each: there is a border to measure."""
GENEROUS = Budget(epsilon=1000, delta="1e-6", items=200, questions=20)
PURE = Budget(epsilon=10, items=20, questions=10)
DOMAIN: dict[str, Any] = {"domain_size": 100}
K_BAR = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("metered") / "views.parquet"
    users, items = (list(column) for column in zip(*PAIRS, strict=True))
    pq.write_table(pa.table({"user_id": users, "article": items}), path)
    return path


@contextmanager
def opened(path: Path, monkeypatch: pytest.MonkeyPatch, seed: int = 1) -> Iterator[MeteredSource]:
    source = MeteredSource(Meter.install(monkeypatch, seed=seed), open_source(path))
    try:
        yield source
    finally:
        source.close()


LIMITED: dict[str, Any] = {"k": 5, "k_bar": K_BAR}
ROUNDS = {"counts_of_counts", "names", "sizes", "sums"}
TALLIES = {"counts_of_counts", "names"}
WAYS: list[tuple[dict[str, Any], str, set[str]]] = [
    (LIMITED, "LimitedDomain", {"top_rows"}),
    ({**LIMITED, "max_items_per_user": 3}, "LimitedDomain", {"top_rows"}),
    ({**LIMITED, "counts": True}, "LimitedDomain", {"top_rows"}),
    ({"k": 20, "mechanism": "adaptive"}, "AdaptiveTopK", ROUNDS),
    ({"k": 20, "counts": True}, "AdaptiveTopK", ROUNDS),
    ({"k": 20, "mechanism": "adaptive", "max_items_per_user": 5}, "AdaptiveTopK", ROUNDS),
    ({**DOMAIN, "k": 1}, "RisingTopK", TALLIES),
    ({**DOMAIN, "k": 1, "max_items_per_user": 3}, "RisingTopK", TALLIES),
    ({**DOMAIN, "k": 3, "counts": True}, "ExponentialTopK", TALLIES),
    ({**DOMAIN, "k": 1, "delta": 0}, "NoisyTopK", TALLIES),
    ({**DOMAIN, "k": 5, "delta": 0, "counts": True}, "NoisyTopK", TALLIES),
]
ONE_SHOT: list[tuple[dict[str, Any], str, set[str]]] = [
    ({**DOMAIN, "k": 5}, "SizedKnownTopK", {*TALLIES, "sizes"}),
    ({**DOMAIN, "k": 5, "max_items_per_user": 3}, "SizedKnownTopK", {*TALLIES, "sizes"}),
    ({**DOMAIN, "k": 30}, "SizedKnownTopK", {*TALLIES, "sizes"}),
    ({**DOMAIN, "k": 5, "delta": 0}, "SizedKnownTopK", {*TALLIES, "sizes"}),
    ({**DOMAIN, "k": 5, "counts": True}, "RefinedTopK", ROUNDS),
    ({**DOMAIN, "k": 5, "max_items_per_user": 1}, "SharedVoteTopK", TALLIES),
]
"""What a question with a budget of its own does, and a ledger does not."""


def facts_of(options: dict[str, Any]) -> Facts:
    """Unless users are bounded, every row that competes may change with one of them."""
    # A gap is computed from the counts that were read.
    gap = "domain_size" in options and 3 < options["k"] <= 10 and "counts" not in options
    return Facts(changing=min(K_BAR, options.get("max_items_per_user", K_BAR)), derived=gap)


def check(source: MeteredSource, release: Release, facts: Facts) -> list[Due]:
    """The receipt is what was drawn since the meter was installed, and every number that was read went into it."""
    owed = due(source.meter, facts)
    check_receipt(release.paid, owed)
    check_links(source.meter, facts)
    return owed


@pytest.mark.parametrize(("options", "mechanism", "reads"), [*WAYS, *ONE_SHOT])
@pytest.mark.parametrize("epsilon", ["1/2", 50])
def test_one_question_pays_what_it_drew(
    made: Path, options: dict[str, Any], mechanism: str, reads: set[str], epsilon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(made, monkeypatch) as source:
        asked = {"delta": "1e-6", **options}
        release = podium.top(source, item="article", user="user_id", epsilon=epsilon, **asked)
    assert release.mechanism == mechanism
    check(source, release, facts_of(options))
    if epsilon == 50:
        assert {read.what for read in source.meter.reads} == reads
        assert release.complete


def test_a_list_that_ends_at_a_wide_gap_asks_nothing_else(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**DOMAIN, "k": 5}
    with opened(made, monkeypatch, seed=3) as source:
        release = podium.top(source, item="article", user="user_id", epsilon=50, delta="1e-6", **options)
    check(source, release, facts_of(options))
    assert {read.what for read in source.meter.reads} == TALLIES
    assert release.complete


def charged(asked: Curator) -> tuple[Fraction, Fraction]:
    spent = asked.status.spent
    return spent.rho, spent.delta


@pytest.mark.parametrize(
    ("options", "reads"), [(options, reads) for options, _, reads in WAYS if "delta" not in options]
)
def test_a_ledger_charges_what_was_drawn(
    made: Path, tmp_path: Path, options: dict[str, Any], reads: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(made, monkeypatch) as source, curator(source, tmp_path, GENEROUS) as asked:
        release = asked.top("article", **options)
        owed = check(source, release, facts_of(options))
        assert {read.what for read in source.meter.reads} == reads
        assert charged(asked) == (above(sum((owing.rho for owing in owed), start=Fraction(0))), release.paid.delta)
        # Told again: nothing is read or drawn, and nothing is paid.
        entries = len(source.meter.log)
        again = asked.top("article", **options)
        assert (again.outcome, again.values, again.paid.events) == (release.outcome, release.values, ())
        assert len(source.meter.log) == entries


@pytest.mark.parametrize("counts", [False, True])
def test_a_pure_ledger_charges_what_was_drawn(
    made: Path, tmp_path: Path, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(made, monkeypatch) as source, curator(source, tmp_path, PURE) as asked:
        release = asked.top("article", k=5, counts=counts, **DOMAIN)
        owed = check(source, release, Facts())
        assert asked.status.spent.epsilon == sum((owing.epsilon for owing in owed), start=Fraction(0))


@contextmanager
def curator(source: MeteredSource, folder: Path, budget: Budget) -> Iterator[Curator]:
    with Curator(source, dataset="views", user="user_id", ledger=folder / "ledger.db", budget=budget) as asked:
        yield asked


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, "1e-6"), (1000, 0)])
def test_a_set_pays_for_its_test_and_its_choice_at_once(
    made: Path, epsilon: int, delta: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(made, monkeypatch) as source:
        release = podium.top(
            source, item="article", user="user_id", k=5, epsilon=epsilon, delta=delta, ordered=False, **DOMAIN
        )
    assert [draw.what for draw in source.meter.draws][:2] == ["fresh_salt", "choose"]
    assert len(source.meter.draws) > 2
    assert release.mechanism == "TestedTopK"
    kind = "ApproximateMechanism" if delta else "PureMechanism"
    whole = Fraction(epsilon)
    check_receipt(release.paid, [Due(kind=kind, epsilon=whole, rho=whole**2 / 2, delta=Fraction(delta))])
    check_links(source.meter, Facts(derived=True))


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [(user, better, worse) for user in range(200) for better, worse in [("a", "b"), ("b", "c"), ("a", "c")]]
    path = tmp_path_factory.mktemp("votes") / "votes.parquet"
    names = ("user_id", "better", "worse")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


@pytest.mark.parametrize("method", ["spectral", "borda", "wins"])
@pytest.mark.parametrize(
    ("mechanism", "delta"), [("exponential", "1e-6"), ("noisy", 0), (None, 0), ("auto", 0), ("auto", "1e-6")]
)
def test_a_ranking_pays_what_it_drew(
    votes: Path, method: str, mechanism: str | None, delta: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(votes, monkeypatch) as source:
        release = podium.rank(
            source, winner="better", loser="worse", user="user_id", items=("a", "b", "c"), comparisons_per_pair=100,
            k=2, epsilon=1, delta=delta, method=method, mechanism=mechanism or "auto", ordered=mechanism is not None,
            max_comparisons_per_user=2,
        )  # fmt: skip
    rises, falls = (Fraction(release.parameters[name]) for name in ("rises_by", "falls_by"))
    check(source, release, Facts(span=rises + falls, derived=True))
    assert [read.what for read in source.meter.reads] == ["top_rows"]


def test_a_ranking_in_a_ledger_pays_what_it_drew(votes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(votes, monkeypatch) as source, curator(source, tmp_path, GENEROUS) as asked:
        release = asked.rank(
            winner="better", loser="worse", items=("a", "b", "c"), comparisons_per_pair=100, k=2, method="borda"
        )
        assert isinstance(release, Release)
        rises, falls = (Fraction(release.parameters[name]) for name in ("rises_by", "falls_by"))
        owed = check(source, release, Facts(span=rises + falls, derived=True))
        assert charged(asked) == (above(sum((owing.rho for owing in owed), start=Fraction(0))), Fraction(0))


def test_a_schedule_pays_for_finding_and_for_every_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = monitoring.events(tmp_path / "events.parquet")
    with (
        opened(table, monkeypatch) as source,
        monitoring.monitor(source, ledger=tmp_path / "ledger.db", periods=4, rediscover=2) as watching,
    ):
        releases = list(watching.run())
    assert len(releases) == 4
    events = tuple(event for release in releases for event in release.paid.events)
    owed = due(source.meter, Facts())
    check_receipt(Receipt(events), owed)
    check_links(source.meter, Facts())
    assert [draw.what for draw in source.meter.draws].count("race_above") == 2
    assert [draw.what for draw in source.meter.draws].count("race") == 4
    with open_ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.status("daily").spent.rho == sum(above(_rho(owed[start:stop])) for start, stop in _steps(owed))


def _rho(owed: list[Due]) -> Fraction:
    return sum((owing.rho for owing in owed), start=Fraction(0))


def _steps(owed: list[Due]) -> list[tuple[int, int]]:
    """Where each question begins and ends: a round of finding is two events, a list is three selections."""
    bounds, at = [], 0
    while at < len(owed):
        size = 2 if owed[at].kind == "GaussianNoise" else 3
        bounds.append((at, at + size))
        at += size
    return bounds

"""The papers' results: the numbers behind them, a whole run on tiny settings, and the page that shows a real run."""

import io
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from reproduce import data, joint, running, sparse, topk
from reproduce.__main__ import main, run
from reproduce.canonical import STUDY as CANONICAL
from reproduce.curves import interval
from reproduce.families import FAMILIES, draw, log_cdf, log_survival
from reproduce.output import page, read_claims, read_figures, write_page
from reproduce.running import NAMES, load, measure, modules_of
from reproduce.study import Measured, Mode, Verdict
from reproduce.thresholds import Sparse
from rich.console import Console

from podium.histogram import Histogram
from podium.mechanisms import CanonicalTopK, ExponentialTopK, NoisyTopK, SparseVector

ROOT = Path(__file__).parents[2]
COUNTS = (9, 7, 6, 3, 1)
X = np.array(COUNTS, dtype=np.float64)
HISTOGRAM = Histogram(dict(zip("abcde", COUNTS, strict=True)))
RUNS = 40_000
NEEDED = tuple(dict.fromkeys(name for study in NAMES for name in load(study).data))
WITHOUT_DATA = ("accounting", "privacy", "zipf")


def _silent() -> Console:
    return Console(file=io.StringIO(), width=300)


def _printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_canonical_probabilities_are_those_of_the_mechanism(gamma: float) -> None:
    law = CanonicalTopK(2, "0.5", gamma=gamma).distribution(HISTOGRAM)
    found = topk.canonical(X, 2, 0.5, gamma)
    assert found["TOP"] == pytest.approx(law[frozenset("ab")], rel=1e-12)
    # Good: a is there, and nothing beyond rank 3.
    assert found["GOOD"] == pytest.approx(law[frozenset("ab")] + law[frozenset("ac")], rel=1e-12)


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_canonical_goals_against_every_subset(gamma: float) -> None:
    x = np.array([30, 25, 22, 20, 19, 17, 15, 14, 13, 12, 11, 9, 7], dtype=np.float64)
    k, weights, total = 10, Counter[str](), 0.0
    for chosen in itertools.combinations(range(len(x)), k):
        lowest = x[chosen[-1]]
        missed = max(x[i] for i in range(len(x)) if i not in chosen)
        weight = float(np.exp(0.3 * (gamma * lowest - (1 - gamma) * max(lowest, missed))))
        total += weight
        for name in topk.GOALS:
            goal = topk.goal(name, k)
            if set(range(goal.head)) <= set(chosen) and chosen[-1] < goal.tail:
                weights[name] += weight  # type: ignore[assignment]
    expected = {name: weights[name] / total for name in topk.GOALS}
    assert topk.canonical(x, k, 0.3, gamma) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_top_probability_and_race_agree_with_the_mechanisms_law(family: str) -> None:
    law = NoisyTopK(2, "1.2", noise=family, gaps=False).distribution(HISTOGRAM)  # type: ignore[arg-type]
    true = sum(chance for outcome, chance in law.items() if set(outcome) == set("ab"))
    assert topk.top_probability(X, 2, 1.2, family) == pytest.approx(true, abs=2e-4)
    hits = topk.race(X, 2, 1.2, family, runs=RUNS, rng=np.random.default_rng(1))["TOP"]
    assert hits == pytest.approx(RUNS * true, abs=6 * (RUNS * true * (1 - true)) ** 0.5)


def test_peeling_is_a_race_with_gumbel_noise() -> None:
    law = ExponentialTopK(2, "0.6").distribution(HISTOGRAM)
    true = sum(chance for outcome, chance in law.items() if set(outcome) == set("ab"))
    assert topk.top_probability(X, 2, 1.2, "gumbel") == pytest.approx(true, abs=2e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_distribution_functions_belong_to_the_samplers(family: str) -> None:
    sample = draw(family, np.random.default_rng(2), (RUNS,))
    for level in (0.3, 1.0, 2.5):
        at = np.array([level])
        share = float(np.exp(log_cdf(family, at))[0])
        assert share + float(np.exp(log_survival(family, at))[0]) == pytest.approx(1.0, abs=1e-12)
        assert np.count_nonzero(sample <= level) == pytest.approx(
            RUNS * share, abs=6 * (RUNS * share * (1 - share)) ** 0.5
        )


def test_budget_finds_where_a_probability_is_reached() -> None:
    assert topk.budget(lambda epsilon: min(1.0, epsilon / 8), reach=0.5, start=1.0) == pytest.approx(4.0, rel=2e-4)


@pytest.mark.parametrize("adaptive", [False, True])
def test_simulated_sparse_vector_has_the_law_of_the_mechanism(adaptive: bool) -> None:
    # Three answers are paid for and there are three items, so the order in which they are asked does not matter.
    counts = {"a": 6, "b": 2, "c": 0}
    law = SparseVector(3, 3, 3, adaptive=adaptive, noise="laplace").distribution(Histogram(counts))
    expected: dict[tuple[int, ...], float] = {}
    for outcome, chance in law.items():
        branches = tuple(sorted(found[1] for found in outcome))  # type: ignore[index]
        expected[branches] = expected.get(branches, 0.0) + chance
    sparse = Sparse(3, 3.0, adaptive=adaptive, noise="laplace")
    rng, values = np.random.default_rng(3), np.array(list(counts.values()), dtype=np.float64)
    seen = Counter(tuple(sorted(sparse.run(values, 3.0, rng).branches.tolist())) for _ in range(10_000))
    assert set(seen) <= set(expected)
    for branches, chance in expected.items():
        assert seen[branches] == pytest.approx(10_000 * chance, abs=6 * (10_000 * chance * (1 - chance)) ** 0.5 + 1)


def test_sparse_vector_stops_when_its_budget_is_spent() -> None:
    sure = np.full(50, 1e6)
    rng = np.random.default_rng(4)
    for adaptive, most in ((False, 5), (True, 9)):
        sparse = Sparse(5, 1.0, adaptive=adaptive, noise="laplace")
        answers = sparse.run(sure, 0.0, rng)
        # Cheap answers cost half; the last one must leave enough for a full one.
        assert len(answers.items) == most
        assert sparse.spent(answers) <= 1.0 + 1e-9


def test_interval_covers_and_has_ends() -> None:
    assert interval(0, 10)[0] == 0.0
    assert interval(10, 10)[1] == 1.0
    low, high = interval(500, 1000)
    assert 0.45 < low < 0.5 < high < 0.55


def test_results_depend_on_the_modules_that_compute_them() -> None:
    assert modules_of("zipf") == {"zipf", "topk", "curves", "families", "data"}
    assert modules_of("joint") == {"joint", "data"}
    assert modules_of("accounting") == {"accounting"}


def _claimed_budgets(peeling: float) -> Measured:
    budgets = {"CANONICAL": 1.0, "CANONICAL, gamma=1": 2.0, "ONESHOT-Exp": peeling, "PEELING": peeling + 1}
    chances = {"CANONICAL": 0.9995, "CANONICAL, gamma=1": 0.99}
    common = {"kind": "budget", "set": "NETFLIX", "k": 100, "reach": 0.999}
    return Measured(
        [
            (common, budgets),
            ({"kind": "one", "set": "NETFLIX", "k": 100}, chances),
            ({"kind": "levels", "k": 100}, budgets),
            ({"kind": "time", "set": "NETFLIX", "k": 100}, budgets),
        ]
    )


@pytest.mark.parametrize(
    ("peeling", "verdict"), [(20.0, Verdict.DIFFERS), (36.0, Verdict.REPRODUCED), (60.0, Verdict.STRONGER)]
)
def test_a_verdict_follows_the_numbers(peeling: float, verdict: Verdict) -> None:
    row = CANONICAL.report(_claimed_budgets(peeling)).rows[0]
    assert (row.claimed, row.verdict) == ("34x", verdict)
    assert row.measured.startswith(f"{peeling:g}x")


def test_missing_data_is_said_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_DATA", str(tmp_path / "nowhere"))
    console = _silent()
    reports = run(["noise", "accounting"], Mode.TINY, folder=tmp_path, workers=1, console=console, pictures=False)
    assert list(reports) == ["accounting"]
    assert (
        "noise skipped: the public data is not there: netflix_5star_counts_n17770.csv, dpbench_1d_n4096.csv not found "
        f"in {tmp_path / 'nowhere'}. Set PODIUM_DATA to the folder that has the files."
    ) in _printed(console)
    assert main(["--folder", str(tmp_path), "noise"]) == 2


def test_unknown_study_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["figures"])
    assert "no study called figures; there is accounting, accuracy, pay_what_you_get" in capsys.readouterr().err


def test_results_are_kept_and_a_second_run_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studies = [load("zipf")]
    seen: list[tuple[int, int]] = []
    first = measure(
        studies, Mode.TINY, cache=tmp_path, workers=1, progress=lambda _, done, total: seen.append((done, total))
    )
    total = len(studies[0].cells(Mode.TINY))
    assert seen == [(done, total) for done in range(total + 1)]
    # A run that was cut off takes up where it was.
    next(tmp_path.glob("zipf-*.json")).unlink()
    seen.clear()
    second = measure(
        studies, Mode.TINY, cache=tmp_path, workers=1, progress=lambda _, done, total: seen.append((done, total))
    )
    assert seen == [(total - 1, total), (total, total)]
    assert second == first

    def refuse(cell: object) -> object:
        raise AssertionError(cell)

    monkeypatch.setattr(running, "compute", refuse)
    assert measure(studies, Mode.TINY, cache=tmp_path, workers=1) == first


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    studies = [load("zipf")]
    alone = measure(studies, Mode.TINY, cache=tmp_path / "one", workers=1)
    assert measure(studies, Mode.TINY, cache=tmp_path / "two", workers=2) == alone


def test_every_study_runs_and_its_page_is_written(tmp_path: Path) -> None:
    problem = data.missing(NEEDED)
    if problem is not None:
        pytest.skip(str(problem))
    reports = run(NAMES, Mode.TINY, folder=tmp_path, workers=1, console=_silent())
    assert list(reports) == list(NAMES)
    claims, figures = read_claims(tmp_path / "tiny"), read_figures(tmp_path / "tiny")
    assert Counter(study for study, _, _ in claims) == {name: len(report.rows) for name, (_, report) in reports.items()}
    assert all(row.measured and row.source and row.claim for _, _, row in claims)
    for shown in figures:
        for kind in (".svg", ".png", "-dark.png", ".csv"):
            assert (tmp_path / "tiny" / f"{shown.name}{kind}").stat().st_size > 100
        assert shown.alt.startswith(shown.title)
    write_page(tmp_path / "tiny", tmp_path / "docs")
    text = (tmp_path / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert text == page(tmp_path / "docs" / "reproduce")
    assert all(f"(reproduce/{shown.name}.svg)" in text for shown in figures)
    assert text.count("\n## ") == len(NAMES)


def test_studies_that_need_no_data_say_so() -> None:
    assert [name for name in NAMES if not load(name).data] == list(WITHOUT_DATA)


def test_cells_are_plain_data_and_distinct() -> None:
    for name in NAMES:
        for mode in Mode:
            cells = [json.dumps(cell, sort_keys=True) for cell in load(name).cells(mode)]
            assert len(set(cells)) == len(cells) > 0


def test_the_published_page_is_what_its_run_gave() -> None:
    docs = ROOT / "docs"
    assert (docs / "reproduce.md").read_text(encoding="utf-8") == page(docs / "reproduce")
    claims = read_claims(docs / "reproduce")
    assert list(dict.fromkeys(study for study, _, _ in claims)) == list(NAMES)
    for shown in read_figures(docs / "reproduce"):
        assert (docs / "reproduce" / f"{shown.name}.svg").is_file()
        assert (docs / "reproduce" / f"{shown.name}.csv").is_file()


def test_a_claim_about_all_settings_is_judged_by_the_worst_of_them() -> None:
    for ratio, verdict in ((1.9, Verdict.REPRODUCED), (391.5, Verdict.DIFFERS), (0.4, Verdict.DIFFERS)):
        row = joint._similar_row("GAMES", {"joint": [0.0, 0.0, ratio * 10 - 1], "canonical": [0.0, 0.0, 9.0]})
        assert row.verdict is verdict
    for errors, verdict in (([1.0] * 20, Verdict.REPRODUCED), ([1.0] * 19 + [3.0], Verdict.DIFFERS)):
        row = joint._pure_row("GAMES", list(range(20)), {"joint": errors, "peeling, pure DP": [2.0] * 20})
        assert row.verdict is verdict
    for least, verdict in ((51, Verdict.STAND_IN), (44, Verdict.DIFFERS)):
        found = [
            {"adaptive cheap": {"mean": cheap}, "adaptive answers": {"mean": 100}} for cheap in (95, 95, 95, least)
        ]
        assert sparse._cheap_row(Measured([({}, result) for result in found])).verdict is verdict


def test_published_verdicts_follow_the_rules() -> None:
    """The page may be older than a rule; its verdicts may not."""
    rows = [row for _, _, row in read_claims(ROOT / "docs" / "reproduce")]
    similar = [row for row in rows if "very similar to CANONICAL" in row.claim]
    cheap = [row for row in rows if "cheap top branch" in row.claim]
    assert (len(similar), len(cheap)) == (2, 2)
    for row in similar:
        low, high = map(float, row.measured.split(",")[0].split(" to "))
        assert (row.verdict is Verdict.REPRODUCED) == (low >= 0.5 and high <= 2)
    for row in cheap:
        assert (row.verdict is Verdict.STAND_IN) == (int(row.measured.split("%")[0]) > 50)
    # QSZ prints no experiment on comparisons, so nothing of it can be reproduced; its estimates have fresh noise.
    assert all(row.verdict is Verdict.BEYOND for row in rows if "Algorithm 3" in row.claim)
    assert not any("value that it won with" in row.claim for row in rows)

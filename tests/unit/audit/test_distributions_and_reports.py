"""Distribution audits, what reports say, and the picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.audit import World, audit_mechanism, distribution_audit, exact_audit, numeric_audit, statistical_audit
from podium.audit.picture import plot_audit
from podium.audit.targets.shipped import EXAMPLES, build, level_of, mechanism_names, pairs_for
from podium.errors import InvalidArgument, UnusableOutcome
from podium.mechanisms import LimitedDomain, SetUnionThenTopK

LAW = {"a": 0.5, "b": 0.3, "c": 0.2}


def sampler(distribution: dict[str, float], seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    return lambda data, size: generator.choice(list(distribution), p=list(distribution.values()), size=size)


def test_draws_that_follow_a_distribution_and_draws_that_do_not() -> None:
    good = distribution_audit(sampler(LAW), LAW, None, batch=True)
    assert not good.violated
    assert good.verdict == "No difference from the claimed distribution found in 5,000 draws."
    bad = distribution_audit(sampler({"a": 0.4, "b": 0.4, "c": 0.2}), LAW, None, batch=True)
    assert bad.violated
    assert bad.verdict.startswith("WRONG DISTRIBUTION: the draws do not follow the claimed distribution; most at 'b'")
    impossible = distribution_audit(sampler(LAW), {"a": 0.7, "b": 0.3, "c": 0.0}, None, batch=True)
    assert impossible.verdict == "WRONG DISTRIBUTION: 'c' came out, which the claimed distribution says is impossible."


def test_rare_outcomes_share_a_cell() -> None:
    distribution = {"a": 0.9, **{f"r{i}": 0.001 for i in range(100)}}
    report = distribution_audit(sampler(distribution), distribution, None, batch=True, draws=2_000)
    assert report.cells == 2
    assert not report.violated
    wrong = {"a": 0.8, **{f"r{i}": 0.002 for i in range(100)}}
    assert distribution_audit(sampler(wrong), distribution, None, batch=True, draws=2_000).violated


def test_bad_distributions() -> None:
    with pytest.raises(InvalidArgument, match=re.escape("distribution='one that sums to 0.8' is not valid")):
        distribution_audit(sampler(LAW), {"a": 0.5, "b": 0.3}, None, batch=True)
    with pytest.raises(
        UnusableOutcome, match="the sampler returned real numbers, which a distribution of single outcomes"
    ):
        distribution_audit(lambda data: 0.5, LAW, None)


def reports() -> list[Any]:
    exact = exact_audit(LimitedDomain(1, 1, "0.5", "0.05"), world=World(2, 1, lift={"a": 6}))
    good = statistical_audit(sampler(LAW), 1, pairs=[(0, 1)], batch=True, samples=4_000, name="dice")
    bad = statistical_audit(str, 1, pairs=[(0, 1)], samples=4_000, name="echo")
    return [exact, good, bad, distribution_audit(sampler(LAW), LAW, None, batch=True)]


def test_no_report_says_that_anything_is_private() -> None:
    exact, good, bad, _ = made = reports()
    for report in made:
        text = str(report)
        assert report.verdict in text
        claimless = text.replace("differentially private", "")
        assert "private" not in claimless
        assert json.loads(json.dumps(report.to_dict()))["verdict"] == report.verdict
    assert "holds on this world" in exact.verdict
    assert good.verdict.endswith("That nothing was found proves nothing: another input or event may show more.")
    assert bad.verdict.startswith(
        "VIOLATED: with confidence 1 - 1e-09 the claim is false. On the pair 'pair 1' an event"
    )
    assert bad.best.epsilon(0.0) == bad.epsilon > 1


def test_the_picture_has_a_line_for_everything_that_is_known(tmp_path: Path) -> None:
    exact, _, bad, _ = reports()
    picture = plot_audit(exact, bad, tmp_path / "audit.svg")
    names = {line.get_gid() for line in picture.axes[0].get_lines()}
    assert {"claimed", "exact, this world", "at least, sampled"} <= names
    assert "confidence 1 - 1e-09" in picture.alt
    assert (tmp_path / "audit.svg").stat().st_size > 1000
    with pytest.raises(InvalidArgument, match="exact=None is not valid"):
        plot_audit()


def test_every_mechanism_has_an_example() -> None:
    covered = {type(example) for example in EXAMPLES.values()}
    assert covered == set(mechanism_names().values())


def test_mechanisms_are_built_from_names_and_parameters() -> None:
    assert build("limited-domain", {}) is EXAMPLES["limited-domain"]
    made = build("LimitedDomain", {"k": 2, "k_bar": 3, "epsilon_per_item": "0.5", "delta": "0.01", "noise": None})
    assert made == LimitedDomain(2, 3, "0.5", "0.01")
    assert level_of(made) == 13
    assert all(max(pair.left.values()) in (0, 13) for pair in pairs_for(made))
    with pytest.raises(InvalidArgument, match="mechanism='exact-magic' is not valid"):
        build("exact-magic", {"k": 1})
    with pytest.raises(
        InvalidArgument, match=re.escape("sigma='1' is not valid. Allowed: for limited-domain: k, k_bar,")
    ):
        build("limited-domain", {"k": 2, "sigma": "1"})
    with pytest.raises(
        InvalidArgument, match=re.escape("k_bar=None is not valid. Allowed: limited-domain needs k_bar, epsilon")
    ):
        build("limited-domain", {"k": 2})


def test_counts_do_not_say_how_many_items_a_user_has() -> None:
    with pytest.raises(
        InvalidArgument, match=re.escape("max_items_per_user=2 is not valid. Allowed: 1 for an audit on counts")
    ):
        audit_mechanism(SetUnionThenTopK(1, "0.5", "0.05", 2, sigma=2), samples=2_000)


def test_numbers_on_a_public_grid_have_no_telling_bits() -> None:
    generator = np.random.default_rng(8)

    def noisy(count: float, size: int) -> Any:
        return count + generator.laplace(size=size)

    naive = numeric_audit(noisy, 1, pairs=[(0.0, 1.0)], batch=True, samples=20_000)
    assert naive.violated
    assert naive.draws <= 4_000
    gridded = numeric_audit(
        lambda count, size: np.floor(noisy(count, size) * 1024) / 1024,
        1,
        pairs=[(0.0, 1.0)],
        batch=True,
        samples=20_000,
    )
    assert not gridded.violated

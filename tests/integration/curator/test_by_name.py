"""The papers' mechanisms by name: for single questions, as private as asked, and refused where they do not fit."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support.command_line import ASK, succeeded
from tests.support.command_line import podium as run_podium
from tests.support.worlds import check_world, distribution_of, lifted

import podium
from podium import Budget, Curator
from podium.errors import InvalidArgument
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.sparse_vector.hybrid import HybridTopK
from podium.planning.by_name import named_strategy
from podium.planning.facts import NAMED, Facts
from podium.privacy import Guarantee

KNOWN = ["a", "b", "c", "d"]
UNKNOWN: dict[str, Any] = {"delta": "1e-6"}
DOORS: dict[str, dict[str, Any]] = {
    "limited-domain-laplace": {**UNKNOWN, "max_items_per_user": 3},
    "limited-domain-strict": UNKNOWN,
    "limited-domain-private-k-bar": UNKNOWN,
    "fixed-threshold": {**UNKNOWN, "ordered": False},
    "hybrid": {"domain": KNOWN, "at_least": 350, "k": 3},
    "hybrid-estimates": {"domain": KNOWN, "at_least": 350, "k": 3},
}


@pytest.fixture(name="views", scope="module")
def _views(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a has 800 readers, b 500, c 200, and nobody reads d."""
    path = tmp_path_factory.mktemp("named") / "views.parquet"
    pairs = "FROM range(800) t(u), range(3) s(p) WHERE u < 800 - 300 * p"
    rows = f"SELECT u AS user_id, ['a', 'b', 'c'][p + 1] AS article {pairs}"
    with duckdb.connect() as engine:
        engine.sql(rows).write_parquet(str(path))
    return path


def test_every_name_has_a_door() -> None:
    assert set(DOORS) == set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_the_two_best_come_back(views: Path, name: str) -> None:
    asked: dict[str, Any] = {
        "item": "article",
        "user": "user_id",
        "k": 2,
        "epsilon": 60,
        "mechanism": name,
        **DOORS[name],
    }
    plan = podium.plan(views, **asked)
    release = podium.top(views, **asked)
    assert release.items == ("a", "b")
    assert release.mechanism == type(plan.strategy.mechanism).__name__
    assert release.paid.epsilon is None or release.paid.delta <= Fraction("1e-6")
    assert podium.Release.from_json(release.to_json()) == release
    assert str(release)
    # Laplace noise gives counts, the hybrids leads: over the next, or over the threshold.
    kinds = {"limited-domain-laplace": "counts", "hybrid": "gaps", "hybrid-estimates": "gaps"}
    assert release.value_kind == kinds.get(name)
    near = {"counts": (800, 500), "gaps": (300, 150) if name == "hybrid" else (450, 150)}.get(
        str(release.value_kind), ()
    )
    assert all(abs(value - true) < 60 for value, true in zip(release.values or (), near, strict=True))


@pytest.mark.parametrize("name", NAMED)
def test_the_whole_of_it_is_as_private_as_it_was_asked(name: str) -> None:
    """By the exact law, in every world of three items: the door's own budget, and not only the mechanism's."""
    known = name.startswith("hybrid")
    facts = Facts(
        k=2, domain_size=3 if known else None, k_bar=None if known else 3, mechanism=name,
        at_least=2 if known else None, max_items_per_user=2 if "laplace" in name else None,
        ordered=name != "fixed-threshold",
    )  # fmt: skip
    asked = Guarantee.of(1, 0 if known else "0.05")
    strategy = named_strategy(facts, asked)
    assert strategy.guarantee <= asked
    most = facts.max_items_per_user
    law = distribution_of(strategy.mechanism, known=known)  # type: ignore[arg-type]
    check_world(law, asked, items=("a", "b", "c"), largest=2, max_items=most)
    # And where items pass the threshold about as often as not, so that epsilon is what counts.
    for height in () if known else (4, 6, 8, 10):
        around = lifted(law, {"a": height, "b": height - 1})
        check_world(around, asked, items=("a", "b", "c"), largest=1, max_items=most)
    with pytest.raises(AssertionError):
        check_world(
            law, Guarantee.of("1/10", "0" if known else "0.0001"), items=("a", "b", "c"), largest=2, max_items=most
        )


def test_each_name_is_its_mechanism() -> None:
    def made(name: str, **facts: Any) -> Any:
        return named_strategy(Facts(k=2, mechanism=name, **facts), Guarantee.of(2, "1e-6")).mechanism

    laplace = made("limited-domain-laplace", max_items_per_user=4)
    assert isinstance(laplace, LimitedDomain)
    assert (laplace.noise, laplace.epsilon_per_item) == ("laplace", Fraction(1, 2))
    (event,) = laplace.worst_case
    assert Fraction("9.9e-7") < event.delta <= Fraction("1e-6")
    assert made("limited-domain-strict").strict
    assert made("limited-domain-private-k-bar").k_bar == PrivateKBar(1000)
    plain = podium.privacy.calibrate_epsilon(3, epsilon=2, delta="1e-6")
    assert made("limited-domain-private-k-bar").epsilon_per_item == plain.epsilon_per_item
    fixed = made("fixed-threshold", ordered=False)
    assert (type(fixed), fixed.epsilon_per_item, fixed.delta) == (FixedThreshold, 1, Fraction("5e-7"))
    for name, first in (("hybrid", "identities"), ("hybrid-estimates", "estimates")):
        hybrid = made(name, domain_size=9, at_least=50)
        assert (type(hybrid), hybrid.first, hybrid.threshold, hybrid.epsilon) == (HybridTopK, first, 50, 2)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"mechanism": "hybrid", "domain": KNOWN}, "at_least=None"),
        ({"mechanism": "hybrid", "at_least": 5}, "domain=None"),
        ({"mechanism": "fixed-threshold", **UNKNOWN}, "ordered=True"),
        ({"mechanism": "limited-domain-laplace", **UNKNOWN}, "max_items_per_user=None"),
        ({"mechanism": "limited-domain-laplace", "max_items_per_user": 1001, **UNKNOWN}, "max_items_per_user=1001"),
        ({"mechanism": "limited-domain-strict"}, "delta=0"),
        ({"mechanism": "limited-domain-strict", "domain": KNOWN}, "domain='a known domain'"),
        ({"mechanism": "limited-domain-strict", "counts": True, **UNKNOWN}, "counts=True"),
        ({"mechanism": "limited-domain-strict", "others": True, **UNKNOWN}, "counts=True"),
        ({"mechanism": "limited-domain-strict", "by": "events", **UNKNOWN}, "by='events'"),
        ({"mechanism": "limited-domain-strict", "at_least": 5, **UNKNOWN}, "at_least=5"),
        ({"mechanism": "limited-domain-strict", "ordered": False, **UNKNOWN}, "ordered=False"),
        ({"mechanism": "limited", **UNKNOWN}, "'fixed-threshold'"),
    ],
)
def test_what_does_not_fit_is_refused(views: Path, how: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        podium.plan(views, **{"item": "article", "user": "user_id", "k": 2, "epsilon": 1, **how})
    assert told in str(caught.value)


def test_a_ledger_does_not_plan_for_them(views: Path, tmp_path: Path) -> None:
    budget = Budget(epsilon=3, delta="1e-6")
    with Curator(views, dataset="views", user="user_id", ledger=tmp_path / "l.db", budget=budget) as curator:
        for epsilon in (None, 1):
            with pytest.raises(InvalidArgument, match=r"with a ledger\. The mechanisms of the papers"):
                curator.top("article", k=2, mechanism="limited-domain-strict", epsilon=epsilon)
        assert curator.status.spent.rho == 0


def test_the_command_line(views: Path) -> None:
    asked = ("top", str(views), *ASK, "-k", "2", "--epsilon", "30", "--delta", "1e-6")
    told = json.loads(succeeded(*asked, "--mechanism", "limited-domain-strict", "--format", "json"))
    assert (told["outcome"], told["parameters"]["strict"]) == (["a", "b"], "True")
    assert "ordered=True" in run_podium(*asked, "--mechanism", "fixed-threshold").stderr

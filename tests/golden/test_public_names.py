"""The names that programs and scripts rely on. A change here breaks somebody: it needs a line in CHANGELOG.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from tools.cli_reference import help_texts

import podium
from podium import BOTTOM, Budget, Curator, Histogram, Scores, mechanisms
from podium.mechanisms import LimitedDomain, NoisyTopK

MECHANISMS = {
    "CanonicalTopK": "k, epsilon, *, gamma=0.5, noise='gumbel', monotone=True",
    "ExponentialTopK": "k, epsilon_per_item, *, monotone=True",
    "ExponentialWithGap": "epsilon, *, monotone=True",
    "FixedThreshold": "k, epsilon_per_item, delta",
    "GaussianSparseHistogram": "*, delta, sigma=None, rho=None, max_items_per_user=None",
    "HybridTopK": "threshold, k, epsilon, *, first='identities', theta=None, monotone=True",
    "JointTopK": "k, epsilon",
    "LimitedDomain": "k, k_bar, epsilon_per_item, delta, *, max_items_per_user=None, noise='gumbel', strict=False",
    "NoisyTopK": "k, epsilon, *, noise='exponential', gaps=None, monotone=True",
    "OneshotLaplace": "k, epsilon, *, delta=0, monotone=True",
    "PayWhatYouGet": "k_star, l_star, epsilon_per_item, delta",
    "PermuteAndFlip": "epsilon, *, monotone=True",
    "PrivateKBar": "limit",
    "SetUnionThenTopK": "k, epsilon_per_item, delta, max_items_per_user",
    "SparseVector": "threshold, k, epsilon, *, adaptive=True, noise='exponential', theta=None, monotone=True",
    "TruncatedGaussianHistogram": "*, delta, sigma=None, rho=None, max_items_per_user=None",
    "TruncatedLaplaceHistogram": "*, epsilon, delta, max_items_per_user=1000, k=None",
}
DOORS: dict[Callable[..., Any], str] = {
    podium.top: "source, *, item, user, k=10, epsilon, delta=0, where=None, counts=False, max_items_per_user=None",
    podium.sql: "source, text, *, name, user, epsilon, delta=0, max_items_per_user=None",
    podium.plan: "source, *, item=(), sql=None, user, epsilon, delta=0, k=10, where=None, ordered=True",
    podium.rank: "source, *, winner, loser, user, comparisons_per_pair, epsilon, delta=0, items=None, k=10",
    podium.connect: "url, *, token",
    Budget: "*, epsilon, delta=None, items=100, questions=10",
    Curator: "source, *, dataset, user, ledger, budget=None",
    Curator.top: "self, item, *, k=10, where=None, epsilon=None, counts=False, max_items_per_user=None",
    Curator.sql: "self, text, *, epsilon=None",
    Histogram.from_arrays: "items, counts",
}
RELEASE = (
    "items outcome complete paid guarantee values to_arrow to_csv to_json to_pandas to_parquet to_polars plot card"
)
COMMANDS = {
    "audit": "--k --k-bar --epsilon --epsilon-per-item --delta --rho --sigma --threshold --max-items-per-user",
    "budget create": "--ledger --source --user --epsilon --delta --items --questions",
    "budget history": "--ledger",
    "budget show": "--ledger",
    "budget verify": "--ledger",
    "demo": "",
    "explain": "",
    "mechanisms": "",
    "plan": "-k --epsilon --delta",
    "rank": "--user -k --epsilon",
    "serve": "--config",
    "sql": "--source --user --epsilon --delta --ledger --dataset --format --plot --dry-run",
    "top": "--item --user -k --epsilon --delta --where --counts --max-items-per-user --domain --domain-size "
    "--mechanism --ledger --dataset --table --format --plot --dry-run",
}
OF_THE_COMMAND_LINE = {
    "copy", "no_header", "format", "output", "plot", "quiet", "verbose", "no_color", "debug", "help", "dry_run",
    "unordered",
}  # fmt: skip
"""How an answer is written is the command's business. ``plan`` is --dry-run, ``ordered=False`` is --unordered,
``header=False`` is --no-header, and ``force=True`` of a curator is --copy;
everything else is an argument of the library."""


def parameters(call: Callable[..., Any]) -> str:
    """The signature without types."""
    signature = inspect.signature(call)
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))[1:-1]


def options(command: str) -> set[str]:
    """Long and short options, from the command's help."""
    lines = re.findall(r"^  (?:(-\w), )?(--[\w-]+)", help_texts()[f"podium {command}"], flags=re.MULTILINE)
    return {name for line in lines for name in line if name}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_takes_these_arguments(name: str) -> None:
    """Others may come, each with a default, for which nobody's call has to change."""
    assert promised(MECHANISMS[name], parameters(getattr(mechanisms, name))) == []


@pytest.mark.parametrize("call", DOORS, ids=lambda call: call.__qualname__)
def test_a_door_takes_these_arguments(call: Callable[..., Any]) -> None:
    assert promised(DOORS[call], parameters(call)) == []


def promised(promise: str, found: str) -> list[str]:
    """What is promised and not found, in its order; and what was added without a default."""
    wanted, there = promise.split(", "), found.split(", ")
    first = wanted.index("*") if "*" in wanted else len(wanted)
    missing = [] if there[:first] == wanted[:first] else wanted[:first]
    added = [each for each in there if each not in wanted and "=" not in each and each != "*"]
    return [*missing, *(each for each in wanted if each not in there), *added]


def test_everything_with_a_default_is_named_in_the_call() -> None:
    public: list[Callable[..., Any]] = [*DOORS, *(getattr(mechanisms, name) for name in MECHANISMS)]
    for call in public:
        positional = [
            each for each in inspect.signature(call).parameters.values() if each.kind is not each.KEYWORD_ONLY
        ]
        assert [each.name for each in positional if each.default is not each.empty] == [], call


def test_a_release_and_a_mechanism_have_these_parts() -> None:
    mechanism = LimitedDomain(k=2, k_bar=3, epsilon_per_item="0.5", delta="0.01")
    release = mechanism.release(Histogram({"a": 5, "b": 3, "c": 2, "d": 1}))
    assert [name for name in RELEASE.split() if not hasattr(release, name)] == []
    assert release.paid.rho > 0
    assert (BOTTOM,) in mechanism.distribution(Histogram({"a": 5, "b": 3, "c": 2, "d": 1}))
    assert parameters(mechanism.distribution) == "histogram, *, exact=False"
    assert parameters(NoisyTopK(1, 1).density).startswith("histogram, outcome, values")
    assert mechanism.guarantee.epsilon(delta="0.05") > 0
    assert mechanism.guarantee.delta(epsilon=1) > 0
    assert mechanism.guarantee.rho == mechanism.guarantee.cost.rho
    assert Scores({"a": 1}, rises_by=1, falls_by=0) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_these_options(command: str) -> None:
    assert set(COMMANDS[command].split()) - options(command) == set()


def test_answers_are_written_in_these_formats() -> None:
    for command in ("top", "sql", "demo"):
        assert "--format <table|json|csv|csv-raw|parquet|md>" in help_texts()[f"podium {command}"]


@pytest.mark.parametrize(("command", "calls"), [("top", (podium.top, Curator.top)), ("sql", (podium.sql, Curator.sql))])
def test_an_option_is_spelled_as_the_argument_is(command: str, calls: tuple[Callable[..., Any], ...]) -> None:
    known = {name for call in (*calls, Curator) for name in inspect.signature(call).parameters}
    flags = {name.removeprefix("--").replace("-", "_") for name in options(command) if name.startswith("--")}
    assert flags - OF_THE_COMMAND_LINE - known == set()

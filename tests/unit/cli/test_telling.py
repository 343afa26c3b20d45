"""``podium plan``, ``mechanisms``, ``explain``, ``--version`` and help."""

from __future__ import annotations

import datetime as dt
import json
import re
import shlex
from pathlib import Path

import pytest
from rich.text import Text
from tests.support.command_line import ASK, TOTAL, create_budget, document, podium, succeeded
from tools.cli_reference import help_texts

from podium.cli.console import Settings, print_result, use_settings
from podium.cli.options import Mechanism
from podium.ledger import open_ledger
from podium.planning.facts import MECHANISMS
from podium.privacy import Selection
from podium.sources.parquet import write_parquet


def test_a_plan_needs_no_data() -> None:
    assert succeeded("plan", "-k", "10", "--epsilon", "1", "--domain-size", "500", "--verbose") == (
        "mechanism  SizedKnownTopK(k=10, epsilon=1, delta=0, domain_size=500)\n"
        "why        The domain is known, and what tells its items apart best depends on how many of them users have: a "
        "twentieth of epsilon pays for noisy numbers of users by their number of items, and these choose. Nothing of "
        "this is asked if an eightieth of epsilon shows that the k-th item is far ahead of the next.\n"
        "paths      The table is read once, and its distinct pairs are counted: once if the list ends at a wide gap; "
        "otherwise again, once for the numbers of users, then once with Laplace noise if users have few of the items, "
        "and with exponential noise otherwise.\n"
        "promise    1-differentially private for any one user, added or removed\n"
        "at most    epsilon 1, whatever comes out\n"
        "reach      Every item returned has, with probability 0.95, at most 20 fewer users than the k-th if nobody has "
        "another item, and at most 123 fewer users than the k-th if items are chosen in turn.\n"
    )
    planned = document("plan", "plan", "-k", "10", "--epsilon", "1", "--delta", "1e-8", "--counts")
    assert planned["mechanism"] == "AdaptiveTopK"
    selecting = ("--counts", "--mechanism", "limited-domain")
    planned = document("plan", "plan", "-k", "10", "--epsilon", "1", "--delta", "1e-8", *selecting)
    assert planned["mechanism"] == "LimitedDomain"
    assert planned["counts"]["items"] == "10"


def test_the_choices_are_those_of_the_planner() -> None:
    assert tuple(choice.value for choice in Mechanism) == MECHANISMS
    planned = document("plan", "plan", "-k", "3", *TOTAL, "--mechanism", "adaptive")
    assert planned["mechanism"] == "AdaptiveTopK"


LIKE = ("--users", "300", "--items", "40", "--items-per-user", "5")


def test_a_plan_predicts_recall_for_a_table_that_is_described() -> None:
    ask = ("plan", "-k", "12", "--epsilon", "1000000", "--delta", "1e-6", *LIKE)
    assert succeeded(*ask).splitlines()[-1] == (
        "recall   1.00 ±0.00 of the true top 12, in 5 tables like this: 300 synthetic users with 5 of 40 items on "
        "average (exponent 1, skew 1)."
    )
    predicted = document("plan", *ask, "--exponent", "0.5", "--skew", "0", "--plot", "recall.png")["prediction"]
    assert predicted["prior"] == {"users": 300, "items": 40, "items_per_user": 5, "exponent": 0.5, "skew": 0}
    assert (predicted["epsilon"], predicted["recall"], predicted["error"]) == (10**6, 1, 0)
    assert [point["epsilon"] / 10**6 for point in predicted["by_epsilon"]] == [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]
    assert Path("recall.png").read_bytes().startswith(b"\x89PNG")
    assert "prediction" not in document("plan", *ask[: -len(LIKE)])


@pytest.mark.parametrize("options", [LIKE[:2], LIKE[2:], ("--exponent", "1"), ("--plot", "recall.png")])
def test_a_description_is_whole_or_not_there(options: tuple[str, ...]) -> None:
    refused = podium("plan", "-k", "12", "--epsilon", "1", "--delta", "1e-6", *options)
    missing = next(
        name for name in ("users", "items", "items_per_user") if f"--{name.replace('_', '-')}" not in options
    )
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"InvalidArgument: {missing}=None is not valid.\n"
        "  Allowed: a number, because other parts of a prediction are given.\n"
        "  Recall is predicted from --users, --items and --items-per-user together.\n"
    )
    assert not Path("recall.png").exists()


def test_mechanisms_are_listed_and_described() -> None:
    listed = document("mechanisms", "mechanisms")["mechanisms"]
    lines = succeeded("mechanisms").splitlines()
    assert [line.split()[0] for line in lines[1:]] == [one["name"] for one in listed]
    one = succeeded("mechanisms", "LimitedDomain")
    assert "what       The k best of the true top k_bar, as long as they stand out from the item after them.\n" in one
    assert document("mechanisms", "mechanisms", "LimitedDomain")["mechanisms"] == [
        described for described in listed if described["name"] == "LimitedDomain"
    ]
    refused = podium("mechanisms", "Limited")
    assert refused.exit_code == 2
    assert refused.stderr.endswith("  Did you mean 'LimitedDomain'?\n")


def test_an_explanation_in_general_and_of_a_release() -> None:
    general = document("explanation", "explain")["sections"]
    assert [section["title"] for section in general] == [
        "Who is protected",
        "From what",
        "How well",
        "Why there may be fewer than k items",
        "What has to be true for this",
        "What is not covered",
    ]
    assert all(line in succeeded("explain") for line in ("Who is protected\n", "What is not covered\n"))
    release = succeeded(
        "top", "views.parquet", *ASK, "--epsilon", "1", "--delta", "1e-6", "-k", "3", "--format", "json"
    )
    Path("answer.json").write_text(release, encoding="utf-8")
    explained = succeeded("explain", "answer.json")
    assert "it is at most 2.719 times as likely with any one user" in " ".join(explained.split())
    assert explained == succeeded("explain", "-", text=release)
    (run,) = (
        section["text"]
        for section in document("explanation", "explain", "answer.json")["sections"]
        if section["title"] == "What was run and paid"
    )
    assert run.startswith("SizedTopK(k=3,")


def test_an_explanation_of_a_short_list_says_why_it_is_short() -> None:
    few = ("--epsilon", "0.001", "--delta", "1e-9", "-k", "3", "--format", "json")
    explained = succeeded("explain", "-", text=succeeded("top", "views.parquet", *ASK, *few))
    assert "0 of 3: no item stood out enough to be named at this budget." in " ".join(explained.split())


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json", '{"format": 99}'])
def test_what_is_not_a_release_is_refused(text: str) -> None:
    refused = podium("explain", "-", text=text)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("InvalidArgument: ")


def test_the_version_and_help_without_a_command() -> None:
    assert re.fullmatch(r"podium \d+\.\d+\.\d+\n", succeeded("--version"))
    assert succeeded() == succeeded("--help")
    assert succeeded("budget") == succeeded("budget", "-h")


SERVE = "podium serve --config podium.toml"
"""Runs until it is stopped; the tests of the service start it."""


def examples() -> list[str]:
    """Every example in every help text, lines that go on joined."""
    found = []
    for text in help_texts().values():
        block = re.search(r"Examples?:\n((?:    .*\n?)+)", text)
        joined = re.sub(r"\\\n\s+", " ", block[1]) if block else ""
        found += re.findall(r"^    (podium (?:[^\"\n]|\"[^\"]*\")*)", joined, flags=re.MULTILINE)
    return found


def test_every_command_has_an_example() -> None:
    commands = {" ".join(name.split()[1:]) for name in help_texts()} - {"", "budget"}
    shown = {" ".join(part for part in example.split()[1:3] if part.isalpha()) for example in examples()}
    assert all(any(example.startswith(command.split()[0]) for example in shown) for command in commands)
    assert len(examples()) >= len(commands)


def with_a_service(example: str) -> str:
    """Settings for the data set of these tests, and a token that can be revoked."""
    Path("podium.toml").write_text(
        'ledger = "ledger.db"\n[datasets.views]\nsource = "views.parquet"\nuser = "user_id"\n', encoding="utf-8"
    )
    made = succeeded("token", "create", "old", "--config", "podium.toml", "--dataset", "views", "--format", "json")
    return re.sub(r"\b[0-9a-f]{32}\b", json.loads(made)["id"], example)


def without_a_ledger(example: str) -> str:
    """A ledger of its own, two further tables of the same users, and two to join."""
    write_parquet({"user_id": [1, 2], "age": ["old", "young"]}, Path("users.parquet"))
    Path("topics.csv").write_text("article,topic\narticle-0,news\n", encoding="utf-8")
    for table in ("orders", "visits"):
        write_parquet({"customer": [1, 2], "item": ["a", "b"]}, Path(f"{table}.parquet"))
    return example.replace("ledger.db", "other.db")


def with_one_file(example: str) -> str:
    """A file to serve, opened once and not served; a later run finds what the first one made."""
    if not example.startswith("podium serve orders.csv"):
        return example
    Path("orders.csv").write_text("customer,product\n1,a\n2,b\n", encoding="utf-8")
    if "--user" not in example:
        succeeded("serve", "orders.csv", "--user", "customer", "--epsilon", "3", "--delta", "1e-6", "--check")
    return f"{example} --check"


def with_votes() -> None:
    """Who preferred which film to which, and the files that say what can be compared."""
    votes = [(user, "alien", "brazil") for user in range(40)] + [(user, "brazil", "casablanca") for user in range(40)]
    columns = dict(zip(("user_id", "better", "worse"), map(list, zip(*votes, strict=True)), strict=True))
    write_parquet(columns, Path("votes.parquet"))
    lines = "".join(f"{user},{better},{worse}\n" for user, better, worse in votes)
    Path("votes.csv").write_text(f"user_id,better,worse\n{lines}", encoding="utf-8")
    films = [f"film-{number}" for number in range(9)] + ["alien", "brazil", "casablanca"]
    Path("films.csv").write_text("\n".join(["item", *films]) + "\n", encoding="utf-8")
    Path("pairs.csv").write_text("better,worse\n" + "".join(f"alien,{film}\n" for film in films[:9]), encoding="utf-8")


def with_times(example: str) -> str:
    """A table with times, in a ledger of its own; and three days instead of a year of them."""
    days = [dt.datetime(2026, 1, day, 12) for day in (1, 2, 3) for _ in range(50)]  # noqa: DTZ001 - a column of UTC
    columns = {"user_id": list(range(150)), "article": ["news", "sport"] * 75, "at": days}
    write_parquet(columns, Path("views.parquet"))
    return example.replace("ledger.db", "watched.db").replace("--periods 365", "--periods 3")


@pytest.mark.parametrize("example", examples(), ids=lambda text: text[:60])
def test_examples_run(example: str) -> None:
    Path("questions.json").write_text('[{"item": "article", "k": 2}, {"item": "country", "k": 1}]', encoding="utf-8")
    if "://" in example or example.startswith(("podium audit", "podium mcp")) or example == SERVE:
        pytest.skip("needs a server, or minutes, or runs until it is stopped")
    create_budget()
    Path("answer.json").write_text(
        succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "-f", "json"), encoding="utf-8"
    )
    if "budget create" in example:
        example = without_a_ledger(example)
    if "budget raise" in example:
        # The budget that these tests begin with is larger than the one of the example.
        example = example.replace("--epsilon 4", "--epsilon 6")
    if "--receipt answer.json" in example:
        asked = succeeded("top", "views.parquet", *ASK, "--ledger", "ledger.db", "--dataset", "views", "-f", "json")
        Path("answer.json").write_text(asked, encoding="utf-8")
    if "unlock views" in example:
        with open_ledger("ledger.db") as ledger:
            ledger.forfeit(ledger.reserve("views", Selection("0.05"), "fails", analyst="ann"))
    if "--config" in example:
        example = with_a_service(example)
    example = with_one_file(example)
    if example.startswith("podium rank"):
        with_votes()
    if example.startswith("podium watch"):
        example = with_times(example)
    entries = document("history", "budget", "history", "views", "--ledger", "ledger.db")["entries"]
    text = None
    for command in example.replace("4f0c...", entries[0]["hash"]).split(" | "):
        text = succeeded(*shlex.split(command)[1:], text=text)
    assert text


def test_drawings_have_no_colour_if_none_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for color in (True, False):
        with use_settings(Settings(color=color)):
            print_result(Text("hello", style="red"))
        assert ("\x1b[31m" in capsys.readouterr().out) is color


@pytest.mark.parametrize(
    ("words", "completed"), [("podium bud", ["budget"]), ("podium top --domain", ["--domain", "--domain-size"])]
)
def test_the_shell_completes_words(words: str, completed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PODIUM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert podium().stdout.split() == completed

"""``podium budget``: create, show, history, verify, and what an owner may change."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.command_line import ASK, create_budget, document, podium, succeeded

from podium.cli.budget import expected_use
from podium.ledger import open_ledger
from podium.privacy import Selection
from podium.storage.processes import this_process

LEDGER = ("--ledger", "ledger.db")


def ask(*extra: str) -> None:
    succeeded("top", "views.parquet", *ASK, *LEDGER, "--dataset", "views", "-k", "3", *extra)


def test_a_dry_run_registers_nothing() -> None:
    arguments = ("budget", "create", "views", *LEDGER, "--source", "views.parquet", "--user", "user_id")
    budget = ("--epsilon", "3", "--delta", "1e-6", "--items", "200", "--questions", "20", "--dry-run")
    assert document("budget-plan", *arguments, *budget)["epsilon_per_item"] == "167698331/2000000000"
    assert succeeded(*arguments, *budget) == (
        "private  for each user_id: epsilon 3, delta 1e-6 for all answers together\n"
        "unit     any one `user_id`, with all rows that have this value in the column\n"
        "plan     200 items in 20 questions\n"
        "at most  200 questions, however cheap\n"
    )
    assert succeeded(*arguments, *budget, "--verbose") == (
        "unit     any one `user_id`, with all rows that have this value in the column\n"
        "promise  (3, 1e-6)-differentially private for any one `user_id`, added or removed\n"
        "total    epsilon 3, delta 1e-6, kept as rho 0.1758\n"
        "plan     200 items in 20 questions: epsilon 0.0838491655 per item and delta 2.501e-8 per question\n"
        "at most  200 questions, each for rho 2.197e-6 or more\n"
    )
    assert not Path("ledger.db").exists()


def planned(*extra: str, text: str | None = None) -> tuple[str, str]:
    """The plan of a budget, and what is said and asked on stderr."""
    asked = ("budget", "create", "views", *LEDGER, "--source", "views.parquet", "--user", "user_id", "--dry-run")
    ran = podium(*asked, "--epsilon", "3", "--delta", "1e-6", *extra, text=text)
    assert ran.exit_code == 0, ran.stderr
    return next(line for line in ran.stdout.splitlines() if line.startswith("plan")), ran.stderr


def test_without_a_terminal_the_default_plan_is_taken_and_said() -> None:
    plan, said = planned()
    assert plan == "plan     100 items in 10 questions"
    assert said.startswith("The budget is planned for 100 items in 10 lists.")
    assert planned("--quiet") == (plan, "")
    assert planned("--items", "30") == ("plan     30 items in 10 questions", "")
    assert planned("--questions", "4") == ("plan     100 items in 4 questions", "")


@pytest.mark.parametrize(
    ("typed", "plan"),
    [
        ("\n\n", "100 items in 10 questions"),
        ("20\n5\n", "100 items in 20 questions"),
        ("none\n0\n-3\n4\n1,000\n", "4000 items in 4 questions"),
    ],
)
def test_at_a_terminal_it_is_asked_how_many_lists_are_expected(
    monkeypatch: pytest.MonkeyPatch, typed: str, plan: str
) -> None:
    monkeypatch.setattr(expected_use, "sits_at_a_terminal", lambda: True)
    found, said = planned(text=typed)
    assert found.removeprefix("plan     ") == plan
    assert "How many lists do you expect?" in said
    assert "Of how many items each?" in said
    items, _, lists, _ = (word.replace(",", "") for word in plan.replace(" in", "").split())
    assert f"The same without questions: --items {items} --questions {lists}" in said
    # What is stated is not asked.
    assert planned("--items", "40", "--questions", "4")[1] == ""


def test_registering_the_same_again_changes_nothing() -> None:
    create_budget()
    create_budget()
    (status,) = document("budget", "budget", "show", "views", *LEDGER)["datasets"]
    assert (status["entries"], status["source"]) == (1, str(Path("views.parquet").resolve()))


def test_show_tells_what_is_left_and_rounds_it_down() -> None:
    create_budget()
    ask()
    text = succeeded("budget", "show", *LEDGER, "--verbose")
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines())
    assert facts["data set"] == "views (version 1)"
    assert re.search(r", enough for (1[7-9]|20) items or 3 questions, whichever ends first$", facts["left"])
    (status,) = document("budget", "budget", "show", *LEDGER)["datasets"]
    shown = facts["left"].split()[1]
    numerator, denominator = status["remaining"]["rho"].split("/")
    assert 0 < int(numerator) / int(denominator) - float(shown) < 1e-4


def test_show_of_several_data_sets_and_of_none() -> None:
    create_budget()
    create_budget("copy", "--force")
    assert len(document("budget", "budget", "show", *LEDGER)["datasets"]) == 2
    assert succeeded("budget", "show", *LEDGER, "--verbose").count("promise    everything released about") == 2
    open_ledger("empty.db").close()
    empty = podium("budget", "show", "--ledger", "empty.db")
    assert (empty.exit_code, empty.stdout) == (0, "")
    assert empty.stderr == "no data set is registered yet; 'podium budget create --help' shows how\n"
    assert podium("budget", "show", "--ledger", "missing.db").exit_code == 5


def test_a_pure_budget_is_shown_in_epsilon() -> None:
    pure = ("--epsilon", "4", "--items", "8", "--questions", "2")
    succeeded("budget", "create", "views", *LEDGER, "--source", "views.parquet", "--user", "user_id", *pure)
    text = succeeded("budget", "show", "views", *LEDGER, "--verbose")
    assert "left       epsilon 4, enough for 8 items or 2 questions, whichever ends first\n" in text
    assert podium("top", "views.parquet", *ASK, *LEDGER, "--dataset", "views").exit_code == 2


def test_caps_per_analyst_need_a_name() -> None:
    create_budget("views", "--epsilon-per-analyst", "4")
    asked = ("top", "views.parquet", *ASK, *LEDGER, "--dataset", "views", "-k", "3")
    assert podium(*asked).exit_code == 2
    succeeded(*asked, "--analyst", "ada")
    (status,) = document("budget", "budget", "show", "views", *LEDGER)["datasets"]
    assert list(status["analysts"]) == ["ada"]
    assert "analyst ada  rho" in succeeded("budget", "show", "views", *LEDGER, "--verbose")
    plain = succeeded("budget", "show", "views", *LEDGER)
    assert re.search(r"\nanalyst ada  [\d.]+ % of their cap used\n", plain)


def test_history_lists_every_entry() -> None:
    create_budget()
    ask("--where", "country = 'DE'")
    text = succeeded("budget", "history", "views", *LEDGER, "--plot", "budget.svg")
    assert [line.split()[2] for line in text.splitlines()[1:]] == ["registered", "reserved", "settled"]
    assert "top 3 of article where ..." in text
    assert "<svg" in Path("budget.svg").read_text(encoding="utf-8")
    entries = document("history", "budget", "history", "views", *LEDGER)["entries"]
    assert [entry["kind"] for entry in entries] == ["registered", "reserved", "settled"]
    assert "release" not in str(entries)


def test_verify_accepts_what_is_sound_and_finds_what_is_not() -> None:
    create_budget()
    ask()
    entries = document("history", "budget", "history", "views", *LEDGER)["entries"]
    sound = document("verification", "budget", "verify", "views", *LEDGER, "--receipt", entries[-1]["hash"])
    assert (sound["sound"], sound["entries"]) == (True, 3)
    assert succeeded("budget", "verify", *LEDGER).startswith("sound          yes\nentries        3\nhead of views  ")
    missing = podium("budget", "verify", *LEDGER, "--receipt", "0" * 64)
    assert missing.exit_code == 7
    assert missing.stdout.startswith("sound          no: the ledger: no entry has the hash '000")


def fail_three_questions() -> None:
    with open_ledger("ledger.db") as ledger:
        for number in range(3):
            ledger.forfeit(ledger.reserve("views", Selection(Fraction(1, 20)), f"question {number}"))


def test_a_locked_data_set_says_so() -> None:
    create_budget()
    fail_three_questions()
    text = succeeded("budget", "show", "views", *LEDGER, "--verbose")
    assert "questions   3 asked, 3 failed\n" in text
    assert "locked out  without a name: too many questions failed; the owner must look before they may ask\n" in text
    assert "question 2" in succeeded("budget", "history", "views", *LEDGER)
    refused = podium("top", "views.parquet", *ASK, *LEDGER, "--dataset", "views", "--quiet")
    assert refused.exit_code == 3
    assert refused.stderr.startswith("DatasetLocked: dataset='views' is locked after 3 failed questions.\n")


def test_unlock_lets_questions_in_again_and_refunds_nothing() -> None:
    create_budget()
    fail_three_questions()
    (before,) = document("budget", "budget", "show", "views", *LEDGER)["datasets"]
    (after,) = document("budget", "budget", "unlock", "views", *LEDGER)["datasets"]
    assert (before["locked_out"], after["locked_out"]) == ([None], [])
    assert before["failures_of"] == [{"analyst": None, "failures": 3}]
    assert after["spent"] == before["spent"]
    ask()
    assert "locked" not in succeeded("budget", "unlock", "views", *LEDGER)


def test_a_new_version_of_the_data_costs_again() -> None:
    create_budget()
    ask()
    text = succeeded("budget", "data-version", "views", "2026-11-17", *LEDGER)
    assert text.startswith("data set   views (version 2026-11-17)\n")
    (before,) = document("budget", "budget", "show", "views", *LEDGER)["datasets"]
    ask()
    (after,) = document("budget", "budget", "data-version", "views", "3", *LEDGER)["datasets"]
    assert (before["questions_asked"], after["questions_asked"]) == (1, 2)
    assert after["data_version"] == "3"


def test_a_total_is_raised_on_the_record_and_never_lowered() -> None:
    create_budget()
    larger = ("budget", "raise", "views", *LEDGER, "--epsilon", "6", "--items", "30")
    assert document("budget-plan", *larger, "--dry-run")["budget"] == {
        "epsilon": "6", "delta": "1/1000000", "items": 30, "questions": 4,
        "epsilon_per_analyst": None, "delta_per_analyst": None, "max_questions": 40,
    }  # fmt: skip
    assert document("budget", "budget", "show", *LEDGER)["datasets"][0]["raises"] == 0
    assert "promise    everything released about 'views' together is (6, 1e-6)-" in succeeded(*larger, "--verbose")
    (status,) = document("budget", "budget", "show", *LEDGER)["datasets"]
    assert (status["raises"], status["total"]["budget"]["items"]) == (1, 30)
    assert "the total was raised 1 time: earlier totals no longer hold" in status["promise"]
    lower = podium("budget", "raise", "views", *LEDGER, "--epsilon", "5")
    assert lower.exit_code == 2
    assert lower.stderr.splitlines()[1:] == [
        "  Allowed: a budget of the same kind, not smaller than the present one in any part.",
        "  A total can be raised, never lowered: what was released cannot be taken back.",
    ]


def test_the_limit_on_questions_follows_the_plan_unless_it_is_stated() -> None:
    create_budget()
    (status,) = document("budget", "budget", "raise", "views", *LEDGER, "--questions", "6")["datasets"]
    assert status["total"]["budget"]["max_questions"] == 60
    text = succeeded("budget", "raise", "views", *LEDGER, "--max-questions", "7")
    assert "at most    7 questions, however cheap" in text
    (status,) = document("budget", "budget", "raise", "views", *LEDGER, "--items", "21")["datasets"]
    assert status["total"]["budget"]["max_questions"] == 7
    create_budget("copy", "--force", "--max-questions", "9")
    assert "at most    9 questions" in succeeded("budget", "show", "copy", *LEDGER)
    refused = podium("budget", "raise", "copy", *LEDGER, "--max-questions", "3")
    assert refused.exit_code == 2
    assert "at least questions=4, which is the plan" in refused.stderr


def test_one_analyst_is_let_in_again() -> None:
    create_budget()
    with open_ledger("ledger.db") as ledger:
        for name in ("ann", "bob"):
            for number in range(3):
                ledger.forfeit(ledger.reserve("views", Selection("0.05"), f"question {number}", analyst=name))
    assert podium("top", "views.parquet", *ASK, *LEDGER, "--dataset", "views", "--analyst", "ann").exit_code == 3
    (after,) = document("budget", "budget", "unlock", "views", "--analyst", "ann", *LEDGER)["datasets"]
    assert (after["locked_out"], after["failures"]) == (["bob"], 6)
    ask("--analyst", "ann")
    refused = podium("budget", "unlock", "views", "--analyst", "ann", *LEDGER)
    assert refused.exit_code == 2
    assert "an analyst whose questions about 'views' failed" in refused.stderr


def test_the_owner_is_told_of_a_mistyped_name() -> None:
    create_budget()
    for arguments in (("unlock", "view"), ("data-version", "view", "2"), ("raise", "view", "--epsilon", "6")):
        ran = podium("budget", *arguments, *LEDGER)
        assert ran.exit_code == 5
        assert "Did you mean 'views'?" in ran.stderr


def test_recover_gives_up_what_another_machine_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    create_budget()
    elsewhere = replace(this_process(), host="another", boot="another", token="another")
    with monkeypatch.context() as there, open_ledger("ledger.db") as ledger:
        there.setattr("podium.ledger.reservations.this_process", lambda: elsewhere)
        ledger.reserve("views", Selection("0.05"), "a question")
    assert succeeded("budget", "recover", *LEDGER) == "1 reservation still open\n"
    assert succeeded("budget", "recover", *LEDGER, "--force") == (
        "forfeited reservation 2 of 'views'\n0 reservations still open\n"
    )
    (status,) = document("budget", "budget", "show", "views", *LEDGER)["datasets"]
    assert (status["failures"], status["open_reservations"]) == (1, 0)


def test_the_kind_of_filter_is_chosen_once_and_says_why() -> None:
    arguments = ("budget", "create", "views", *LEDGER, "--source", "views.parquet", "--user", "user_id")
    budget = ("--epsilon", "3", "--delta", "1e-6", "--items", "200", "--questions", "20", "--filter", "auto")
    told = "chosen   gaussian: holds 223 of the planned items where sums of rho hold 200"
    assert succeeded(*arguments, *budget, "--dry-run").splitlines()[-1] == told
    limits = document("budget-plan", *arguments, *budget, "--dry-run")["limits"]
    assert set(limits) == {"epsilon", "delta", "delta_for_calls", "mu_squared"}
    created = dict(re.split(r"  +", line, maxsplit=1) for line in succeeded(*arguments, *budget).splitlines())
    assert created["chosen"] == told.removeprefix("chosen   ")
    ask()
    shown = succeeded("budget", "show", *LEDGER, "--verbose")
    assert re.search(r"^filter +gaussian, kept as mu\^2 ", shown, flags=re.MULTILINE)
    (status,) = document("budget", "budget", "show", *LEDGER)["datasets"]
    assert Fraction(status["spent"]["mu_squared"]) > 0
    raised = succeeded("budget", "raise", "views", *LEDGER, "--epsilon", "4", "--verbose")
    assert "total" in raised
    assert re.search(r"^filter +gaussian", raised, flags=re.MULTILINE)
    document("history", "budget", "history", "views", *LEDGER)
    assert succeeded("budget", "verify", *LEDGER).startswith("sound")

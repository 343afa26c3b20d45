"""``podium top`` and ``podium sql``: every format, with and without a ledger."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import duckdb
import pytest
from tests.support.command_line import ASK, RANKED, TOTAL, check, create_budget, document, podium, succeeded

from podium import Release

SQL = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 3"
COUNTED = "SELECT {0}, COUNT(DISTINCT user_id) AS n FROM views GROUP BY {0} ORDER BY n DESC LIMIT 2"
LEDGER = ("--ledger", "ledger.db", "--dataset", "views")


def test_a_pipe_gets_a_plain_table_and_nothing_else() -> None:
    ran = podium("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--quiet")
    assert ran.exit_code == 0
    assert ran.stderr == ""
    assert ran.stdout.split("\n")[:6] == [
        "rank  article",
        "   1  article-0",
        "   2  article-1",
        "   3  article-2",
        "",
        "private for each user_id: epsilon 5, delta 1e-6 · podium explain",
    ]


def test_the_guarantee_in_full_is_one_flag_away() -> None:
    told = succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--verbose")
    assert (
        "promise    (5, 1e-6)-differentially private for any one `user_id`, added or removed\npaid       rho " in told
    )
    assert "\nmechanism  " in told
    assert "\ntheorem    " in told


def test_an_answer_ends_with_what_is_used_and_left() -> None:
    create_budget()
    first = succeeded("top", "views.parquet", *ASK, *LEDGER, "-k", "3")
    total = "private for each user_id: epsilon 5, delta 1e-6 for all answers together"
    used = re.fullmatch(rf"{total} · (\d+) % of the budget used, (\d+) % left · podium explain", first.splitlines()[-1])
    assert used is not None
    assert int(used[1]) + int(used[2]) == 100
    again = succeeded("top", "views.parquet", *ASK, *LEDGER, "-k", "3").splitlines()[-1]
    assert again == used[0].replace(" · ", " · free, because it was asked before · ", 1)


def test_json_is_a_release() -> None:
    printed = document("release", "top", "views.parquet", *ASK, *TOTAL, "-k", "3")
    assert printed["entry"] is None
    assert Release.from_json(json.dumps(printed)).items == tuple(RANKED[:3])


def test_sql_without_a_ledger_names_the_file() -> None:
    printed = document("release", "sql", SQL, "--source", "views.csv", "--user", "user_id", *TOTAL)
    assert printed["outcome"] == RANKED[:3]
    other = SQL.replace("FROM views", "FROM clicks")
    named = succeeded("sql", other, "--source", "views.csv", "--user", "user_id", *TOTAL, "--dataset", "clicks")
    assert "   3  article-2\n" in named


def test_csv_has_one_column_per_item_column_and_the_counts_that_were_paid_for() -> None:
    text = succeeded("top", "views.parquet", *ASK, "--item", "country", *TOTAL, "-k", "2", "--counts", "-f", "csv")
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ["rank", "article", "country", "count", "count_low", "count_high"]
    assert [row[:3] for row in rows] == [["1", "article-0", "DE"], ["2", "article-1", "DE"]]
    assert all(abs(int(row[3]) - true) < 100 for row, true in zip(rows, (2700, 2250), strict=True))


def test_csv_is_for_spreadsheets_and_csv_raw_for_programs(tmp_path: Path) -> None:
    table = tmp_path / "formulas.csv"
    table.write_text("who,what\n" + "".join(f"{user},=1+1\n" for user in range(3000)), encoding="utf-8")
    ask = ("top", str(table), "--item", "what", "--user", "who", *TOTAL, "-k", "1", "-f")
    assert succeeded(*ask, "csv") == '"rank","what"\n1,"\'=1+1"\n'
    assert succeeded(*ask, "csv-raw") == '"rank","what"\n1,"=1+1"\n'


def test_counts_are_in_the_plain_table_too() -> None:
    text = succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--counts")
    assert text.split("\n")[0] == "rank  article    users  95% interval"


def test_sql_returns_the_columns_that_it_selects() -> None:
    asking = ("--source", "views.csv", "--user", "user_id", *TOTAL)
    assert succeeded("sql", SQL, *asking).startswith("rank  article\n")
    heading = succeeded("sql", COUNTED.format("article"), *asking).split("\n")[0]
    assert heading.split() == ["rank", "article", "n", "95%", "interval"]
    pair = COUNTED.format("article, country")
    assert succeeded("sql", pair, *asking).split("\n")[0].split()[:4] == ["rank", "article", "country", "n"]
    header = next(csv.reader(io.StringIO(succeeded("sql", pair, *asking, "-f", "csv"))))
    assert header == ["rank", "article", "country", "n", "n_low", "n_high"]
    assert document("release", "sql", pair, *asking)["value_name"] == "n"


def test_a_count_that_the_budget_cannot_pay_for_is_refused_with_the_list_alone() -> None:
    tiny = ("--source", "views.csv", "--user", "user_id", "--epsilon", "1e-9", "--delta", "1e-12")
    refused = podium("sql", COUNTED.format("article"), *tiny)
    assert refused.exit_code == 2
    assert (
        "The list alone can be had: SELECT article FROM views GROUP BY article "
        "ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 2" in refused.stderr
    )


def test_parquet_goes_to_a_file() -> None:
    ran = podium("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--format", "parquet", "--output", "answer.parquet")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr.endswith("wrote answer.parquet\n")
    assert duckdb.execute("SELECT rank, article FROM 'answer.parquet'").fetchall() == [(1, RANKED[0]), (2, RANKED[1])]


@pytest.mark.parametrize("form", ["table", "json", "csv", "csv-raw"])
def test_a_file_gets_what_stdout_would_get(form: str) -> None:
    once = ("--mechanism", "limited-domain")
    arguments = ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", *once, "--format", form)
    assert succeeded(*arguments, "--output", "answer") == ""
    told = [Path("answer").read_text(encoding="utf-8"), succeeded(*arguments)]
    # The second of one question need not be that of the other.
    first, second = (re.sub(r'"at": "[^"]+"', "", text) for text in told)
    assert first == second


def test_a_picture_beside_the_answer() -> None:
    text = succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--plot", "answer.svg")
    assert "   2  article-1\n" in text
    assert "<svg" in Path("answer.svg").read_text(encoding="utf-8")


def test_what_cannot_be_written_is_refused_before_it_is_paid_for() -> None:
    create_budget()
    for wrong in (["--output", "no/answer.csv"], ["--plot", "answer.gif"], ["--format", "parquet"]):
        assert podium("top", "views.parquet", *ASK, *LEDGER, *wrong).exit_code == 2
    (status,) = document("budget", "budget", "show", "--ledger", "ledger.db")["datasets"]
    assert status["questions_asked"] == 0
    assert not Path("answer.gif").exists()


def test_fewer_items_are_an_answer_and_not_an_error() -> None:
    ran = podium("top", "views.parquet", *ASK, "--epsilon", "0.001", "--delta", "1e-9")
    assert ran.exit_code == 0
    assert "0 of 10: no item stood out enough to be named at this budget.\n" in ran.stdout
    assert "other" not in ran.stdout.lower()


def test_a_ledger_pays_once_and_says_what_is_left() -> None:
    create_budget()
    ran = podium("top", "views.parquet", *ASK, *LEDGER, "-k", "5", "--format", "json")
    # Rounds return what they did not need, so that at least what five selections would leave is left.
    left = re.search(r"views: (\d+) % of the budget used, (\d+) % left\n$", ran.stderr)
    assert left is not None
    assert int(left[2]) >= 74
    first = json.loads(ran.stdout)
    check("release", first)
    again = document("release", "sql", SQL, "--source", "views.parquet", "--user", "user_id", *LEDGER)
    assert again["outcome"] == first["outcome"][:3]
    assert (again["paid"], again["entry"]) == ([], first["entry"])


def test_the_same_question_is_free_in_sql_and_without_it() -> None:
    create_budget()
    start = "SELECT article FROM views GROUP BY article"
    sql = ("--source", "views.parquet", "--user", "user_id", *LEDGER)
    top = ("top", "views.parquet", *ASK, *LEDGER, "--where", "country = 'DE'", "--by", "events", "--clip", "1")
    first = document("release", *top, "-k", "3")
    assert first["paid"]
    for text, *said in (
        (f"{start} ORDER BY COUNT(*) DESC", "-k", "3", "--where", "country = 'DE'"),
        (f"{start} LIMIT 3", "--by", "events", "--where", "country = 'DE'"),
        (start.replace("GROUP", "WHERE country = 'DE' GROUP"), "--by", "events", "-k", "3"),
    ):
        again = document("release", "sql", text, *sql, *said, "--clip", "1")
        assert (again["paid"], again["outcome"], again["entry"]) == ([], first["outcome"], first["entry"])
    lists = document(
        "release", "sql", f"{start} ORDER BY COUNT(*) DESC", "-k", "1", "--per", "country", *sql, "--clip", "1"
    )
    per = ("--per", "country", "--by", "events", "-k", "1", "--clip", "1")
    grouped = document("release", "top", "views.parquet", *ASK, *LEDGER, *per)
    assert (lists["lists"], grouped["paid"]) == (grouped["lists"], [])


def test_the_ledger_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    create_budget()
    monkeypatch.setenv("PODIUM_LEDGER", "ledger.db")
    assert "article-0" in succeeded("top", "views.parquet", *ASK, "--dataset", "views", "-k", "1")


@pytest.mark.parametrize("ledger", [(), LEDGER])
def test_a_dry_run_touches_nothing(ledger: tuple[str, ...]) -> None:
    create_budget()
    cost = TOTAL if not ledger else ()
    top = document("plan", "top", "views.parquet", *ASK, *cost, *ledger, "-k", "3", "--dry-run")
    sql = document("plan", "sql", SQL, "--source", "views.parquet", "--user", "user_id", *cost, *ledger, "--dry-run")
    assert top == sql
    # First come the pairs that all rounds share.
    first = "CREATE TEMPORARY TABLE podium_kept"
    assert top["queries"][0].startswith(first)
    shown = succeeded("top", "views.parquet", *ASK, *cost, *ledger, "--dry-run")
    assert f"\n\n{first} AS\nSELECT DISTINCT\n  rows_." in shown
    assert max(map(len, shown.partition("\n\n")[2].splitlines())) < 120
    (status,) = document("budget", "budget", "show", "--ledger", "ledger.db")["datasets"]
    assert status["questions_asked"] == 0
    refused = podium("top", "views.parquet", *ASK, *cost, *ledger, "--dry-run", "--format", "csv")
    assert refused.exit_code == 2


def test_known_domains_and_bounds() -> None:
    Path("articles.csv").write_text("article\n" + "\n".join(RANKED), encoding="utf-8")
    listed = document("release", "top", "views.parquet", *ASK, "--epsilon", "9", "--domain", "articles.csv", "-k", "6")
    assert set(listed["outcome"]) == set(RANKED)
    sized = ("--item", "shelf", "--user", "user_id", "--epsilon", "5", "--domain-size", "4", "-k", "4")
    assert set(document("release", "top", "views.parquet", *sized)["outcome"]) == {0, 1, 2, 3}
    bounded = document("release", "top", "views.parquet", *ASK, *TOTAL, "--max-items-per-user", "2", "-k", "1")
    assert bounded["parameters"]["max_items_per_user"] == "2"
    assert document("plan", "plan", "-k", "3", *TOTAL, "--k-bar", "50")["parameters"]["k_bar"] == "50"


def test_a_list_for_each_group_is_planned_before_there_is_data() -> None:
    asked = ("plan", "-k", "3", *TOTAL, "--per", "country")
    planned = document("plan", *asked, "--groups-per-user", "2", "--known-groups", "50")
    assert planned["groups"] == (
        "one list for each value of country: the listed ones, each of which is shown; a user counts in at most 2"
    )
    assert (planned["mechanism"], planned["parameters"]["known"]) == ("GroupedRounds", "50")
    # One group each costs what one list costs, however many groups there are.
    one, many = (document("plan", *some, "--mechanism", "adaptive") for some in (asked[:-2], asked))
    assert one["at_most"] == many["at_most"]
    assert "for all lists together" in succeeded(*asked)
    described = ("--users", "300", "--items", "40", "--items-per-user", "3")
    assert "of the true top 3 of a group, in 5 groups like this" in succeeded(*asked, *described)
    assert podium(*asked, "--groups-per-user", "all").exit_code == 0
    for wrong, name in (
        ((*asked, "--groups-per-user", "all", *described), "groups_per_user="),
        ((*asked, "--known-groups", "0"), "known_groups="),
        ((*asked[:-2], "--groups-per-user", "2"), "groups_per_user="),
        ((*asked[:-2], "--known-groups", "2"), "groups="),
    ):
        refused = podium(*wrong)
        assert refused.exit_code == 2
        assert name in refused.stderr


def test_the_mechanism_can_be_chosen() -> None:
    chosen = document("release", "top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--mechanism", "adaptive")
    assert chosen["mechanism"] == "AdaptiveTopK"
    assert document("release", "top", "views.parquet", *ASK, *TOTAL, "-k", "3")["mechanism"] == "SizedTopK"
    once = ("-k", "2", "--mechanism", "limited-domain")
    assert document("release", "top", "views.parquet", *ASK, *TOTAL, *once)["mechanism"] == "LimitedDomain"


def test_csv_columns_are_text_unless_declared() -> None:
    asked = ("top", "views.csv", *ASK, *TOTAL, "-k", "1", "--where", "shelf = 3", "--format", "json")
    assert podium(*asked).exit_code == 2
    assert "article-0" in succeeded(*asked, "--types", "shelf=integer, user_id=integer", "--types", "score=decimal(1)")
    refused = podium(*asked, "--types", "shelf:integer")
    assert refused.stderr == (
        "InvalidArgument: types='shelf:integer' is not valid.\n  Allowed: COL=TYPE.\n"
        "  For example: --types user_id=integer\n"
    )


def test_a_set_from_a_known_domain_says_that_it_has_no_order() -> None:
    Path("articles.csv").write_text("\n".join(["article", *RANKED, "nobody reads this"]), encoding="utf-8")
    wanted = ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--domain", "articles.csv", "--unordered")
    assert succeeded(*wanted).split("\n")[:6] == [
        "rank  article",
        "   -  article-0",
        "   -  article-1",
        "",
        "A set, in no particular order: which of its items has the most users is not part of the answer.",
        "",
    ]
    printed = document("release", *wanted)
    assert (printed["ordered"], printed["mechanism"]) == (False, "TestedTopK")
    assert Release.from_json(json.dumps(printed)).outcome == frozenset(RANKED[:2])
    assert succeeded(*wanted, "--format", "csv").split("\n")[:2] == ['"article"', '"article-0"']
    assert document("plan", *wanted, "--dry-run")["mechanism"] == "TestedTopK"


def test_without_a_domain_the_order_comes_for_nothing() -> None:
    wanted = ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--unordered")
    assert document("release", *wanted)["mechanism"] == "SizedTopK"
    ran = podium("top", "views.parquet", *ASK, *TOTAL, "--mechanism", "set")
    assert ran.exit_code == 2


def test_rules_for_files() -> None:
    Path("caf\u00e9.csv").write_bytes(
        b'user_id,article\n9,"5" pipe"\n' + b"".join(b"%d,caf\xe9\n" % user for user in range(2_000))
    )
    ask = ("top", "caf\u00e9.csv", *ASK, *TOTAL, "-k", "1", "--quiet")
    for encoding in ("windows-1252", "utf-8"):
        assert "line 2 breaks CSV's quoting" in podium(*ask, "--encoding", encoding).stderr
    assert "   1  caf\u00e9\n" in succeeded(*ask, "--encoding", "windows-1252", "--bad-lines", "drop")
    with_ledger = ("--ledger", "caf\u00e9.db", "--source", "caf\u00e9.csv", "--user", "user_id", "--epsilon", "5")
    create = ("budget", "create", "views", *with_ledger, "--delta", "1e-6", "--items", "10", "--questions", "5")
    assert podium(*create).exit_code == 4
    rules = ("--encoding", "windows-1252", "--bad-lines", "drop")
    assert podium(*create, *rules).exit_code == 0
    told = succeeded("top", "caf\u00e9.csv", *ASK, "-k", "1", "--ledger", "caf\u00e9.db", "--dataset", "views", *rules)
    assert "   1  caf\u00e9\n" in told


def test_a_short_list_from_json_says_what_its_columns_are() -> None:
    lines = (f'{{"user_id": {user}, "tags": ["a{user}", "b"], "article": "c"}}\n' for user in range(2_000))
    Path("tags.jsonl").write_text("".join(lines), encoding="utf-8")
    # An item that one user has stands out with probability delta, and there are two thousand.
    ask = ("top", "tags.jsonl", "--user", "user_id", "--epsilon", "30", "--delta", "1e-15", "-k", "1")
    ran = podium(*ask, "--item", "tags")
    assert "0 of 1: no item stood out" in ran.stdout
    assert "a list counts as one item: check tags, or declare a list with --types 'tags=list(text)'" in ran.stderr
    declared = podium(*ask, "--item", "tags", "--types", "tags=list(text)")
    assert "   1  b\n" in declared.stdout
    assert "list" not in declared.stderr
    assert "   1  c\n" in succeeded(*ask, "--item", "article", "--types", "tags=list(text)")

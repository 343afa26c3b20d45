"""``python -m podium.privacy``: the table, its JSON twin, and what it says about bad input."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from podium.privacy.__main__ import main
from podium.privacy.theorems.comparison import compare


def test_json_has_the_numbers_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--k", "100", "--epsilon", "0.1", "--delta", "1e-6", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    totals = {row["theorem"]: float(row["epsilon"]) for row in document["bounds"]}
    assert totals["bounded-range composition, three terms"] == pytest.approx(3.12826, abs=5e-6)
    assert totals["zCDP with e^2/8"] == pytest.approx(2.41909, abs=5e-6)
    assert totals["Renyi curve"] == pytest.approx(2.40020, abs=5e-6)
    assert totals["optimal composition of pure mechanisms"] == pytest.approx(4.77457, abs=5e-6)
    assert 2.2508 <= totals["adaptive bounded-range optimum"] <= 2.2510
    best = [row for row in document["bounds"] if row["best"]]
    assert [row["theorem"] for row in best] == ["adaptive bounded-range optimum"]
    invalid = [row["theorem"] for row in document["bounds"] if not row["valid_for_peeling"]]
    assert invalid == ["non-adaptive bounded-range optimum"]


def test_rows_go_from_large_to_small_and_the_invalid_one_is_never_best() -> None:
    rows = compare(5, "0.5", "1e-3")
    totals = [row.epsilon for row in rows if row.epsilon is not None]
    assert totals == sorted(totals, reverse=True)
    assert all(row.valid_for_peeling for row in rows if row.best)
    discrete = next(row for row in rows if row.theorem.endswith("discrete"))
    assert discrete.delta <= Fraction(1, 1000)


def test_large_k_skips_what_is_for_comparison_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--k", "400", "--epsilon", "0.05", "--delta", "1e-6"]) == 0
    assert "not computed for k above 300" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0", "--epsilon", "0.1", "--delta", "1e-6"], "k=0 is not valid"),
        (["--k", "3", "--epsilon", "-1", "--delta", "1e-6"], "epsilon='-1' is not valid"),
        (["--k", "3", "--epsilon", "0.1", "--delta", "2"], "delta='2' is not valid"),
        (["--k", "3", "--epsilon", "0.1"], "--delta"),
    ],
)
def test_bad_input_is_explained(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err

"""Podium and OpenDP are given the same rho, and what is reported is what they found. No assertion on a time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bench import opendp_recall
from bench.opendp_recall import Plan, measure, opendp_peeling, podium_peeling
from bench.utility.data import Pairs

from podium.privacy import worst_case


def staircase(items: int) -> Pairs:
    """Item i has ``items - i`` users, each with one pair."""
    counts = np.arange(items, 0, -1)
    held = np.repeat(np.arange(items), counts)
    return Pairs("staircase", np.arange(len(held)), held, counts, np.ones(len(held), dtype=np.int64))


@pytest.mark.parametrize("rho", ["1e-4", "1e-2", "1"])
@pytest.mark.parametrize("k", [1, 10])
def test_both_use_up_the_same_rho(k: int, rho: str) -> None:
    ours, theirs = worst_case(podium_peeling(50, k, rho).worst_case).rho, opendp_peeling(k, rho).map(1)
    for spent in (float(ours), theirs):
        assert 0.999_999 * float(rho) <= spent <= float(rho)


def test_a_large_rho_finds_everything_and_a_small_one_nothing_in_particular() -> None:
    pairs = staircase(60)
    sure = measure(pairs, 5, "1e4", 3)
    assert sure.recalls == {"podium": [1.0] * 3, "opendp": [1.0] * 3}
    lost = measure(pairs, 5, "1e-9", 20)
    assert all(lost.recall(who)[0] < 0.5 for who in lost.recalls)
    written = lost.as_json()
    assert (written["d"], written["k"], written["rho"], written["mechanism"]) == (60, 5, "1e-9", "ExponentialTopK")
    assert written["recall"]["opendp"] == pytest.approx(np.mean(written["recalls"]["opendp"]))
    assert {who: len(seconds) for who, seconds in written["seconds"].items()} == {"podium": 20, "opendp": 20}


def test_the_file_has_every_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opendp_recall, "QUICK", Plan("quick", (2, 3), ("1",), runs=2))
    monkeypatch.setattr(opendp_recall, "missing", lambda name: name == "msweb")
    monkeypatch.setattr(opendp_recall, "load", lambda _: staircase(20))
    file = tmp_path / "out.json"
    assert opendp_recall.main(["--quick", "--json", str(file)]) == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert set(written) == {"bench", "version", "machine", "settings", "cells", "absent"}
    assert [cell["k"] for cell in written["cells"]] == [2, 3]
    assert written["absent"] == ["msweb"]

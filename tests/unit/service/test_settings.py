"""Settings: exact numbers, full paths, and words for every mistake."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.service.settings import load, read

DATASET = {"source": "views.parquet", "user": "user_id"}
GOOD: dict[str, Any] = {"ledger": "ledger.db", "datasets": {"views": DATASET}}


def test_a_file_is_read_exactly(tmp_path: Path) -> None:
    file = tmp_path / "podium.toml"
    file.write_text(
        """ledger = "ledger.db"
[server]
port = 9000
[datasets.views]
source = "views.parquet"
user = "user_id"
types = { weekday = "integer" }
[datasets.views.budget]
epsilon = 0.3
delta = 1e-6
items = 10
questions = 2
""",
        encoding="utf-8",
    )
    found = load(file, environment={"PODIUM_PORT": "9001", "PODIUM_WORKERS": "3"})
    budget = found.datasets["views"].budget
    assert budget is not None
    assert (budget.epsilon, budget.delta) == (Fraction(3, 10), Fraction(1, 10**6))
    assert found.ledger == str(tmp_path / "ledger.db")
    assert found.state == str(tmp_path / "service.db")
    assert found.datasets["views"].source == str(tmp_path / "views.parquet")
    assert (found.server.port, found.server.workers) == (9001, 3)


def test_a_shared_ledger_keeps_the_state_too(tmp_path: Path) -> None:
    url = "postgresql://me@host/db"
    found = read({**GOOD, "ledger": url}, folder=tmp_path, environment={})
    assert found.state == url
    assert read(GOOD, folder=tmp_path, environment={"PODIUM_LEDGER": url}).ledger == url


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"ledger": ""}, "ledger='' is not valid. Allowed: a string that is not empty."),
        ({"ledgre": "x"}, ("ledgre='x' is not valid. Allowed: one of the keys datasets, ledger, limits, registration, "
                          "server, state.")),
        ({"datasets": {}}, ("datasets={} is not valid. Allowed: one [datasets.NAME] or more. "
                           "Or name a folder as registration.")),
        ({"datasets": {"a b": DATASET}}, ("dataset='a b' is not valid. Allowed: 1 to 64 letters, digits, hyphens or "
                                         "underscores, starting with a letter or digit.")),
        ({"server": {"port": 0}}, "server.port=0 is not valid. Allowed: an integer above 0."),
        ({"server": {"port": 70_000}}, "server.port=70000 is not valid. Allowed: 1 to 65535."),
        ({"server": {"public_url": "ftp://x"}}, (
            "server.public_url='ftp://x' is not valid. Allowed: http:// or https:// and a host, without a path.")),
        ({"limits": {"body_bytes": True}}, "limits.body_bytes=True is not valid. Allowed: an integer above 0."),
        ({"datasets": {"v": {**DATASET, "budget": {"items": 1}}}}, (
            "datasets.v.budget=['items'] is not valid. Allowed: epsilon, items and questions, and a delta unless it is "
            "pure.")),
        ({"datasets": {"v": {**DATASET, "force": 1}}}, "datasets.v.force=1 is not valid. Allowed: true or false."),
        ({"datasets": {"v": 1}}, "datasets.v=1 is not valid. Allowed: a table of keys and values."),
        ({"registration": "absent"}, None),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, changed: dict[str, Any], text: str | None) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read({**GOOD, **changed}, folder=tmp_path, environment={})
    assert text is None or str(caught.value) == text


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="Allowed: a TOML file that can be read"):
        load(tmp_path / "absent.toml", environment={})
    broken = tmp_path / "broken.toml"
    broken.write_text("ledger =", encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"Allowed: a TOML file\. Invalid value"):
        load(broken, environment={})
    with pytest.raises(InvalidArgument, match="PODIUM_PORT='x' is not valid"):
        read(GOOD, folder=tmp_path, environment={"PODIUM_PORT": "x"})

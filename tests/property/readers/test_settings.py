"""Settings, questions, problems and tokens of the service: any document is understood or refused."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.readers.test_releases import refused_or_read
from tests.support.damage import HOSTILE_TEXTS, damaged, values

from podium.errors import (
    BudgetExceeded,
    DatasetLocked,
    InvalidArgument,
    PodiumError,
    QuestionForfeited,
    QuestionRefused,
    UnknownColumn,
)
from podium.ledger import Budget
from podium.service.settings import Settings, load, read
from podium.wire.problems import problem, restore_error
from podium.wire.request import QuestionRequest

GOOD: dict[str, Any] = {
    "ledger": "ledger.db",
    "state": "service.db",
    "server": {"host": "127.0.0.1", "port": 8000, "workers": 2, "public_url": "https://x", "public_metrics": False},
    "limits": {"body_bytes": 65_536, "requests_per_minute": 600},
    "datasets": {
        "views": {
            "source": "views.parquet", "user": "user_id", "table": "t", "types": {"weekday": "integer"},
            "force": False,
            "budget": {"epsilon": Decimal(1), "delta": Decimal("1e-6"), "items": 10, "questions": 10},
        },
    },
}  # fmt: skip
QUESTIONS = (
    QuestionRequest.of(item="article", k=5, where="country = 'DE'", epsilon="0.1", counts=True).to_dict(),
    QuestionRequest.of(sql="SELECT 1").to_dict(),
    QuestionRequest.of(item=["a", "b"], domain=[["x", 1]], k_bar=7).to_dict(),
)
HALF = Fraction(1, 2)
ERRORS = (
    InvalidArgument("k", 0, allowed="1 or more"),
    BudgetExceeded("rho", HALF, HALF / 2),
    DatasetLocked("views", 3),
    QuestionForfeited("views", HALF, HALF),
    QuestionRefused("1 / 0", "nothing is computed", hint="Compare a column."),
    UnknownColumn("item", "artcle", ("article",)),
)
VARIABLES = ("PODIUM_LEDGER", "PODIUM_STATE", "PODIUM_HOST", "PODIUM_PORT", "PODIUM_WORKERS", "PODIUM_PUBLIC_URL")


@settings(max_examples=300)
@given(damaged(st.just(GOOD)), st.dictionaries(st.sampled_from(VARIABLES), st.sampled_from(HOSTILE_TEXTS), max_size=1))
def test_damaged_settings(document: Any, environment: dict[str, str]) -> None:
    if isinstance(document, dict):
        found = refused_or_read(lambda: read(document, folder=Path("/nowhere"), environment=environment))
        assert found is None or isinstance(found, Settings)


@settings(max_examples=150)
@given(st.text(max_size=60) | st.binary(max_size=60) | st.sampled_from(["a = [" + "[" * 5000, "a." * 5000 + "a = 1"]))
def test_any_file_of_settings(tmp_path_factory: pytest.TempPathFactory, content: str | bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    assert refused_or_read(lambda: load(file, environment={})) is None


@settings(max_examples=150)
@given(damaged(st.sampled_from(QUESTIONS)) | values)
def test_a_damaged_question(document: Any) -> None:
    found = refused_or_read(lambda: QuestionRequest.from_text(json.dumps(document)))
    if found is not None:
        assert QuestionRequest.from_text(found.to_text()).to_text() == found.to_text()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_it_was_sent(error: PodiumError) -> None:
    found = restore_error(problem(error, request_id="1"), 500)
    assert type(found) is type(error)
    assert isinstance(found, PodiumError)
    assert (str(found), found.lines) == (str(error), error.lines)


@settings(max_examples=150)
@given(damaged(st.sampled_from([problem(error, request_id="1") for error in ERRORS])), st.integers(400, 599))
def test_a_damaged_problem_is_still_an_error(document: Any, status: int) -> None:
    if isinstance(document, dict):
        error = restore_error(document, status)
        assert isinstance(error, PodiumError)
        assert isinstance(str(error), str)
        assert error.lines


@settings(max_examples=150)
@given(
    damaged(st.just(Budget(epsilon=1, delta="1e-6", items=3, questions=2, epsilon_per_analyst="0.5").to_dict()))
    | values
)
def test_a_damaged_budget(document: Any) -> None:
    found = refused_or_read(lambda: Budget.from_dict(document))
    if found is not None:
        assert Budget.from_json(found.to_json()) == found

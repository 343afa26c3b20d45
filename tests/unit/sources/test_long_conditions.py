"""A condition of hundreds of parts is planned in time that grows with its length: no step copies all of it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlglot import exp
from tests.support.serving import views

import podium
from podium.sources import Source, open_source

FORMS = {
    "either": (" OR ", "country = 'x{}'"),
    "like": (" OR ", "country LIKE 'x{}%'"),
    "not": (" OR ", "NOT (country = 'x{0}' AND weekday = {0})"),
}
PARTS = 60


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    opened = open_source(str(views(tmp_path_factory.mktemp("long") / "views.parquet", users=10)))
    yield opened
    opened.close()


@pytest.mark.parametrize("more", [{}, {"max_items_per_user": 3}, {"domain": ["a0", "a1", "a2"]}], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_condition_is_copied_when_it_is_written_and_never_before(
    source: Source, monkeypatch: pytest.MonkeyPatch, form: str, more: dict[str, Any]
) -> None:
    glue, part = FORMS[form]
    where = glue.join(part.format(place) for place in range(PARTS))
    copied: list[int] = []
    copy = exp.Expression.__deepcopy__

    def counted(self: exp.Expression, memo: Any) -> Any:
        copied.append(sum(isinstance(node, exp.Literal) for node in self.walk()))
        return copy(self, memo)

    monkeypatch.setattr(exp.Expression, "__deepcopy__", counted)
    asked = podium.plan(source, item="article", user="user_id", k=2, epsilon=1, delta="1e-6", where=where, **more)
    assert asked.queries
    # Writing a query copies it: the engine plans one or two before anything is paid, and as many are shown.
    assert sum(literals >= PARTS / 2 for literals in copied) <= 4, sorted(copied)[-10:]

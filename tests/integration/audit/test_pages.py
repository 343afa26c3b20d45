"""Every Python block of the auditor's page runs as printed: a plain function, an OpenDP measurement, sessions."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "audit.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_a_block_runs(place: int, capsys: pytest.CaptureFixture[str]) -> None:
    random.seed(place)
    exec(compile(BLOCKS[place], f"docs/audit.md, block {place + 1}", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out


def test_there_are_blocks() -> None:
    assert len(BLOCKS) == 4

"""Tables of the whole path, made once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.tables import views

from podium.estimates.others import MeasureOthers
from podium.mechanisms.measures.clip_choice import ClipChoice
from podium.mechanisms.measures.length_choice import NormChoice
from podium.randomness.replay import ReplayableBits


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a module may have otherwise."""
    return views(tmp_path_factory.mktemp("views") / "views.parquet")


@pytest.fixture
def table(made: Path, tmp_path: Path) -> Path:
    """The table in a folder of its own, for a ledger beside it."""
    return Path(shutil.copy(made, tmp_path / made.name))


@pytest.fixture
def replayed_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a clip, a length or a ceiling is chosen from has the same noise in each run.

    Once in some ten thousand questions an entry that nobody is in lies five deviations above 0, and they are chosen
    for amounts that nobody has.
    """
    for chooser, name in ((ClipChoice, "release"), (NormChoice, "release"), (MeasureOthers, "release_rest")):
        monkeypatch.setattr(chooser, name, _replayed(getattr(chooser, name)))


def _replayed(draw: Any) -> Any:
    def replayed(*arguments: Any, bits: object = None, **more: Any) -> Any:
        return draw(*arguments, **more, bits=ReplayableBits(7) if bits is None else bits)

    return replayed

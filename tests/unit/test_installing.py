"""What an error says to run works where the reader stands."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from podium.errors import MissingLibrary
from podium.errors.installing import install_command


class Installed:
    def __init__(self, origin: str | None) -> None:
        self.origin = origin

    def read_text(self, _name: str) -> str | None:
        return self.origin


def test_a_clone_is_installed_again_and_from_inside_it_paths_are_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    origin = json.dumps({"url": clone.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr(metadata, "distribution", lambda _name: Installed(origin))
    monkeypatch.setattr(sys, "executable", str(clone / ".venv" / "bin" / "python"))
    monkeypatch.chdir(tmp_path)
    assert shlex.split(install_command("plot")) == [
        "a clone/.venv/bin/python", "-m", "pip", "install", "--editable", "a clone[plot]",
    ]  # fmt: skip
    monkeypatch.chdir(clone)
    assert install_command("plot") == ".venv/bin/python -m pip install --editable '.[plot]'"
    assert str(MissingLibrary("matplotlib", purpose="A picture", extra="plot")).endswith(
        "Run: .venv/bin/python -m pip install --editable '.[plot]'"
    )


@pytest.mark.parametrize(
    "origin", [None, "{}", "not json", '{"url": "https://example.org/podium"}', '{"url": 3}', "[]"]
)
def test_elsewhere_the_registry_is_asked(origin: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda _name: Installed(origin))
    assert install_command("spark").endswith(" -m pip install 'podium-topk[spark]'")


def test_a_copy_that_was_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Installed:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("spark").endswith(" -m pip install 'podium-topk[spark]'")

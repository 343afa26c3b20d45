"""The built site, shared by the tests that look at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a copy: whatever is in site/ stays as it is."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("mathjax"))
    shutil.copy(ROOT / "zensical.toml", folder)
    ran = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, "No issues found" in ran.stdout + ran.stderr) == (0, True), ran.stdout + ran.stderr
    return folder / "site"

"""The command that draws the pictures of the documentation, and counts that keep their intervals when told again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.curator.tables import curator, events

from podium.errors.installing import install_command
from podium.present.intervals import margin_of

NAMES = ("ranking", "counts", "fewer", "budget", "composition", "profile", "recall")


def test_every_kind_of_picture_is_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "tools.pictures", str(tmp_path / "pictures")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
    written = [Path(line) for line in ran.stdout.splitlines()]
    assert {path.name for path in written} == {
        f"{name}{theme}.{kind}" for name in NAMES for theme in ("", "-dark") for kind in ("png", "svg")
    }
    assert all(path.stat().st_size > (2_000 if path.suffix == ".svg" else 5_000) for path in written)
    assert "stood out enough to be named" in (tmp_path / "pictures" / "fewer.svg").read_text(encoding="utf-8")


def test_without_matplotlib_the_command_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from tools.pictures import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 2
    assert ran.stderr == (
        f"MissingLibrary: library='matplotlib' is not installed. A picture needs it. Run: {install_command('plot')}\n"
    )


def test_counts_told_again_keep_their_intervals(tmp_path: Path) -> None:
    path = events(tmp_path / "views.parquet", {"a": 3000, "b": 2000, "c": 900})
    with curator(path) as (asked, _):
        first = asked.top("article", k=2, counts=True)
        again = asked.top("article", k=2, counts=True)
    assert first.paid.rho > 0
    assert again.paid.events == ()
    assert margin_of(again) == margin_of(first) is not None
    assert again.to_arrow().column_names == ["rank", "article", "count", "count_low", "count_high"]

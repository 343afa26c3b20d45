"""What a file of results says of the code that was measured."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from bench import measure
from bench.page import write
from tests.support.bench_reports import CANONICAL

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder: Path, *arguments: str) -> str:
    named = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *named, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for file in ("src/a.py", "bench/known/b.py", "docs/c.md"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("1\n", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_the_commit_of_a_clean_tree(repository: Path) -> None:
    (repository / "docs" / "c.md").write_text("2\n", encoding="utf-8")
    (repository / "bench" / "results.json").write_text("{}\n", encoding="utf-8")
    found = measure.commit.__wrapped__(repository)
    assert found
    assert git(repository, "rev-parse", "HEAD").startswith(found)


@pytest.mark.parametrize("file", ["src/a.py", "src/new.py", "bench/known/b.py"])
def test_code_that_differs_from_the_commit(repository: Path, file: str) -> None:
    (repository / file).write_text("2\n", encoding="utf-8")
    found = measure.commit.__wrapped__(repository)
    assert found
    head, _, changes = found.partition(" + ")
    assert (git(repository, "rev-parse", "HEAD").startswith(head), changes) == (True, "changes")


def test_no_repository_and_no_commit(tmp_path: Path) -> None:
    assert measure.commit.__wrapped__(tmp_path) is None


def test_an_archive_inside_another_repository(repository: Path) -> None:
    assert measure.commit.__wrapped__(repository / "src") is None


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert measure.commit.__wrapped__(repository) is None


def test_the_commit_is_with_the_machine() -> None:
    assert measure.machine()["commit"] == measure.commit()


def test_results_without_a_commit_have_that_which_brought_them(repository: Path, tmp_path: Path) -> None:
    kept = repository / "docs" / "canonical.json"
    report = {**copy.deepcopy(CANONICAL), "machine": {"cpus": 2}}
    kept.write_text(json.dumps(report), encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "results")
    brought = measure.committed_in(kept)
    assert brought is not None
    assert git(repository, "rev-parse", "HEAD").startswith(brought)
    folders = ["--results", str(tmp_path / "none"), "--kept", str(kept.parent), "--publish", str(tmp_path / "out")]
    for _ in range(2):
        # The second time the file itself says so.
        assert write.main(folders) == 0
        page = (tmp_path / "out" / write.PAGE).read_text(encoding="utf-8")
        assert f", commit not recorded, kept since {brought}." in page
        git(repository, "commit", "--quiet", "--all", "--allow-empty", "-m", "later")


def test_a_file_that_nobody_committed(tmp_path: Path) -> None:
    assert measure.committed_in(tmp_path / "a.json") is None

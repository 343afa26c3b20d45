"""Private copies of the tree, in which code may be broken, and running named tests there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.mutant import ROOT, Mutant

__all__ = ["REPORT", "Run", "Tree", "private_copy"]

REPORT = "PODIUM_MUTANTS_REPORT"
"""The environment variable with the file that the witness writes."""

_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "site", "pictures"
)
_ARGUMENTS = (
    "-q", "--tb=no", "-n0", "-p", "tools.mutants.witness", "-p", "no:cacheprovider",
    # What a failed test leaves to be collected, such as a folder half read, says nothing about a mutation.
    "-p", "no:unraisableexception",
    # Plugins that the server has loaded already make no assertions of ours.
    "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
)  # fmt: skip
_LONGEST = 600.0
"""Seconds for the tests of one mutation, in which some take minutes to find that they cannot go on."""


@dataclass(frozen=True, slots=True)
class Run:
    """What became of each test, by node id, and how those that failed did: (kind of error, text)."""

    seen: dict[str, str]
    errors: dict[str, tuple[str, str]]
    trouble: str = ""

    def of(self, node: str) -> dict[str, str]:
        """The outcomes of a test and of all its cases."""
        return {seen: outcome for seen, outcome in self.seen.items() if seen == node or seen.startswith(f"{node}[")}


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of the tree, and the process that runs its tests."""

    root: Path
    server: subprocess.Popen[str]

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """The copy with the mutation, until it is left."""
        path = self.root / mutant.path
        text = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(text), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")

    def run(self, nodes: Iterable[str], *, first: bool = False) -> Run:
        """Run these tests against the package of this copy; ``first``: one failure is enough."""
        report = self.root / "report.json"
        report.unlink(missing_ok=True)
        arguments = [*_ARGUMENTS, *(["-x"] if first else []), *nodes]
        code, output = self._serve(arguments)
        if code is None:
            return Run({}, {}, f"no end after {_LONGEST:.0f} seconds")
        # 0 and 1 mean that tests ran; whatever else happened, they did not, or not all of them.
        if code not in (0, 1) or not report.exists():
            return Run({}, {}, f"pytest ended with {code}: {' '.join(output.strip().splitlines()[-3:])}")
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        if not Path(document["podium"]).is_relative_to(self.root.resolve() / "src"):
            return Run({}, {}, f"the tests imported another podium: {document['podium']}")
        return Run(document["seen"], {node: (kind, text) for node, (kind, text) in document["errors"].items()})

    def _serve(self, arguments: list[str]) -> tuple[int | None, str]:
        if self.server.stdin is None or self.server.stdout is None:
            raise RuntimeError("a server without pipes")
        print(json.dumps({"arguments": arguments, "seconds": _LONGEST}), file=self.server.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self.server.stdout.readline())
        return answer["code"], answer["output"]


@contextmanager
def private_copy() -> Iterator[Tree]:
    """A copy that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="podium-mutants-") as folder:
        root = Path(folder) / "tree"
        shutil.copytree(ROOT, root, ignore=_LEFT_OUT, symlinks=True)
        # By hash, because two versions of a file may well have one size and one second.
        subprocess.run(
            [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"], cwd=root,
            check=True,
        )  # fmt: skip
        # Ahead of the editable install, also in processes that the tests start.
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), REPORT: str(root / "report.json")}
        with subprocess.Popen(
            [sys.executable, "-m", "tools.mutants.server"], cwd=root, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        ) as server:  # fmt: skip
            yield Tree(root, server)

"""What one question calls: ``python -m tools.walks`` traces four questions and prints how far each of them walks.

Of a walk it counts the functions of the package that ran (comprehensions, generator expressions and lambdas included,
and again without these), the files they are in, and the deepest stack of them. The spine is the deepest stack that ends
in a source, as the layers of the import contract that it goes through. A call into a layer further up is listed,
because a reader must go back there. What runs when a module is imported does not count. ``--list`` prints the functions
too, and PYTHONPATH may name another tree to be measured.

Draws are random, and so is a little of what they call: two runs may differ by a few functions.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import podium

__all__ = ["GOALS", "WALKS", "Walk", "main", "median_length", "report", "walk"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(podium.__file__).resolve().parent
ENGINES = "sources"
_NAMELESS = " (line "


class Goal(NamedTuple):
    """How much of the package a reader should have to know for one question, at most."""

    functions: int
    files: int


GOALS: dict[str, Goal] = {"top": Goal(200, 40), "sql": Goal(230, 45), "post": Goal(240, 50)}
WALKS: dict[str, str] = {
    "top": "`podium top -k 10`",
    "sql": "`Curator.sql` with a ledger",
    "post": "POST of a question",
    "rounds": "k=100, rounds",
}


@dataclass(frozen=True, slots=True)
class Walk:
    """What one question called."""

    name: str
    functions: tuple[str, ...]
    deepest: int
    spine: tuple[str, ...]
    upward: tuple[str, ...]

    @property
    def named(self) -> list[str]:
        """Without comprehensions, generator expressions and lambdas."""
        return [function for function in self.functions if _NAMELESS not in function]

    @property
    def files(self) -> set[str]:
        """Where the functions are."""
        return {function.partition(":")[0] for function in self.functions}

    @property
    def again(self) -> tuple[str, ...]:
        """The layers that the spine leaves and comes back to."""
        return tuple(sorted({layer for layer in self.spine if self.spine.count(layer) > 1}))

    @property
    def met(self) -> str:
        """Whether the walk is as short as it should be."""
        if (goal := GOALS.get(self.name)) is None:
            return "no goal"
        short = len(self.functions) <= goal.functions and len(self.files) <= goal.files
        return f"{'met' if short else 'not met'} ({goal.functions} in {goal.files})"


class Tracer:
    """Listens to all threads; counts only while ``recording``, so that opening what is asked about is left out."""

    def __init__(self) -> None:
        self.recording = False
        self.functions: set[CodeType] = set()
        self.calls: set[tuple[CodeType, CodeType]] = set()
        self.deepest: list[CodeType] = []
        self.to_engine: list[CodeType] = []

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Follow this thread and those that it starts."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextlib.contextmanager
    def question(self) -> Iterator[None]:
        """What runs in this block is the question."""
        self.recording = True
        try:
            yield
        finally:
            self.recording = False

    def _event(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not self.recording or not _ours(frame.f_code):
            return
        stack = [frame.f_code]
        above = frame.f_back
        while above is not None:
            if _ours(above.f_code):
                stack.append(above.f_code)
            above = above.f_back
        # Neither modules and classes as they are made, nor what they call meanwhile.
        if all(code.co_flags & inspect.CO_OPTIMIZED for code in stack):
            self._note(stack)

    def _note(self, stack: list[CodeType]) -> None:
        self.functions.add(stack[0])
        if len(stack) > 1:
            self.calls.add((stack[1], stack[0]))
        if len(stack) > len(self.deepest):
            self.deepest = stack
        if _layer(stack[0]) == ENGINES and len(stack) > len(self.to_engine):
            self.to_engine = stack

    def walk(self, name: str) -> Walk:
        """What was heard."""
        order = _layers()
        upward = {
            f"{_layer(start)} -> {_layer(end)}: {_called(start)} calls {_called(end)}"
            for start, end in self.calls
            if _layer(start) in order and _layer(end) in order
            if order.index(_layer(end)) < order.index(_layer(start))
        }
        spine: list[str] = []
        for code in reversed(self.to_engine):
            if _layer(code) in order and spine[-1:] != [_layer(code)]:
                spine.append(_layer(code))
        functions = tuple(sorted(_called(code) for code in self.functions))
        return Walk(name, functions, len(self.deepest), tuple(spine), tuple(sorted(upward)))


def walk(name: str) -> Walk:
    """Ask one of the four questions in this process, which must not have asked before: its caches would be warm."""
    tracer = Tracer()
    with tempfile.TemporaryDirectory() as folder:
        _QUESTIONS[name](tracer, _table(Path(folder) / "views.csv"))
    return tracer.walk(name)


def _table(path: Path) -> Path:
    """Users who read articles a0 (the most read) to a11, as CSV."""
    rows = (f"u{user},a{item}" for user in range(1200) for item in range(12) if user % (item + 1) == 0)
    path.write_text("\n".join(["user_id,article", *rows, ""]), encoding="ascii")
    return path


def _top(tracer: Tracer, table: Path) -> None:
    from podium.cli import main  # noqa: PLC0415 - the other questions must not find modules loaded

    # Quiet, because it is slow under the tracer, and would say that it is still at work.
    sys.argv = ["podium", "top", str(table), "--item=article", "--user=user_id", "--epsilon=1", "--delta=1e-8", "-q"]
    written = io.StringIO()
    with tracer.listening(), contextlib.redirect_stdout(written), tracer.question(), contextlib.suppress(SystemExit):
        main()
    if "a0" not in written.getvalue():
        raise RuntimeError("podium top has not answered")


def _sql(tracer: Tracer, table: Path) -> None:
    budget = podium.Budget(epsilon=3, delta="1e-6", items=200, questions=20)
    statement = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 10"
    ledger = table.with_name("ledger.db")
    with (
        tracer.listening(),
        podium.Curator(table, dataset="views", user="user_id", ledger=ledger, budget=budget) as curator,
        tracer.question(),
    ):
        curator.sql(statement)


def _post(tracer: Tracer, table: Path) -> None:
    from starlette.testclient import TestClient  # noqa: PLC0415 - and a library that the others do without

    from podium.service.app import create_app  # noqa: PLC0415
    from podium.service.settings import read  # noqa: PLC0415

    budget = {"epsilon": 3, "delta": "1e-6", "items": 200, "questions": 20}
    views = {"source": table.name, "user": "user_id", "budget": budget}
    settings = read({"ledger": "ledger.db", "datasets": {"views": views}}, folder=table.parent, environment={})
    app = create_app(settings)
    with tracer.listening(), TestClient(app) as client:
        secret, _ = app.state.service.tokens.create("ana", role="analyst", datasets=["*"], days=1)
        headers = {"Authorization": f"Bearer {secret}"}
        with tracer.question():
            answer = client.post("/v1/datasets/views/releases", json={"item": "article", "k": 10}, headers=headers)
        answer.raise_for_status()


def _rounds(tracer: Tracer, table: Path) -> None:
    from podium import top  # noqa: PLC0415

    with tracer.listening(), tracer.question():
        top(table, item="article", user="user_id", k=100, epsilon=1, delta="1e-8")


_QUESTIONS: dict[str, Callable[[Tracer, Path], None]] = {"top": _top, "sql": _sql, "post": _post, "rounds": _rounds}


def _ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{PACKAGE}/")


def _layer(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(PACKAGE).parts[0].removesuffix(".py")


def _called(code: CodeType) -> str:
    """The function's file and name; those without a name have a line."""
    name = code.co_qualname
    line = f"{_NAMELESS}{code.co_firstlineno})" if name.endswith(">") else ""
    return f"{Path(code.co_filename).relative_to(PACKAGE).as_posix()}:{name}{line}"


def _layers() -> list[str]:
    settings = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    layers: list[str] = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return layers


def median_length() -> float:
    """The median length in lines of the package's functions, without their docstrings."""
    return statistics.median(
        _length(node)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def report(walks: list[Walk]) -> str:
    """The table, and the places at which a walk goes back up."""
    lines = ["| walk | functions | of these named | files | deepest | goal |", "|---|---|---|---|---|---|"]
    for one in walks:
        numbers = (len(one.functions), len(one.named), len(one.files), one.deepest)
        lines.append(f"| {WALKS[one.name]} | {' | '.join(map(str, numbers))} | {one.met} |")
    lines += ["", f"Median length of a function: {median_length():g} lines without its docstring."]
    for one in walks:
        again = f"comes back to {', '.join(one.again)}" if one.again else "comes back to no layer"
        lines += ["", f"{WALKS[one.name]}: {' > '.join(one.spine)}; {again}."]
        lines += [f"- {call}" for call in one.upward]
    return "\n".join(lines)


def _in_own_process(name: str) -> Walk:
    """A walk in a process that has asked nothing yet."""
    command = [sys.executable, "-m", "tools.walks", "--only", name]
    found: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603
    listed = {key: tuple(found[key]) for key in ("functions", "spine", "upward")}
    return Walk(found["name"], deepest=found["deepest"], **listed)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.walks", description="What one question calls.")
    parser.add_argument("--list", action="store_true", help="print the functions of each walk")
    parser.add_argument("--only", choices=list(WALKS), help="one walk, in this process, as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.only is not None:
        print(json.dumps(asdict(walk(chosen.only))))
        return
    walks = [_in_own_process(name) for name in WALKS]
    print(report(walks))
    if chosen.list:
        for one in walks:
            print("\n".join(["", WALKS[one.name], *(f"    {function}" for function in one.functions)]))


if __name__ == "__main__":
    main()

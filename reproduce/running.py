"""Runs the cells of studies: in a few processes, remembering every finished cell, so that a run can be taken up again.

A result is kept under a name made from the cell, the source code that computes it and the size of its data files. That
code is the module of the study and all of this package that it imports.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from reproduce import data
from reproduce.study import Cell, Measured, Mode, Result, Study

__all__ = ["NAMES", "Progress", "load", "measure", "modules_of"]

NAMES = (
    "accounting",
    "accuracy",
    "pay_what_you_get",
    "privacy",
    "canonical",
    "zipf",
    "noise",
    "oneshot",
    "gaps",
    "sparse",
    "joint",
    "ranking",
)
"""Modules of this package with a ``STUDY``, in the order of the report."""

Progress = Callable[[str, int, int], None]
"""Told the study whose cell was finished, how many are, and how many there are."""


def load(name: str) -> Study:
    """The study of that name."""
    study: Study = importlib.import_module(f"reproduce.{name}").STUDY
    return study


def compute(cell: Cell) -> Result:
    """The result of a cell; what the other processes run."""
    return load(cell.study).compute(cell.params)


def measure(
    studies: Sequence[Study],
    mode: Mode,
    *,
    cache: Path,
    workers: int = 2,
    progress: Progress = lambda study, done, total: None,
) -> dict[str, Measured]:
    """Every cell of these studies, computed now or remembered."""
    cells = [Cell(study.name, params) for study in studies for params in study.cells(mode)]
    prints = {study.name: _fingerprint(study) for study in studies}
    paths = [cache / f"{cell.study}-{_name(cell, prints[cell.study])}.json" for cell in cells]
    cache.mkdir(parents=True, exist_ok=True)
    todo = [place for place, path in enumerate(paths) if not path.is_file()]
    done = len(cells) - len(todo)
    progress("", done, len(cells))
    for place, result in _computed(cells, todo, workers):
        _write(paths[place], cells[place], result)
        done += 1
        progress(cells[place].study, done, len(cells))
    kept = [json.loads(path.read_text(encoding="utf-8"))["result"] for path in paths]
    results = list(zip(cells, kept, strict=True))
    return {
        study.name: Measured([(cell.params, result) for cell, result in results if cell.study == study.name])
        for study in studies
    }


def _computed(cells: Sequence[Cell], todo: Sequence[int], workers: int) -> Iterator[tuple[int, Result]]:
    if workers == 1 or len(todo) < 2:
        yield from ((place, compute(cells[place])) for place in todo)
        return
    # Fresh processes: nothing of this one's threads or random state goes along.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running = {pool.submit(compute, cells[place]): place for place in todo}
        try:
            for finished in as_completed(running):
                yield running[finished], finished.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _name(cell: Cell, fingerprint: str) -> str:
    text = json.dumps([fingerprint, cell.params], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def modules_of(study: str) -> set[str]:
    """The modules of this package that a study's results depend on: itself, and what it imports, however indirectly."""
    # The records that describe a study and what it found compute nothing.
    found, waiting = {"study"}, [study]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imported(_source(name))
    return found - {"study"}


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            package, _, module = node.module.partition(".")
            if package == __package__:
                yield from [module] if module else [alias.name for alias in node.names]


def _source(module: str) -> str:
    return Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")


def _fingerprint(study: Study) -> str:
    sources = [_source(name).encode() for name in sorted(modules_of(study.name))]
    sizes = [(data.folder() / file).stat().st_size for file in data.files_of(study.data)]
    return hashlib.sha256(b"".join(sources) + json.dumps(sizes).encode()).hexdigest()


def _write(path: Path, cell: Cell, result: Result) -> None:
    """All of it or nothing: a run that is cut off leaves no half-written result."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"study": cell.study, "params": cell.params, "result": result}), encoding="utf-8")
    part.replace(path)

"""``python -m tools.mutants``: apply every mutation, run its tests, report whatever survives."""

from __future__ import annotations

import argparse
import queue
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from tools.mutants.judging import Fate, Verdict, judged, unsound
from tools.mutants.lists import MUTANTS
from tools.mutants.mutant import ROOT, Mutant, Stale
from tools.mutants.trees import Tree, private_copy


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every mutation was killed by its tests."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("only", nargs="*", help="parts of files or changes; without one, all mutations")
    parser.add_argument("--jobs", type=int, default=2, help="how many at the same time (2)")
    chosen = parser.parse_args(arguments)
    mutants = [m for m in MUTANTS if not chosen.only or any(part in m.name for part in chosen.only)]
    started = time.monotonic()
    verdicts: list[Verdict] = []
    for verdict in _judge(mutants, chosen.jobs):
        verdicts.append(verdict)
        print(f"{verdict.fate:<18}  {verdict.mutant.name}" + (f"\n{'':20}{verdict.reason}" if verdict.reason else ""))
    fates = Counter(verdict.fate for verdict in verdicts)
    told = ", ".join(f"{fates[fate]} {fate.lower()}" for fate in Fate if fates[fate])
    print(f"{len(verdicts)} mutations in {time.monotonic() - started:.0f} s: {told or 'none'}")
    return 0 if verdicts and set(fates) == {Fate.KILLED} else 1


def _judge(mutants: Sequence[Mutant], jobs: int) -> Iterable[Verdict]:
    fresh, old = [], []
    for mutant in mutants:
        try:
            mutant.applied((ROOT / mutant.path).read_text(encoding="utf-8"))
            fresh.append(mutant)
        except (Stale, SyntaxError, OSError) as error:
            old.append(Verdict(mutant, Fate.STALE, str(error)))
    yield from old
    with ExitStack() as stack:
        trees: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for _ in range(jobs):
            trees.put(stack.enter_context(private_copy()))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        sound: list[Mutant] = []
        # Tests of one file share what takes long to set up, so they go together.
        shares = [[m for i, m in enumerate(_by_test(fresh)) if i * jobs // len(fresh) == job] for job in range(jobs)]
        for share, troubles in zip(shares, pool.map(lambda share: _troubles(share, trees), shares), strict=True):
            bad = {trouble.mutant for trouble in troubles}
            yield from troubles
            sound += [mutant for mutant in share if mutant not in bad]
        yield from pool.map(lambda mutant: _one(mutant, trees), sound)


def _by_test(mutants: Iterable[Mutant]) -> list[Mutant]:
    return sorted(mutants, key=lambda mutant: mutant.nodes)


def _troubles(share: Sequence[Mutant], trees: queue.SimpleQueue[Tree]) -> list[Verdict]:
    """Which of these cannot be judged, because their tests do not pass as things are."""
    if not share:
        return []
    tree = trees.get()
    try:
        run = tree.run(dict.fromkeys(node for mutant in share for node in mutant.nodes))
    finally:
        trees.put(tree)
    return [trouble for mutant in share if (trouble := unsound(mutant, run)) is not None]


def _one(mutant: Mutant, trees: queue.SimpleQueue[Tree]) -> Verdict:
    tree = trees.get()
    try:
        with tree.mutated(mutant):
            return judged(mutant, tree.run(mutant.nodes, first=len(mutant.nodes) == 1))
    finally:
        trees.put(tree)


if __name__ == "__main__":
    sys.exit(main())

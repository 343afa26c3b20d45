"""How the bench talks to a program: a question as arguments, and the answers as JSON.

PATH K BOUND EPSILON DELTA RUNS on the command line; the last line of the output has a list for each run.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

Program = Callable[[str, int, int, float, float], list[object]]


def main(top: Program) -> None:
    """Answers the question on the command line as often as it says."""
    path, k, bound, epsilon, delta, runs = sys.argv[1:]
    lists, seconds = [], []
    for _ in range(int(runs)):
        start = time.perf_counter()
        lists.append(list(map(str, top(path, int(k), int(bound), float(epsilon), float(delta)))))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"lists": lists, "seconds": seconds}))

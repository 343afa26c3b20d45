"""The work of a bench in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["in_processes"]

Job = TypeVar("Job")
Found = TypeVar("Found")


def in_processes(
    work: Callable[[Job], Found], jobs: Sequence[Job], processes: int, *, ordered: bool = True
) -> Iterator[Found]:
    """What each job finds, in the order of the jobs or as they end; with one process, in this one."""
    if processes == 1 or len(jobs) < 2:
        yield from map(work, jobs)
        return
    # Fresh processes: nothing of this one's threads or random state goes along.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from (pool.imap if ordered else pool.imap_unordered)(work, jobs, chunksize=1)

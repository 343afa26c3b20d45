"""The command line as a process of its own, which ends without taking apart what it has imported."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from podium.cli import main

__all__ = ["run"]


def run() -> None:
    """Run the command line and end the process.

    The interpreter would first return the memory of a hundred thousand objects, one by one, which takes longer than
    reading a small table. What has to happen at the end happens here: callbacks run, and output is written.
    """
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int) or _somebody_needs_the_interpreter():
            raise
        try:
            atexit._run_exitfuncs()  # the callbacks of an ordinary end
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            # A reader that went away: reported as always.
            raise end from None
        os._exit(end.code)


def _somebody_needs_the_interpreter() -> bool:
    """Whether other threads are to be waited for, or a profiler or debugger has yet to report."""
    threads = [one for one in threading.enumerate() if one is not threading.current_thread() and not one.daemon]
    return bool(threads or sys.getprofile() or sys.gettrace() or sys.flags.interactive)

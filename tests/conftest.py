"""What every test shares: a fixed hypothesis profile and the permission to replay randomness."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from xdist.scheduler import LoadScopeScheduling

from podium.randomness.replay import ENABLING_VARIABLE

os.environ[ENABLING_VARIABLE] = "this process releases nothing"
# Where an environment forbids keeping compiled modules, each of the hundreds of Pythons that the tests start would
# compile podium again, and each worker every test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Each of them would also start a thread per core for products of matrices, and so would each worker.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.dont_write_bytecode = False
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A runner in the background ignores Ctrl-C, and so would all that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("PODIUM_HYPOTHESIS_PROFILE", "ci"))

# Hypothesis also tries constants that it finds in whichever modules are loaded by then, so that its cases would
# depend on which tests a worker ran before: a fixed profile means the same cases in every order.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers._local_constants


_WITH_SPARK = ("test_spark", "test_hostile_rows", "test_one_read")


class ByModuleOneSpark(LoadScopeScheduling):  # type: ignore[misc]
    """Tests of a module or class stay together, so their caches do too; all Spark tests share one worker's cluster."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return "spark" if any(name in module for name in _WITH_SPARK) else str(super()._split_scope(nodeid))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Exploring means many cases, also where a test states how few are enough every day."""
    if settings.get_current_profile_name() != "explore":
        return
    for item in items:
        pinned = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
        if pinned is not None:
            more = settings(pinned, max_examples=max(settings().max_examples, pinned.max_examples))
            getattr(item.obj, "__func__", item.obj)._hypothesis_internal_use_settings = more


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not walk through it again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At exit everything is looked at again, or extensions report what they lent as leaked."""
    gc.unfreeze()


def pytest_xdist_make_scheduler(config: Any, log: Any) -> ByModuleOneSpark:
    return ByModuleOneSpark(config, log)

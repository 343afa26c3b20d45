"""The canonical bench compares like with like: its peers have the mechanism's distribution. No time is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bench import canonical
from tests.support.distributions import FALSE_ALARM, p_value

from podium.histogram import Histogram
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK

_COUNTS = np.array([3, 9, 6, 7, 1, 6], dtype=np.int64)


@pytest.mark.parametrize("job", [canonical.numpy_job, canonical.loop_job])
def test_the_peers_have_the_same_distribution(job: Callable[..., Callable[[], Any]]) -> None:
    run = job(_COUNTS, 3, 0.7)
    distribution: Any = CanonicalTopK(3, "0.7").distribution(Histogram(dict(enumerate(_COUNTS.tolist()))))
    assert p_value([run() for _ in range(3000)], distribution) > FALSE_ALARM


def test_a_small_run_reports_every_contestant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "EPSILONS", (0.5,))
    counts = np.arange(60, dtype=np.int64)
    for quick in (False, True):
        (cell,) = canonical.run(counts, 10, quick=quick)
        report = json.loads(json.dumps(cell.as_json()))
        assert set(report["seconds"]) == {"podium", "podium, exponential", "numpy", "loop"}
        assert report["loop_share"] == (0.02 if quick else 1.0)
        assert report["times_faster_than_loop"] > 0

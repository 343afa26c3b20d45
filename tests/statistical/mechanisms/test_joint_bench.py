"""The joint bench compares like with like: its peer has the distribution of the mechanism. No assertion on a time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from bench import joint
from tests.support.distributions import FALSE_ALARM, p_value

from podium.histogram import Histogram
from podium.mechanisms import JointTopK


@pytest.mark.parametrize("counts", [[3, 9, 6, 7, 1], [4, 4, 2, 2, 2], [5, 5, 5, 5, 5], [1, 8]])
def test_the_peer_has_the_same_distribution(counts: list[int]) -> None:
    job = joint.numpy_job(np.array(counts, dtype=np.int64), 2, 0.7)
    distribution: Any = JointTopK(2, "0.7").distribution(Histogram(dict(enumerate(counts))))
    assert p_value([job() for _ in range(3000)], distribution) > FALSE_ALARM


def test_a_small_run_reports_every_contestant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "CELLS", ((10, 0.5),))
    (cell,) = joint.run(np.arange(60, dtype=np.int64), quick=True)
    report = json.loads(json.dumps(cell.as_json()))
    assert set(report["seconds"]) == set(report["peak_bytes"]) == {"podium", "numpy"}
    assert report["times_faster_than_numpy"] > 0

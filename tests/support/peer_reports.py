"""What the benches beside other authors and libraries leave, in short."""

from __future__ import annotations

from typing import Any

__all__ = ["DISCOVERY", "END_TO_END", "MACHINE", "OPENDP_RECALL"]

MACHINE = {"cpus": 3, "system": "Plan 9", "opendp": None}

DISCOVERY: dict[str, Any] = {
    "machine": MACHINE,
    "settings": {"mode": "quick", "runs": 2, "delta": "1e-05", "bound": 100},
    "summary": [
        {"who": "podium", "missing_mass": 0.1, "recall": 0.6, "podium_better": 0, "podium_worse": 0},
        {"who": "top stable", "missing_mass": 0.2, "recall": 0.3, "podium_better": 1, "podium_worse": 0},
    ],
    "cells": [
        {
            "data": "10% of msweb",
            "k": 100,
            "epsilon": 1.0,
            "behind": -0.1,
            "missing_mass": {"podium": 0.1234, "top stable": 0.2},
            "recall": {"podium": 0.61, "top stable": 0.31},
        }
    ],
}
END_TO_END: dict[str, Any] = {
    "machine": MACHINE,
    "settings": {"mode": "quick", "bounds": [4]},
    "absent": {"Tumult Analytics": "no environment"},
    "cells": [
        {
            "data": "msweb",
            "k": 10,
            "program": "podium",
            "recall": 1.0,
            "error": 0.0,
            "runs": 2,
            "bound": None,
            "seconds": 1.2,
            "lines": 4,
        }
    ],
}
OPENDP_RECALL: dict[str, Any] = {
    "machine": MACHINE,
    "settings": {"mode": "quick", "runs": 5},
    "cells": [
        {
            "data": "msweb",
            "d": 285,
            "k": 30,
            "rho": "1e-4",
            "recall": {"podium": 0.78, "opendp": 0.77},
            "standard_error": {"podium": 0.01, "opendp": 0.02},
            "times_faster_than_opendp": 16.0,
        }
    ],
}

"""What each bench leaves, in short: reports for the tests of the pages."""

from __future__ import annotations

from typing import Any

from bench.known.goals import DEFAULT, HINDSIGHT, SET
from tests.support.peer_reports import DISCOVERY, END_TO_END, MACHINE, OPENDP_RECALL

__all__ = ["CANONICAL", "JOINT", "KNOWN", "MONITOR", "REGIMES", "REPORTS", "SELECTION"]

SELECTION = {
    "machine": MACHINE,
    "settings": {"mode": "quick"},
    "raw": [
        {
            "shape": "zipf",
            "d": 10_000,
            "k": 10,
            "ratio_to_numpy": 2.5,
            "times_faster_than_opendp": 1234.4,
            "memory_multiple": {"podium": 4.0, "numpy": 3.0},
        },
        {
            "shape": "flat",
            "d": 10_000,
            "k": 10,
            "ratio_to_numpy": 0.25,
            "times_faster_than_opendp": None,
            "memory_multiple": {"podium": 1.0, "numpy": 3.0},
        },
    ],
    "goals": [
        {"name": "fast", "wanted": "<= 1", "measured": 0.5, "met": True, "where": "zipf"},
        {"name": "small", "wanted": "<= 4", "measured": 8.96, "met": False, "where": "flat"},
        {"name": "beside OpenDP", "wanted": ">= 1000", "measured": None, "met": None, "where": ""},
    ],
}
CANONICAL = {
    "machine": MACHINE,
    "settings": {"quick": True, "d": 17_770, "k": 1000, "gamma": 0.5},
    "cells": [{"epsilon": 1.0, "times_faster_than_numpy": 40, "times_faster_than_loop": 900, "loop_share": 0.02}],
    "goals": [],
}
JOINT = {
    "machine": MACHINE,
    "settings": {"quick": False},
    "cells": [{"k": 10, "epsilon": 1.0, "times_faster_than_numpy": 7.5, "seconds": {"podium": [0.3, 0.1, 0.2]}}],
}
LIMITED_DOMAIN = {"machine": MACHINE, "rows": [{"k_bar": 100, "release": 0.003, "race": 0.002, "overhead": 0.001}]}
ENGINES = {
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 10},
    "cells": [
        {
            "engine": "DuckDB",
            "question": "podium.top",
            "rows": 50_000_000,
            "ratio": 1.05,
            "processor_ratio": None,
            "shared_items": 9,
        },
        {
            "engine": "Spark",
            "question": "podium.top, k=1000",
            "k": 1000,
            "rows": 2_000_000,
            "ratio": 2.5,
            "processor_ratio": None,
            "shared_items": 978,
            "scans": 1.0,
        },
    ],
    "memory": [{"route": "top rows", "items": 100_000, "peak_bytes": 2048}],
    "absent": {"Spark": "there is no Java"},
    "goals": [],
}


GROUPS = {
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 10, "countries": 50, "users": 1000, "epsilon": 0.5, "runs": 3},
    "cells": [
        {
            "mechanism": "adaptive",
            "way": "alone, alike",
            "together": 0.75,
            "alone": 0.5,
            "difference": 0.25,
            "error": 0.125,
            "lists": 1150,
        }
    ],
    "goals": [],
}


def utility_cell(data: str, podium: float, other: float) -> dict[str, Any]:
    columns = {"Laplace threshold": {"recall": {"mean": other}}}
    return {
        "data": data,
        "epsilon": 1.0,
        "k": 10,
        "podium": {"mean": podium},
        "columns": columns,
        "lead": podium - other,
    }


UTILITY = {
    "machine": MACHINE,
    "settings": {"mode": "full", "delta": "1e-6"},
    "cells": [utility_cell("msweb", 1.0, 0.5), utility_cell("steam", 0.5, 0.25)],
    "absent": ["retail"],
    "goals": [],
}
GROUP = {
    "cells": 5,
    "hindsight": 0.5,
    "best": 0.4,
    "before": 0.2,
    "rounds": 0.1,
    "default": 0.3,
    "short": 2,
    "short_before": 3,
}
REGIMES = {
    "bench": "utility_regimes",
    "machine": MACHINE,
    "settings": {"mode": "full", "delta": "1e-6"},
    "rows": {"subsamples": GROUP},
    "by_k": {"10": GROUP},
    "short": [{"cell": "1% of msweb, k=3", "branch": "rounds", "default": 0.1, "best": 0.2, "contestant": "x D=1"}],
    "goals": [],
}
SAME_CELLS = {
    "bench": "utility_rule",
    "machine": MACHINE,
    "settings": {"mode": "full"},
    "rows": {
        "subsamples": {
            "cells": 1540,
            "default before": 0.25,
            "rounds": 0.5,
            "first rule": 0.625,
            "default": 0.75,
            "ahead": 0.125,
            "error": 0.0625,
        }
    },
    "published": {"subsamples": {"cells": 555, "default before": 0.375, "rounds": 0.25, "first rule": 0.125}},
    "goals": [{"name": "ahead", "wanted": ">= 0", "measured": 0.125, "met": True, "where": "±0.0625"}],
}
ORDER = {
    "bench": "known_order",
    "machine": MACHINE,
    "settings": {"mode": "full", "k": 1000},
    "rows": [
        {"way": "1/50", "recall": 0.5, "first half": 1, "first tenth": 0.25, "first hundredth": 0.125, "tau": 0.375}
    ],
}
WHO = (*HINDSIGHT, DEFAULT, SET)
STATED = {
    "bench": "known_rounds",
    "machine": MACHINE,
    "settings": {"mode": "quick"},
    "cells": [{"users": 2000, "each": 3, "size": 4096, "k": 100, "recall": {"default": {"mean": 0.75, "error": 0.01}}}],
    "goals": [{"name": "stated", "wanted": ">= -0.01", "measured": -0.002, "met": True, "where": "users 2,000"}],
}
KNOWN = {
    "machine": MACHINE,
    "settings": {"mode": "quick", "epsilons": ["0.1", "1"]},
    "cells": [
        {
            "data": "PATENT",
            "held_out": False,
            "at_cliff": False,
            "delta": "0",
            "k": 10,
            "epsilon": epsilon,
            "recall": dict.fromkeys(WHO, mean),
            "minus_best": {DEFAULT: -0.1, SET: -0.2},
        }
        for epsilon, mean in (("0.1", 0.25), ("1", 0.75))
    ]
    + [{"held_out": True, "at_cliff": False, "delta": "0", "k": 10, "epsilon": "1", "recall": {}}],
    "goals": [
        {
            "group": "SL",
            "delta": "0",
            "k": 10,
            "who": who,
            "cells": 12,
            "worst": -0.1,
            "where": "PATENT epsilon=0.1",
            "mean": -0.01,
            "failing": 3,
            "met": False,
        }
        for who in (DEFAULT, SET)
    ],
}
MEASURES = {
    "machine": MACHINE,
    "settings": {"quick": False, "k": 20, "delta": "1e-6"},
    "losses": {"unknown, chosen": {"mean": 0.25, "90 %": 1.5, "worst": 7.5}},
    "cells": [{"world": "steam", "domain": "known", "epsilon": "1", "best": 0.875, "shares": {"chosen": 0.75}}],
    "goals": [],
}
MONITOR = {
    "machine": MACHINE,
    "settings": {"mode": "full", "runs": 2, "k": 10, "epsilon": "1", "delta": "1e-6"},
    "cells": [{"stream": "30 days", "strategy": "TopKMonitor", "recall": 0.9, "worst": 0.5, "last": 0.8, "left": 0.01}],
}
LEDGER = {
    "machine": MACHINE,
    "settings": {"quick": False},
    "totals": [
        {
            "ledger": "9 selections",
            "delta": "1e-6",
            "zcdp": 2.5,
            "gaussian": 2.25,
            "adaptive": None,
            "nonadaptive": 2.0,
            "limit": 2.125,
        }
    ],
    "questions": [{"epsilon": 1, "delta": "1e-6", "size": "0.05", "zcdp": 1000, "gaussian": 1125}],
    "attack": [{"rule": "what is free", "proved": False, "small": 0.5, "large": -0.25}],
    "controls": [{"control": "cancelled", "left_out": 1.125, "kept": None}],
    "goals": [],
}
STARTUP = {
    "machine": MACHINE,
    "settings": {"quick": False, "lines": 1000},
    "cells": [{"what": "podium --help", "processor_seconds": 0.25, "ratio": 12.5}],
    "goals": [],
}
REPORTS: dict[str, dict[str, Any]] = {
    "selection": SELECTION,
    "canonical": CANONICAL,
    "joint": JOINT,
    "ledger": LEDGER,
    "limited_domain": LIMITED_DOMAIN,
    "engines": ENGINES,
    "groups": GROUPS,
    "utility": UTILITY,
    "utility_regimes": REGIMES,
    "utility_rule": SAME_CELLS,
    "known": KNOWN,
    "known_rounds": STATED,
    "known_order": ORDER,
    "measures": MEASURES,
    "opendp_recall": OPENDP_RECALL,
    "discovery": DISCOVERY,
    "end_to_end": END_TO_END,
    "monitor": MONITOR,
    "startup": STARTUP,
}

"""Mechanisms: each a frozen description with its sampler, its exact distribution and its cost."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.mechanisms.base import Mechanism
    from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
    from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
    from podium.mechanisms.fixed_threshold import FixedThreshold
    from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
    from podium.mechanisms.gaussian.set_union import SetUnionThenTopK, TwoReadings
    from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
    from podium.mechanisms.joint.joint_topk import JointTopK
    from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
    from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet
    from podium.mechanisms.limited_domain.private_k_bar import PrivateKBar
    from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
    from podium.mechanisms.oneshot import OneshotLaplace
    from podium.mechanisms.rising import RisingTopK
    from podium.mechanisms.sparse_vector.hybrid import HybridTopK
    from podium.mechanisms.sparse_vector.technique import SparseVector
    from podium.mechanisms.tested import TestedTopK
    from podium.mechanisms.weights import Weights

__all__ = [
    "AdaptiveTopK",
    "CanonicalTopK",
    "ExponentialTopK",
    "ExponentialWithGap",
    "FixedThreshold",
    "GaussianSparseHistogram",
    "HybridTopK",
    "JointTopK",
    "LimitedDomain",
    "Mechanism",
    "NoisyTopK",
    "OneshotLaplace",
    "PayWhatYouGet",
    "PermuteAndFlip",
    "PrivateKBar",
    "RisingTopK",
    "SetUnionThenTopK",
    "SparseVector",
    "TestedTopK",
    "TwoReadings",
    "Weights",
]

_HOMES = {
    "AdaptiveTopK": "podium.mechanisms.gaussian.adaptive",
    "CanonicalTopK": "podium.mechanisms.canonical.canonical_topk",
    "ExponentialTopK": "podium.mechanisms.exponential",
    "ExponentialWithGap": "podium.mechanisms.exponential",
    "FixedThreshold": "podium.mechanisms.fixed_threshold",
    "GaussianSparseHistogram": "podium.mechanisms.gaussian.sparse_histogram",
    "HybridTopK": "podium.mechanisms.sparse_vector.hybrid",
    "JointTopK": "podium.mechanisms.joint.joint_topk",
    "LimitedDomain": "podium.mechanisms.limited_domain.limited_domain",
    "Mechanism": "podium.mechanisms.base",
    "NoisyTopK": "podium.mechanisms.noisy",
    "OneshotLaplace": "podium.mechanisms.oneshot",
    "PayWhatYouGet": "podium.mechanisms.limited_domain.pay_what_you_get",
    "PermuteAndFlip": "podium.mechanisms.noisy",
    "PrivateKBar": "podium.mechanisms.limited_domain.private_k_bar",
    "RisingTopK": "podium.mechanisms.rising",
    "SetUnionThenTopK": "podium.mechanisms.gaussian.set_union",
    "SparseVector": "podium.mechanisms.sparse_vector.technique",
    "TestedTopK": "podium.mechanisms.tested",
    "TwoReadings": "podium.mechanisms.gaussian.set_union",
    "Weights": "podium.mechanisms.weights",
}


def __getattr__(name: str) -> object:
    """Import a mechanism on first use: a question needs one or two of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
